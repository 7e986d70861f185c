#include "policies/elastic/pollux_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "sim/base/math.hpp"

namespace corun::inline policies {

namespace {

/// A matrix of GPUs by job and node, and what each job adds to the fitness.
struct Matrix {
  std::vector<std::uint16_t> cells;  ///< row by row, a job each
  std::vector<std::uint16_t> spans;  ///< nodes of each job
  std::vector<double> terms;         ///< by job
  double sum = 0;                    ///< of the terms; more is better
};

}  // namespace

struct PolluxSearch::Pass {
  const PolluxOptions& options;
  std::span<const PolluxJob> jobs;
  std::span<const std::uint16_t> gpus;
  Rng rng;
  std::vector<std::unordered_map<std::uint64_t, double>> speedups;  ///< by job, nodes and GPUs
  std::vector<std::uint16_t> held;                                  ///< the matrix of present GPUs
  // Of the matrix at hand.
  std::vector<bool> changed;
  std::vector<std::uint32_t> some_jobs;
  std::vector<std::uint32_t> used;

  std::size_t nodes() const { return gpus.size(); }

  std::uint32_t draw(std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); }

  double speedup(std::uint32_t job, GpuSpread spread) {
    const std::uint64_t key = std::uint64_t{spread.nodes} << 32 | spread.gpus;
    const auto [at, fresh] = speedups[job].try_emplace(key, 0.0);
    if (fresh) at->second = jobs[job].speedup(spread);
    return at->second;
  }

  /// What a speedup adds to a sum that is to be maximised.
  double term(double speedup) const {
    const double logarithm = math::log(std::max(speedup, options.least_speedup));
    if (options.p == 0) return logarithm;
    const double power = math::exp(options.p * logarithm);
    return options.p > 0 ? power : -power;
  }

  double fitness(double sum) const {
    const double mean = sum / static_cast<double>(jobs.size());
    if (options.p == 0) return math::exp(mean);
    return math::exp(math::log(std::abs(mean)) / options.p);
  }

  std::uint16_t* row(Matrix& m, std::uint32_t job) const { return &m.cells[job * nodes()]; }

  void count(Matrix& m, std::uint32_t job) {
    const std::uint16_t* cells = row(m, job);
    GpuSpread spread{.nodes = 0, .gpus = 0};
    for (std::size_t n = 0; n < nodes(); ++n) {
      spread.nodes += cells[n] > 0 ? 1 : 0;
      spread.gpus += cells[n];
    }
    m.spans[job] = static_cast<std::uint16_t>(spread.nodes);
    double value = spread.gpus == 0 ? 0 : speedup(job, spread);
    if (!std::equal(cells, cells + nodes(), &held[job * nodes()]))
      value *= jobs[job].restart_factor;
    m.terms[job] = term(value);
  }

  void set(Matrix& m, std::uint32_t job, std::size_t node, std::uint32_t value) {
    std::uint16_t& cell = row(m, job)[node];
    cell = static_cast<std::uint16_t>(value);
    changed[job] = true;
  }

  void mutate(Matrix& m) {
    do {
      const std::uint32_t job = draw(jobs.size());
      const std::size_t node = draw(nodes());
      const bool whole = draw(2) == 0;
      if (whole) std::fill_n(row(m, job), nodes(), std::uint16_t{0});
      if (whole && jobs[job].least_gpus > 1) {
        fill(m, job, node);
        continue;
      }
      set(m, job, node, draw(most_of(job, node) + 1U));
    } while (draw(2) == 0);
  }

  std::uint32_t most_of(std::uint32_t job, std::size_t node) const {
    const auto& most = jobs[job].most_on_node;
    return most.empty() ? gpus[node] : most[node];
  }

  /// Gives a job the least number of GPUs that is of use to it, from this node on.
  void fill(Matrix& m, std::uint32_t job, std::size_t first) {
    std::uint32_t left = jobs[job].least_gpus;
    for (std::size_t i = 0; i < nodes() && left > 0; ++i) {
      const std::size_t node = (first + i) % nodes();
      const std::uint32_t taken = std::min(left, most_of(job, node));
      set(m, job, node, taken);
      left -= taken;
    }
  }

