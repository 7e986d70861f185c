#include "models/scoring/pair_scorer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "models/scoring/math.hpp"
#include "models/scoring/top_lists.hpp"
#include "sim/base/parallel_for.hpp"

namespace corun {

namespace {

/// Jobs in a block of the processor's tiles: costs of a tile stay in the second-level cache.
constexpr std::size_t kBlock = 256;
/// The same where an equation is long: tiles on the diagonal are worked out as a whole, half of it for nothing.
constexpr std::size_t kLongBlock = 64;
/// Up to so many kinds, where jobs share them, all pairs of kinds are worked out beforehand.
constexpr std::size_t kMostKinds = 4096;

/// Both directions of a tile of pairs.
struct SpeedTile {
  std::vector<double> row_speed, row_sd, column_speed, column_sd;
  std::vector<double> turned;  // of the columns' jobs beside the rows', before it is turned

  void fill(const SpeedSource& source, const PairTile& tile, SpeedSource::Scratch& scratch) {
    const std::size_t rows = tile.i1 - tile.i0;
    const std::size_t columns = tile.columns();
    for (auto* numbers : {&row_speed, &row_sd, &column_speed, &column_sd}) {
      numbers->resize(rows * columns);
    }
    turned.resize(2 * rows * columns);
    source.speeds(tile, scratch, row_speed.data(), row_sd.data());
    double* const speed = turned.data();
    double* const sd = turned.data() + rows * columns;
    source.speeds({tile.j0, tile.j1, tile.i0, tile.i1}, scratch, speed, sd);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        column_speed[i * columns + j] = speed[j * rows + i];
        column_sd[i * columns + j] = sd[j * rows + i];
      }
    }
  }
  SpeedTileView view(const PairTile& tile) const {
    return {tile.i0,          tile.j0,       tile.columns(),
            row_speed.data(), row_sd.data(), column_speed.data(),
            column_sd.data()};
  }
};

/// What a thread needs to work out tiles of costs.
struct CostScratch {
  std::vector<double> costs = std::vector<double>(kBlock * kBlock);
  SpeedTile speeds;
  SpeedSource::Scratch source;
};

/// Costs of the pairs i < j of a tile.
struct CostTiles {
  const PairFormula* formula;
  const SpeedSource* source;  ///< where the formula is not a short one
  SoloView solo;
  const CostRule& rule;
  const Lanes& lanes;

  void operator()(const PairTile& tile, CostScratch& scratch) const {
    if (source != nullptr) {
      scratch.speeds.fill(*source, tile, scratch.source);
      lanes.speed_tile.costs(scratch.speeds.view(tile), solo, rule, tile, scratch.costs.data());
      return;
    }
    std::visit(
        [&]<class Jobs>(const Jobs& jobs) {
          if constexpr (ShortFormula<Jobs>) {
            const auto view = jobs.view();
            lanes.of(view).costs(view, solo, rule, tile, scratch.costs.data());
          }
        },
        formula->jobs);
  }
};

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
  const bool is_short = formula_ && (std::holds_alternative<ContentionJobs>(formula_->jobs) ||
                                     std::holds_alternative<KindTableJobs>(formula_->jobs));
  if (!is_short && kinds_.size() < kind_of_.size() && kinds_.size() <= kMostKinds) tabulate_kinds();
}

/// Asks the model once for every pair of kinds: there are more jobs than kinds.
void PairScorer::tabulate_kinds() {
  formula_ = std::make_shared<PairFormula>(PairFormula{table_of(kinds_, kind_of_)});
}

/// What the model says of every pair of `kinds`, for jobs of these.
KindTableJobs PairScorer::table_of(std::span<const PairJob> kinds,
                                   std::span<const std::uint32_t> kind_of) const {
  std::vector<std::uint32_t> each(kinds.size());
  std::iota(each.begin(), each.end(), 0U);
  const std::vector<double> solo(each.size(), 1.0);
  const Matrix all = PairScorer(model_, kinds, each, solo, options_).all_pairs();
  KindTableJobs table;
  table.kinds = kinds.size();
  table.kind.assign(kind_of.begin(), kind_of.end());
  for (std::size_t at = 0; at < all.speed.size(); ++at) table.add(all.speed[at], all.sd[at]);
  return table;
}

const Lanes& PairScorer::lanes() const {
  return options_.lanes != nullptr ? *options_.lanes : best_lanes();
}

