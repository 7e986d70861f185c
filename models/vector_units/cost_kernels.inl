// Costs and speeds of tiles of pairs, and the lists of the cheapest co-runners. Part of kernels.inl, whose
// rules hold here.

#include <type_traits>

namespace corun::inline models::CORUN_SET {

namespace {

template <class View, bool kRisky, Objective kObjective, bool kKnown>
void costs_of(const View& given, const SoloView& solos, double risk, const PairTile& tile,
              double* out) {
  const View view = given;  // a local copy, which no write through `out` can alias
  const SoloView solo = solos;
  const CostFormula<kRisky, kObjective, kKnown> cost{risk};
  for (std::size_t i = tile.i0; i < tile.i1; ++i) {
    const typename View::Job job = view.job(i);
    const SoloTime job_solo = solo.of(i);
    const std::size_t from = i + 1 > tile.j0 ? i + 1 : tile.j0;
    double* const row = out + (i - tile.i0) * (tile.j1 - tile.j0);
#pragma GCC ivdep
    for (std::size_t j = from; j < tile.j1; ++j) {
      const typename View::Job co_runner = view.job(j);
      row[j - tile.j0] =
          cost(job_solo, solo.of(j), slowed(view, job, co_runner), slowed(view, co_runner, job));
    }
  }
}

/// The same for a tile of one column.
template <class View, bool kRisky, Objective kObjective, bool kKnown>
void costs_of_column(const View& given, const SoloView& solos, double risk, const PairTile& tile,
                     double* out) {
  const View view = given;
  const SoloView solo = solos;
  const CostFormula<kRisky, kObjective, kKnown> cost{risk};
  const typename View::Job co_runner = view.job(tile.j0);
  const SoloTime co_runner_solo = solo.of(tile.j0);
  const std::size_t to = tile.i1 < tile.j0 ? tile.i1 : tile.j0;
#pragma GCC ivdep
  for (std::size_t i = tile.i0; i < to; ++i) {
    const typename View::Job job = view.job(i);
    out[i - tile.i0] = cost(solo.of(i), co_runner_solo, slowed(view, job, co_runner),
                            slowed(view, co_runner, job));
  }
}

/// Both directions of the pairs of one kind with the columns of a tile. They are read from the table of kinds
/// once for all rows of that kind, because vector units do not gather faster than scalar code reads.
struct KindColumns {
  static constexpr std::size_t kMost = 256;
  struct Side {
    double speed[kMost], sd[kMost], inverse[kMost];
    CORUN_HOST_DEVICE_INLINE SpeedBelief at(std::size_t c) const {
      return {speed[c], sd[c], inverse[c]};
    }
  };
  Side job, co_runner;