  void recount_spans(Matrix& m) {
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      if (!changed[job]) continue;
      const std::uint16_t* cells = row(m, job);
      m.spans[job] = static_cast<std::uint16_t>(
          std::count_if(cells, cells + nodes(), [](auto cell) { return cell > 0; }));
    }
  }

  /// Leaves each node to one of the jobs that span nodes there.
  void separate(Matrix& m) {
    std::vector<std::uint32_t>& spanning = some_jobs;
    spanning.clear();
    for (std::uint32_t job = 0; job < jobs.size(); ++job)
      if (m.spans[job] > 1) spanning.push_back(job);
    if (spanning.size() < 2) return;
    rng.shuffle(std::span(spanning));
    for (std::size_t node = 0; node < nodes(); ++node) {
      bool taken = false;
      for (const std::uint32_t job : spanning) {
        if (row(m, job)[node] == 0) continue;
        if (taken) set(m, job, node, 0);
        taken = true;
      }
    }
  }

  void limit_jobs(Matrix& m) {
    for (std::uint32_t job = 0; job < jobs.size(); ++job) {
      if (!changed[job]) continue;
      const std::uint16_t* cells = row(m, job);
      std::uint32_t total = std::accumulate(cells, cells + nodes(), 0U);
      while (total > jobs[job].most_gpus) {
        const std::size_t node = draw(nodes());
        const std::uint32_t fewer =
            std::min<std::uint32_t>(cells[node], total - jobs[job].most_gpus);
        if (fewer > 0) set(m, job, node, cells[node] - fewer);
        total -= fewer;
      }
    }
  }

  void limit_nodes(Matrix& m) {
    std::ranges::fill(used, 0U);
    for (std::size_t i = 0; i < m.cells.size(); i += nodes())
      for (std::size_t node = 0; node < nodes(); ++node) used[node] += m.cells[i + node];
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (used[node] <= gpus[node]) continue;
      std::vector<std::uint32_t>& holders = some_jobs;
      holders.clear();
      for (std::uint32_t job = 0; job < jobs.size(); ++job)
        if (row(m, job)[node] > 0) holders.push_back(job);
      rng.shuffle(std::span(holders));
      for (std::size_t i = 0; used[node] > gpus[node]; ++i) {
        const std::uint32_t cell = row(m, holders[i])[node];
        const std::uint32_t fewer = std::min(cell, used[node] - gpus[node]);
        set(m, holders[i], node, cell - fewer);
        used[node] -= fewer;
      }
    }
  }

  void repair(Matrix& m) {
    recount_spans(m);
    if (options.avoid_interference) separate(m);
    limit_jobs(m);
    limit_nodes(m);
  }

  void evaluate(Matrix& m) {
    for (std::uint32_t job = 0; job < jobs.size(); ++job)
      if (changed[job]) count(m, job);
    m.sum = std::accumulate(m.terms.begin(), m.terms.end(), 0.0);
  }

  Matrix matrix_of(std::vector<std::uint16_t> cells) {
    Matrix m{.cells = std::move(cells),
             .spans = std::vector<std::uint16_t>(jobs.size(), 0),
             .terms = std::vector<double>(jobs.size(), 0.0)};
    changed.assign(jobs.size(), true);
    repair(m);
    evaluate(m);
    return m;
  }

  const Matrix& winner(const std::vector<Matrix>& population, std::size_t size) {
    const std::uint32_t a = draw(size);
    const std::uint32_t b = draw(size);
    // Matrices are sorted, the best first.
    return population[std::min(a, b)];
  }

  void breed(const Matrix& a, const Matrix& b, Matrix& child) {
    const auto point = static_cast<std::ptrdiff_t>(draw(jobs.size()));
    const auto width = static_cast<std::ptrdiff_t>(nodes());
    child.cells = a.cells;
    child.spans = a.spans;
    child.terms = a.terms;
    std::copy(b.cells.begin() + point * width, b.cells.end(), child.cells.begin() + point * width);
    std::copy(b.spans.begin() + point, b.spans.end(), child.spans.begin() + point);
    std::copy(b.terms.begin() + point, b.terms.end(), child.terms.begin() + point);
    changed.assign(jobs.size(), false);
    mutate(child);
    repair(child);
    evaluate(child);
  }

  /// The best different ones first, at most `most` of them; those behind are free for offspring.
  std::size_t select(std::vector<Matrix>& matrices, std::size_t count_of, std::size_t most) {
    const auto end = matrices.begin() + static_cast<std::ptrdiff_t>(count_of);
    std::stable_sort(matrices.begin(), end,
                     [](const Matrix& a, const Matrix& b) { return a.sum > b.sum; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_of && kept < most; ++i) {
      bool known = false;
      for (std::size_t k = kept; k-- > 0 && matrices[k].sum == matrices[i].sum && !known;)
        known = matrices[k].cells == matrices[i].cells;
      if (known) continue;
      if (kept != i) std::swap(matrices[kept], matrices[i]);
      ++kept;
    }
    return kept;
  }
};