/// nullptr: the formula is a short one.
std::unique_ptr<SpeedSource> PairScorer::source() const {
  if (!formula_) return speed_source(model_, kinds_, kind_of_);
  return std::visit(
      [&]<class Jobs>(Jobs& jobs) -> std::unique_ptr<SpeedSource> {
        if constexpr (ShortFormula<Jobs>) {
          return nullptr;
        } else {
          return speed_source(jobs, lanes());
        }
      },
      formula_->jobs);
}

void PairScorer::ran_on_cpu() const {
  ran_on_ = std::string("cpu, ") + lanes().name + ", " + std::to_string(options_.threads) +
            (options_.threads == 1 ? " thread" : " threads");
}

std::vector<Partner> PairScorer::top_on_cpu(const CostRule& rule, const Search& search) const {
  const std::size_t n = size();
  const std::unique_ptr<SpeedSource> source = this->source();
  const std::size_t block_size = source ? kLongBlock : kBlock;
  const std::size_t blocks = (n + block_size - 1) / block_size;
  TopLists lists(n, search.k);
  const TopListsView view = lists.view();
  struct Owned {
    std::mutex guard;
    bool is_clear = false;
  };
  std::vector<Owned> owned(blocks);  // of a block's lists
  if (source) {
    parallel_for_with<SpeedSource::Scratch>(
        source->parts(), options_.threads,
        [&](std::size_t part, SpeedSource::Scratch& scratch) { source->prepare(part, scratch); });
  }
  const CostTiles costs{
      formula_.get(), source.get(), {solo_.seconds.data(), solo_.inverse.data()}, rule, lanes()};
  const std::vector<double> no_prices(search.prices.empty() ? n : 0, 0.0);
  const double* const prices = search.prices.empty() ? no_prices.data() : search.prices.data();
  const auto block = [&](std::size_t b) {
    return std::pair(b * block_size, std::min(n, (b + 1) * block_size));
  };

  const auto offer = [&](const PairTile& tile, CostScratch& scratch) {
    for (std::size_t i = tile.i0; i < tile.i1; ++i) {
      const std::size_t from = std::max(i + 1, tile.j0);
      if (from >= tile.j1) continue;
      const double* const row =
          scratch.costs.data() + (i - tile.i0) * tile.columns() + (from - tile.j0);
      costs.lanes.offer(row, i, from, tile.j1 - from, prices, view);
    }
  };
  const auto own = [&](std::size_t b) {
    std::unique_lock lock(owned[b].guard);
    const auto [from, to] = block(b);
    if (!std::exchange(owned[b].is_clear, true)) lists.clear(from, to);
    return lock;
  };
  // Every pair once, for both of its jobs: tiles on and above the diagonal, diagonal by diagonal, so
  // that tiles under way at the same time seldom want the same lists.
  const auto look_at_all = [&] {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> tiles;
    tiles.reserve(blocks * (blocks + 1) / 2);
    for (std::size_t apart = 0; apart < blocks; ++apart) {
      for (std::size_t row = 0; row + apart < blocks; ++row) {
        tiles.emplace_back(static_cast<std::uint32_t>(row),
                           static_cast<std::uint32_t>(row + apart));
      }
    }
    parallel_for_with<CostScratch>(tiles.size(), options_.threads,
                                   [&](std::size_t at, CostScratch& scratch) {
                                     const auto [row, column] = tiles[at];
                                     const auto [i0, i1] = block(row);
                                     const auto [j0, j1] = block(column);
                                     const PairTile tile{i0, i1, j0, j1};
                                     costs(tile, scratch);
                                     const std::unique_lock first = own(row);
                                     std::unique_lock<std::mutex> second;
                                     if (column != row) second = own(column);
                                     offer(tile, scratch);
                                   });
  };
  // A row beside those behind it is a tile of one row; beside those before it, of one column, since a
  // pair's cost is asked for in one order only.
  const auto look_at = [&](std::size_t i, CostScratch& scratch) {
    lists.clear(i, i + 1);
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto [from, to] = block(b);
      const std::size_t before = std::min(to, i);
      if (from < before) {
        costs({from, before, i, i + 1}, scratch);
        for (std::size_t j = from; j < before; ++j) {
          view.offer(i, scratch.costs[j - from] - prices[j], static_cast<std::uint32_t>(j));
        }
      }
      const std::size_t behind = std::max(from, i + 1);
      if (behind < to) {
        costs({i, i + 1, behind, to}, scratch);
        for (std::size_t j = behind; j < to; ++j) {
          view.offer(i, scratch.costs[j - behind] - prices[j], static_cast<std::uint32_t>(j));
        }
      }
    }
  };

  std::vector<Partner> out;
  if (search.rows) {
    std::vector<std::uint32_t> each(search.rows->begin(), search.rows->end());
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
    parallel_for_with<CostScratch>(
        each.size(), options_.threads,
        [&](std::size_t at, CostScratch& scratch) { look_at(each[at], scratch); });
    out.reserve(search.rows->size() * search.k);
    for (const std::uint32_t row : *search.rows) lists.take(row, out);
  } else {
    look_at_all();
    out.reserve(n * search.k);
    for (std::size_t i = 0; i < n; ++i) lists.take(i, out);
  }
  ran_on_cpu();
  return out;
}