  template <bool kSpreads>
  CORUN_HOST_DEVICE_INLINE void fill(const KindTableView& view, std::size_t kind, std::size_t from,
                                     std::size_t to) {
    for (std::size_t j = from; j < to; ++j) {
      const SpeedBelief here = slowed(view, kind, view.job(j));
      const SpeedBelief there = slowed(view, view.job(j), kind);
      job.speed[j - from] = here.speed;
      job.inverse[j - from] = here.inverse;
      co_runner.speed[j - from] = there.speed;
      co_runner.inverse[j - from] = there.inverse;
      if (kSpreads) job.sd[j - from] = here.sd;
      if (kSpreads) co_runner.sd[j - from] = there.sd;
    }
  }
};

template <bool kRisky, Objective kObjective, bool kKnown>
void costs_of_kinds(const KindTableView& given, const SoloView& solos, double risk,
                    const PairTile& tile, double* out) {
  constexpr std::size_t kMost = KindColumns::kMost;
  const KindTableView view = given;
  const SoloView solo = solos;
  const CostFormula<kRisky, kObjective, kKnown> cost{risk};
  KindColumns columns;
  for (std::size_t i0 = tile.i0; i0 < tile.i1; i0 += kMost) {
    const std::size_t i1 = tile.i1 - i0 < kMost ? tile.i1 : i0 + kMost;
    for (std::size_t j0 = tile.j0; j0 < tile.j1; j0 += kMost) {
      const std::size_t j1 = tile.j1 - j0 < kMost ? tile.j1 : j0 + kMost;
      bool done[kMost] = {};
      for (std::size_t first = i0; first < i1 && first + 1 < j1; ++first) {
        if (done[first - i0]) continue;
        const std::size_t kind = view.job(first);
        columns.fill<kRisky>(view, kind, j0, j1);
        for (std::size_t i = first; i < i1; ++i) {
          if (view.job(i) != kind) continue;
          done[i - i0] = true;
          const SoloTime job_solo = solo.of(i);
          double* const row = out + (i - tile.i0) * tile.columns() + (j0 - tile.j0);
          const std::size_t from = i + 1 > j0 ? i + 1 : j0;
#pragma GCC ivdep
          for (std::size_t j = from; j < j1; ++j) {
            row[j - j0] =
                cost(job_solo, solo.of(j), columns.job.at(j - j0), columns.co_runner.at(j - j0));
          }
        }
      }
    }
  }
}

CORUN_HOST_DEVICE_INLINE bool all_known(const SoloView& solo, std::size_t from, std::size_t to) {
  bool known = true;
  for (std::size_t i = from; i < to; ++i) known &= solo.seconds[i] == solo.seconds[i];
  return known;
}

template <class View, bool kRisky, Objective kObjective>
void costs_of(const View& view, const SoloView& solos, double risk, const PairTile& tile,
              double* out) {
  const bool known = all_known(solos, tile.i0, tile.i1) && all_known(solos, tile.j0, tile.j1);
  if (tile.columns() == 1) {
    (known ? costs_of_column<View, kRisky, kObjective, true>
           : costs_of_column<View, kRisky, kObjective, false>)(view, solos, risk, tile, out);
  } else if constexpr (std::is_same_v<View, KindTableView>) {
    (known ? costs_of_kinds<kRisky, kObjective, true>
           : costs_of_kinds<kRisky, kObjective, false>)(view, solos, risk, tile, out);
  } else {
    (known ? costs_of<View, kRisky, kObjective, true>
           : costs_of<View, kRisky, kObjective, false>)(view, solos, risk, tile, out);
  }
}

template <class View, bool kRisky>
void costs_by_objective(const View& view, const SoloView& solos, const CostRule& rule,
                        const PairTile& tile, double* out) {
  switch (rule.objective) {
    case Objective::kMinSlowdown:
      return costs_of<View, kRisky, Objective::kMinSlowdown>(view, solos, rule.risk, tile, out);
    case Objective::kBalance:
      return costs_of<View, kRisky, Objective::kBalance>(view, solos, rule.risk, tile, out);
    case Objective::kMaxPacking:
      return costs_of<View, kRisky, Objective::kMaxPacking>(view, solos, rule.risk, tile, out);
  }
}

template <class View>
void costs(const View& view, const SoloView& solos, const CostRule& rule, const PairTile& tile,
           double* out) {
  if (rule.risk > 0) {
    costs_by_objective<View, true>(view, solos, rule, tile, out);
  } else {
    costs_by_objective<View, false>(view, solos, rule, tile, out);
  }
}

template <class View>
void speeds(const View& given, const PairTile& tile, double* speed, double* sd) {
  const View view = given;
  for (std::size_t i = tile.i0; i < tile.i1; ++i) {
    const typename View::Job job = view.job(i);
    double* const speeds = speed + (i - tile.i0) * (tile.j1 - tile.j0);
    double* const sds = sd + (i - tile.i0) * (tile.j1 - tile.j0);
#pragma GCC ivdep
    for (std::size_t j = tile.j0; j < tile.j1; ++j) {
      const SpeedBelief belief = view.beside(job, view.job(j));
      speeds[j - tile.j0] = belief.speed;
      sds[j - tile.j0] = belief.sd;
    }
  }
}

/// Costs that are compared with thresholds at a time.
constexpr std::size_t kChunk = 64;
/// 2^n as a table, for a vectorised loop.
struct Bits {
  std::uint64_t of[kChunk] = {};
  constexpr Bits() {
    for (std::size_t n = 0; n < kChunk; ++n) of[n] = std::uint64_t{1} << n;
  }
};
constexpr Bits kBits;

/// TopListsView::offer() without a branch for the place of the new entry.
CORUN_HOST_DEVICE_INLINE void offer_one(const TopListsView& lists, std::size_t job, double offered,
                                        std::uint32_t position) {
#if CORUN_WIDTH == 1
  lists.offer(job, offered, position);
#else
  // Lists are short: wider vectors gain nothing.
  constexpr std::size_t kLanes = CORUN_WIDTH < 4 ? CORUN_WIDTH : 4;
  using Doubles = double __attribute__((vector_size(kLanes * 8), aligned(8), may_alias));
  if (offered > lists.thresholds[job]) return;
  // The last element of `before`, then `here` without its last.
  const auto one_on = [](Doubles before, Doubles here) __attribute__((always_inline)) {
#if CORUN_WIDTH == 2
    return __builtin_shufflevector(before, here, 1, 2);
#else
    return __builtin_shufflevector(before, here, 3, 4, 5, 6);
#endif
  };
  const double cost = offered == offered ? offered : __builtin_huge_val();
  const double distance = distance_behind(static_cast<std::uint32_t>(job), position, lists.jobs);
  double* const c = lists.costs(job);
  double* const d = lists.distances(job);
  const Doubles new_c = cost - Doubles{};
  const Doubles new_d = distance - Doubles{};
  const auto at = [](double* list, std::size_t from) __attribute__((always_inline))->Doubles& {
    return *reinterpret_cast<Doubles*>(list + from);
  };
  // From the end of the list: entries after the new one move by one place. The first entry has no left
  // neighbour.
  Doubles here_c = at(c, lists.stride - kLanes);
  Doubles here_d = at(d, lists.stride - kLanes);
  for (std::size_t from = lists.stride; from > 0;) {
    from -= kLanes;
    const Doubles next_c = from > 0 ? at(c, from - kLanes) : -__builtin_huge_val() - Doubles{};
    const Doubles next_d = from > 0 ? at(d, from - kLanes) : Doubles{};
    const Doubles left_c = one_on(next_c, here_c);
    const Doubles left_d = one_on(next_d, here_d);
    const auto stays = (here_c < new_c) | ((here_c == new_c) & (here_d < new_d));
    const auto left_stays = (left_c < new_c) | ((left_c == new_c) & (left_d < new_d));
    at(c, from) = stays ? here_c : (left_stays ? new_c : left_c);
    at(d, from) = stays ? here_d : (left_stays ? new_d : left_d);
    here_c = next_c;
    here_d = next_d;
  }
  lists.thresholds[job] = c[lists.k - 1];
#endif
}

/// Offers up to kChunk costs. Few costs are below a threshold; these are offered one by one.
CORUN_HOST_DEVICE_INLINE void offer_some(const double* cost, std::size_t row, std::size_t first,
                                         std::size_t count, const double* prices,
                                         const TopListsView& lists) {
  const double* const thresholds = lists.thresholds + first;
  const double* const column_prices = prices + first;
  const double threshold = lists.thresholds[row];
  const double price = prices[row];
  std::uint64_t of_row = 0;
  std::uint64_t of_column = 0;
  for (std::size_t n = 0; n < count; ++n) {
    of_row |= cost[n] - column_prices[n] > threshold ? 0 : kBits.of[n];
    of_column |= cost[n] - price > thresholds[n] ? 0 : kBits.of[n];
  }
  for (; of_row != 0; of_row &= of_row - 1) {
    const auto n = static_cast<std::size_t>(__builtin_ctzll(of_row));
    offer_one(lists, row, cost[n] - column_prices[n], static_cast<std::uint32_t>(first + n));
  }
  for (; of_column != 0; of_column &= of_column - 1) {
    const auto n = static_cast<std::size_t>(__builtin_ctzll(of_column));
    offer_one(lists, first + n, cost[n] - price, static_cast<std::uint32_t>(row));
  }
}

void offer(const double* cost, std::size_t row, std::size_t first, std::size_t count,
           const double* prices, const TopListsView& given) {
  const TopListsView lists = given;
  std::size_t c = 0;
  for (; c + kChunk <= count; c += kChunk) {
    offer_some(cost + c, row, first + c, kChunk, prices, lists);
  }
  if (c < count) offer_some(cost + c, row, first + c, count - c, prices, lists);
}

template <class View>
constexpr ViewKernels<View> of_view() {
  return {costs<View>, speeds<View>};
}
template <ShortFormula Jobs>
constexpr ViewKernels<typename Jobs::View> of_formula(const Jobs*) {
  return of_view<typename Jobs::View>();
}

}  // namespace

}  // namespace corun::inline models::CORUN_SET
