#include "models/scoring/pair_scorer.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "models/scoring/cost_tiles.hpp"
#include "models/scoring/cpu_co_runner_search.hpp"
#include "sim/base/parallel_for.hpp"

namespace corun::inline models {

namespace {

/// If there are fewer kinds than jobs, and at most this many kinds, all pairs of kinds are predicted
/// beforehand.
constexpr std::size_t kMostKinds = 4096;

/// Does the source's work that is done once.
void prepare(SpeedSource* source, int threads) {
  if (source == nullptr) return;
  parallel_for_with<SpeedSource::Scratch>(
      source->parts(), threads,
      [&](std::size_t part, SpeedSource::Scratch& scratch) { source->prepare(part, scratch); });
}

}  // namespace

PairScorer::PairScorer(const InterferenceModel& model, std::span<const PairJob> kinds,
                       std::span<const std::uint32_t> kind_of, std::span<const double> solo_s,
                       ScoringOptions options)
    : model_(model),
      kinds_(kinds.begin(), kinds.end()),
      kind_of_(kind_of.begin(), kind_of.end()),
      solo_(solo_s),
      options_(std::move(options)) {
  if (solo_s.size() != kind_of.size() ||
      kind_of.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("as many solo times as jobs are wanted, fewer than 2^32 - 1");
  }
  for (const std::uint32_t kind : kind_of_) {
    if (kind >= kinds_.size()) throw std::invalid_argument("a job is of a kind that is not there");
  }
  formula_ = model_.formula(kinds_, kind_of_);
  const bool is_short = formula_ && formula_->is_short();
  if (!is_short && kinds_.size() < kind_of_.size() && kinds_.size() <= kMostKinds) tabulate_kinds();
}

/// Predicts every pair of kinds once: there are more jobs than kinds.
void PairScorer::tabulate_kinds() {
  formula_ = std::make_shared<PairFormula>(PairFormula{table_of(kinds_, kind_of_)});
}

/// The predictions for every pair of `kinds`, and the jobs of these kinds.
KindTableJobs PairScorer::table_of(std::span<const PairJob> kinds,
                                   std::span<const std::uint32_t> kind_of) const {
  std::vector<std::uint32_t> each(kinds.size());
  std::iota(each.begin(), each.end(), 0U);
  const std::vector<double> solo(each.size(), 1.0);
  const Matrix all = PairScorer(model_, kinds, each, solo, options_).all_pairs();
  KindTableJobs table;
  table.kinds = kinds.size();
  table.rule = model_.groups().rule();
  table.kind.assign(kind_of.begin(), kind_of.end());
  for (std::size_t at = 0; at < all.speed.size(); ++at) table.add(all.speed[at], all.sd[at]);
  return table;
}

const Kernels& PairScorer::kernels() const {
  return options_.kernels != nullptr ? *options_.kernels : best_kernels();
}

/// nullptr for a short formula.
std::unique_ptr<SpeedSource> PairScorer::source() const {
  if (!formula_) return speed_source(model_, kinds_, kind_of_);
  return std::visit(
      [&]<class Jobs>(Jobs& jobs) -> std::unique_ptr<SpeedSource> {
        if constexpr (ShortFormula<Jobs>) {
          return nullptr;
        } else {
          return speed_source(jobs, kernels());
        }
      },
      formula_->jobs);
}

void PairScorer::ran_on_cpu() const {
  ran_on_ = std::string("cpu, ") + kernels().name + ", " + std::to_string(options_.threads) +
            (options_.threads == 1 ? " thread" : " threads");
}

std::vector<CoRunner> PairScorer::top_on_cpu(const CostRule& rule, const Search& search) const {
  const std::unique_ptr<SpeedSource> source = this->source();
  prepare(source.get(), options_.threads);
  const CostTiles costs{
      formula_.get(), source.get(), {solo_.seconds.data(), solo_.inverse.data()}, rule, kernels()};
  CpuCoRunnerSearch co_runners(costs, size(), search.k, search.prices, options_.threads);
  std::vector<CoRunner> out = search.rows ? co_runners.of(*search.rows) : co_runners.of_all();
  ran_on_cpu();
  return out;
}

double PairScorer::tile_seconds(const CostRule& rule, std::size_t jobs) const {
  const std::unique_ptr<SpeedSource> source = this->source();
  const CostTiles costs{
      formula_.get(), source.get(), {solo_.seconds.data(), solo_.inverse.data()}, rule, kernels()};
  CostTiles::Scratch scratch;
  const auto started = std::chrono::steady_clock::now();
  if (source && source->parts() > 0) source->prepare(0, scratch.source);
  costs({0, jobs, 0, jobs}, scratch);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  return took.count();
}

const GpuScorer* PairScorer::gpu_for_batch(const CostRule& rule) const {
  const GpuScorer* const gpu = options_.device ? options_.device->gpu() : nullptr;
  if (gpu == nullptr || !formula_ || size() == 0) return nullptr;
  if (options_.device->wish() == DeviceWish::kCuda) return gpu;
  // The processor's time is extrapolated from a measured part. Results do not depend on the choice.
  const std::size_t part = std::min(size(), SpeedSource::kLeastPart);
  const double parts = static_cast<double>(size()) / static_cast<double>(part);
  const double alone = tile_seconds(rule, part) * parts * parts / std::max(1, options_.threads);
  return alone > options_.device->batch_overhead_s() ? gpu : nullptr;
}

std::vector<CoRunner> PairScorer::top_co_runners(const CostRule& rule, const Search& search) const {
  const std::size_t n = size();
  if (!search.prices.empty() && search.prices.size() != n) {
    throw std::invalid_argument("as many prices as jobs are wanted, or none");
  }
  Search wanted = search;
  wanted.k = n == 0 ? 0 : std::min(search.k, n - 1);
  if (wanted.k == 0) return {};
  if (const GpuScorer* const gpu = search.rows ? nullptr : gpu_for_batch(rule);
      gpu != nullptr && wanted.k <= gpu->most_co_runners()) {
    try {
      std::vector<CoRunner> out =
          gpu->top_co_runners(*formula_, solo_, rule, wanted.k, wanted.prices, options_.gpu);
      ran_on_ = "cuda, " + options_.device->gpu_name();
      return out;
    } catch (const DeviceError& error) {
      options_.device->failed(error);
    }
  }
  return top_on_cpu(rule, wanted);
}

PairScorer::Matrix PairScorer::all_on_cpu() const {
  const std::size_t n = size();
  Matrix out{std::vector<double>(n * n), std::vector<double>(n * n)};
  const std::unique_ptr<SpeedSource> source = this->source();
  const auto fill = [&](const PairTile& tile, SpeedSource::Scratch& scratch) {
    double* const speed = out.speed.data() + tile.i0 * n;
    double* const sd = out.sd.data() + tile.i0 * n;
    if (source) return source->speeds(tile, scratch, speed, sd);
    std::visit(
        [&]<class Jobs>(const Jobs& jobs) {
          if constexpr (ShortFormula<Jobs>) {
            kernels().of<Jobs>().speeds(view_of(jobs), tile, speed, sd);
          }
        },
        formula_->jobs);
  };
  prepare(source.get(), options_.threads);
  constexpr std::size_t kRows = 16;
  parallel_for_with<SpeedSource::Scratch>(
      (n + kRows - 1) / kRows, options_.threads,
      [&](std::size_t at, SpeedSource::Scratch& scratch) {
        fill({at * kRows, std::min(n, (at + 1) * kRows), 0, n}, scratch);
      });
  ran_on_cpu();
  return out;
}

PairScorer::Matrix PairScorer::all_pairs() const {
  if (const GpuScorer* const gpu = gpu_for_batch({}); gpu != nullptr) {
    try {
      Matrix out{std::vector<double>(size() * size()), std::vector<double>(size() * size())};
      gpu->all_pairs(*formula_, options_.gpu, out.speed, out.sd);
      ran_on_ = "cuda, " + options_.device->gpu_name();
      return out;
    } catch (const DeviceError& error) {
      options_.device->failed(error);
    }
  }
  return all_on_cpu();
}

/// The formula for sets of residents: a short formula, or a table of all pairs of kinds if the sets are many
/// and the kinds few; else nullptr. nullptr, too, for a model that knows how far jobs saturate the GPU.
std::shared_ptr<PairFormula> PairScorer::co_runner_norm(
    std::span<const std::uint32_t> members) const {
  if (!model_.groups().saturations.jobs.empty()) return nullptr;  // no formula has them
  if (formula_ && formula_->is_short()) return formula_;
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  constexpr std::size_t kPairsPerMember = 1024;  // a set predicted by itself costs about as much
  std::vector<std::uint32_t> place(kinds_.size(), kNone);
  std::vector<PairJob> kinds;
  for (const std::uint32_t m : members) {
    if (place[kind_of_[m]] != kNone) continue;
    place[kind_of_[m]] = static_cast<std::uint32_t>(kinds.size());
    kinds.push_back(kinds_[kind_of_[m]]);
  }
  if (kinds.size() > kMostKinds || kinds.size() * kinds.size() > kPairsPerMember * members.size()) {
    return nullptr;
  }
  std::vector<std::uint32_t> kind_of(kind_of_.size(), 0);  // any kind will do for jobs in no set
  for (const std::uint32_t m : members) kind_of[m] = place[kind_of_[m]];
  return std::make_shared<PairFormula>(PairFormula{table_of(kinds, kind_of)});
}

std::vector<double> PairScorer::co_runner_speeds(std::span<const std::uint32_t> members,
                                                 std::span<const std::size_t> first) const {
  std::vector<double> out(members.size());
  if (first.size() < 2 || members.empty()) return out;
  const std::shared_ptr<PairFormula> formula = co_runner_norm(members);
  const auto work_out = [&](std::size_t set, std::vector<PairJob>& residents) {
    const std::size_t from = first[set];
    const std::size_t count = first[set + 1] - from;
    const auto* const table = formula ? std::get_if<KindTableJobs>(&formula->jobs) : nullptr;
    if (table != nullptr) {
      const KindTableView view = view_of(*table);
      for (std::size_t resident = 0; resident < count; ++resident) {
        out[from + resident] = view.with_co_runners(members.data() + from, count, resident);
      }
      return;
    }
    residents.clear();
    for (std::size_t m = from; m < from + count; ++m) {
      residents.push_back(kinds_[kind_of_[members[m]]]);
    }
    model_.speeds(residents, {out.data() + from, count});
  };
  const std::size_t sets = first.size() - 1;
  const GpuScorer* gpu = options_.device ? options_.device->gpu() : nullptr;
  if (gpu != nullptr && (!formula || !gpu->knows_co_runners(*formula))) gpu = nullptr;
  if (gpu != nullptr && options_.device->wish() == DeviceWish::kAuto) {
    // As in gpu_for_batch(), extrapolated from the first sets.
    const std::size_t part = std::min<std::size_t>(sets, 32);
    std::vector<PairJob> residents;
    const auto started = std::chrono::steady_clock::now();
    for (std::size_t set = 0; set < part; ++set) work_out(set, residents);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    const double alone = took.count() * static_cast<double>(sets) / static_cast<double>(part) /
                         std::max(1, options_.threads);
    if (alone <= options_.device->batch_overhead_s()) gpu = nullptr;
  }
  if (gpu != nullptr) {
    try {
      gpu->co_runner_speeds(*formula, members, first, out);
      ran_on_ = "cuda, " + options_.device->gpu_name();
      return out;
    } catch (const DeviceError& error) {
      options_.device->failed(error);
    }
  }
  parallel_for_with<std::vector<PairJob>>(sets, options_.threads, work_out);
  ran_on_cpu();
  return out;
}

}  // namespace corun::inline models