double PairScorer::tile_seconds(const CostRule& rule, std::size_t jobs) const {
  const std::unique_ptr<SpeedSource> source = this->source();
  const CostTiles costs{
      formula_.get(), source.get(), {solo_.seconds.data(), solo_.inverse.data()}, rule, lanes()};
  CostScratch scratch;
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
  // What the processor would take, by the clock, from a part: results do not depend on it.
  const std::size_t part = std::min(size(), SpeedSource::kLeastPart);
  const double parts = static_cast<double>(size()) / static_cast<double>(part);
  const double alone = tile_seconds(rule, part) * parts * parts / std::max(1, options_.threads);
  return alone > options_.device->batch_overhead_s() ? gpu : nullptr;
}

std::vector<Partner> PairScorer::top_partners(const CostRule& rule, const Search& search) const {
  const std::size_t n = size();
  if (!search.prices.empty() && search.prices.size() != n) {
    throw std::invalid_argument("as many prices as jobs are wanted, or none");
  }
  Search wanted = search;
  wanted.k = n == 0 ? 0 : std::min(search.k, n - 1);
  if (wanted.k == 0) return {};
  if (const GpuScorer* const gpu = search.rows ? nullptr : gpu_for_batch(rule);
      gpu != nullptr && wanted.k <= gpu->most_partners()) {
    try {
      std::vector<Partner> out =
          gpu->top_partners(*formula_, solo_, rule, wanted.k, wanted.prices, options_.gpu);
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
            const auto view = jobs.view();
            lanes().of(view).speeds(view, tile, speed, sd);
          }
        },
        formula_->jobs);
  };
  if (source) {
    parallel_for_with<SpeedSource::Scratch>(
        source->parts(), options_.threads,
        [&](std::size_t part, SpeedSource::Scratch& scratch) { source->prepare(part, scratch); });
  }
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

/// Where sets are many and members are of few kinds, what all their pairs do stands in a table.
std::shared_ptr<PairFormula> PairScorer::company_formula(
    std::span<const std::uint32_t> members) const {
  if (formula_ && (std::holds_alternative<ContentionJobs>(formula_->jobs) ||
                   std::holds_alternative<KindTableJobs>(formula_->jobs))) {
    return formula_;
  }
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  constexpr std::size_t kPairsPerMember = 1024;  // a set of its own costs about as much
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
  std::vector<std::uint32_t> kind_of(kind_of_.size(), 0);  // jobs in no set are of any
  for (const std::uint32_t m : members) kind_of[m] = place[kind_of_[m]];
  return std::make_shared<PairFormula>(PairFormula{table_of(kinds, kind_of)});
}

std::vector<double> PairScorer::company_speeds(std::span<const std::uint32_t> members,
                                               std::span<const std::size_t> first) const {
  std::vector<double> out(members.size());
  if (first.size() < 2 || members.empty()) return out;
  const std::shared_ptr<PairFormula> formula = company_formula(members);
  const auto work_out = [&](std::size_t set, std::vector<PairJob>& residents) {
    const std::size_t from = first[set];
    const std::size_t count = first[set + 1] - from;
    const auto* const table = formula ? std::get_if<KindTableJobs>(&formula->jobs) : nullptr;
    if (table != nullptr) {
      const KindTableView view = table->view();
      for (std::size_t own = 0; own < count; ++own) {
        out[from + own] = view.in_company(members.data() + from, count, own);
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
  if (gpu != nullptr && (!formula || !gpu->knows_company(*formula))) gpu = nullptr;
  if (gpu != nullptr && options_.device->wish() == DeviceWish::kAuto) {
    // As gpu_for_batch(): by the clock, from the first sets.
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
      gpu->company_speeds(*formula, members, first, out);
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

}  // namespace corun