std::vector<std::vector<std::uint16_t>> PolluxSearch::allocate(
    std::span<const PolluxJob> jobs, std::span<const std::uint16_t> gpus) {
  if (jobs.empty() || gpus.empty()) return std::vector<std::vector<std::uint16_t>>(jobs.size());
  const std::size_t nodes = gpus.size();
  Pass pass{.options = options_,
            .jobs = jobs,
            .gpus = gpus,
            .rng = Rng(seed_, Stream::kRandomPolicy, passes_++),
            .speedups = std::vector<std::unordered_map<std::uint64_t, double>>(jobs.size()),
            .held = std::vector<std::uint16_t>(jobs.size() * nodes, 0),
            .changed = std::vector<bool>(jobs.size(), false),
            .some_jobs = {},
            .used = std::vector<std::uint32_t>(nodes, 0)};
  for (std::size_t j = 0; j < jobs.size(); ++j)
    std::ranges::copy(jobs[j].held, pass.held.begin() + static_cast<std::ptrdiff_t>(j * nodes));

  std::vector<Matrix> matrices;
  matrices.reserve(2 * options_.population);
  matrices.push_back(pass.matrix_of(pass.held));
  std::unordered_map<std::uint64_t, std::size_t> before;
  for (std::size_t k = 0; k < keys_.size(); ++k) before.emplace(keys_[k], k);
  for (const std::vector<std::uint16_t>& survivor : survivors_) {
    if (survivor.size() != keys_.size() * nodes) break;  // other nodes than in the last pass
    std::vector<std::uint16_t> cells(jobs.size() * nodes, 0);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const auto at = before.find(jobs[j].key);
      if (at == before.end()) continue;
      std::copy_n(survivor.begin() + static_cast<std::ptrdiff_t>(at->second * nodes), nodes,
                  cells.begin() + static_cast<std::ptrdiff_t>(j * nodes));
    }
    matrices.push_back(pass.matrix_of(std::move(cells)));
  }
  std::size_t size = pass.select(matrices, matrices.size(), options_.population);
  matrices.resize(2 * std::size_t{options_.population});
  for (std::uint32_t generation = 0; generation < options_.generations; ++generation) {
    const std::size_t children = options_.population;
    for (std::size_t c = 0; c < children; ++c) {
      const Matrix& first = pass.winner(matrices, size);
      const Matrix& second = pass.winner(matrices, size);
      pass.breed(first, second, matrices[size + c]);
    }
    size = pass.select(matrices, size + children, options_.population);
  }

  keys_.clear();
  for (const PolluxJob& job : jobs) keys_.push_back(job.key);
  survivors_.clear();
  for (std::size_t i = 0; i < size; ++i) survivors_.push_back(matrices[i].cells);
  fitness_ = pass.fitness(matrices.front().sum);
  std::vector<std::vector<std::uint16_t>> rows;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto begin = matrices.front().cells.begin() + static_cast<std::ptrdiff_t>(j * nodes);
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(nodes));
  }
  return rows;
}

}  // namespace corun::inline policies
