#pragma once

#include <cstddef>
#include <cstdint>

#include "models/formulas/pair_cost_formula.hpp"
#include "models/scoring/cuda_support.hpp"
#include "models/scoring/gpu_tile.hpp"
#include "models/vector_units/top_lists.hpp"

/// The kernels of GpuScorer: the cheapest co-runners, all pairs, sets of residents, for any View of jobs
/// (short_formula.hpp). Compiled by nvcc, and as ordinary C++ by the tests, whose fibers run the kernels.
namespace corun::inline models::CORUN_GPU {

/// Selects one of two number by number: selecting a whole structure would put it into memory.
CORUN_HOST_DEVICE_INLINE SoloTime pick(bool first, const SoloTime& a, const SoloTime& b) {
  return {first ? a.value : b.value, first ? a.inverse : b.inverse};
}
CORUN_HOST_DEVICE_INLINE SpeedBelief pick(bool first, const SpeedBelief& a, const SpeedBelief& b) {
  return {first ? a.speed : b.speed, first ? a.sd : b.sd, first ? a.inverse : b.inverse};
}

/// The terms of the ranking beside the cost (Belief::top_co_runners()).
struct Ranking {
  std::uint32_t jobs = 0;          ///< in the whole queue
  const double* prices = nullptr;  ///< one entry per job; nullptr: all 0
};

/// Lists of the cheapest co-runners of the rows of a tile, by rising (cost, distance). The list of row i
/// begins at (i - i0) * k.
struct CoRunnerLists {
  unsigned k = 0;       ///< co-runners of each job
  bool resume = false;  ///< continue the lists of an earlier launch
  double* cost = nullptr;
  std::uint32_t* position = nullptr;  ///< distance_behind() the job of the row
};

/// The k cheapest co-runners of a tile's rows among its columns, without a matrix. A block has kRows jobs.
/// Their lists stay in shared memory while the threads visit all columns; a co-runner is loaded once for
/// kRows evaluations. A cost above the last of a full list is dropped at once. Other costs are candidates
/// until the end of the round. Then list and candidates are ranked: each thread counts, for its entries, how
/// many others come before them. After n columns, about k n' / n of the next n' pass. Candidates arrive in
/// any order, but the result is unique, because (cost, distance) is a total order.
template <class Cost>
struct TopCoRunnersKernel {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kRows = 4;
  static constexpr unsigned kStep = 2;  ///< co-runners that a thread evaluates between barriers
  static constexpr unsigned kCandidates = kThreads * kStep;

  /// Each row has its list, its candidates and its next list.
  static std::size_t shared_bytes(std::size_t k) {
    return kRows * (2 * k + kCandidates) * (sizeof(double) + sizeof(std::uint32_t));
  }
};

template <class View, class Cost>
__global__ void __launch_bounds__(TopCoRunnersKernel<Cost>::kThreads)
    top_co_runners(View view, SoloView solo, Cost cost, Ranking ranking, GpuTile tile,
                   CoRunnerLists lists) {
  const auto [i0, i1, j0, j1] = tile;
  const unsigned k = lists.k;
  using Shape = TopCoRunnersKernel<Cost>;
  constexpr unsigned kThreads = Shape::kThreads;
  constexpr unsigned kRows = Shape::kRows;
  constexpr double kInfinity = __builtin_huge_val();
  // Entries of a row: its list, then candidates, then the next list.
  const unsigned entries = 2 * k + Shape::kCandidates;
  CORUN_DYNAMIC_SHARED(double, costs);
  std::uint32_t* const positions = reinterpret_cast<std::uint32_t*>(costs + kRows * entries);
  // Two counters of candidates, used in turns: one thread may be in the next round while another still reads.
  __shared__ unsigned waiting[2][kRows];

  const unsigned thread = threadIdx.x;
  const std::uint32_t first = i0 + blockIdx.x * kRows;
  if (thread < kRows) waiting[0][thread] = waiting[1][thread] = 0;
  for (unsigned e = thread; e < kRows * entries; e += kThreads) {
    costs[e] = kInfinity;
    positions[e] = ~std::uint32_t{0};
  }
  __syncthreads();
  for (unsigned r = 0; lists.resume && r < kRows && first + r < i1; ++r) {
    for (unsigned e = thread; e < k; e += kThreads) {
      const std::size_t at = std::size_t{first + r - i0} * k + e;
      costs[r * entries + e] = lists.cost[at];
      positions[r * entries + e] = lists.position[at];
    }
  }
  __syncthreads();

  typename View::Job job[kRows];
  SoloTime job_solo[kRows];
  CORUN_UNROLL
  for (unsigned r = 0; r < kRows; ++r) {
    // Rows beyond the last repeat it and write nothing.
    const std::uint32_t i = first + r < i1 ? first + r : i1 - 1;
    job[r] = view.job(i);
    job_solo[r] = solo.of(i);
  }

  unsigned turn = 0;
  for (std::uint32_t base = j0; base < j1; base += Shape::kCandidates, turn ^= 1) {
    double limit[kRows];
    CORUN_UNROLL
    for (unsigned r = 0; r < kRows; ++r) limit[r] = costs[r * entries + k - 1];
    for (unsigned s = 0; s < Shape::kStep; ++s) {
      const std::uint32_t j = base + s * kThreads + thread;
      if (j >= j1) break;
      const typename View::Job co_runner = view.job(j);
      const SoloTime co_runner_solo = solo.of(j);
      const double price = ranking.prices != nullptr ? ranking.prices[j] : 0;
      CORUN_UNROLL
      for (unsigned r = 0; r < kRows; ++r) {
        const std::uint32_t i = first + r;
        const SpeedBelief of_job = slowed(view, job[r], co_runner);
        const SpeedBelief of_co_runner = slowed(view, co_runner, job[r]);
        // Costs are computed with the lower position first, as on the processor.
        const bool lower = i < j;
        const double c =
            cost(pick(lower, job_solo[r], co_runner_solo), pick(lower, co_runner_solo, job_solo[r]),
                 pick(lower, of_job, of_co_runner), pick(lower, of_co_runner, of_job)) -
            price;
        if (i < i1 && i != j && !(c > limit[r])) {
          const unsigned at = r * entries + k + atomicAdd(&waiting[turn][r], 1U);
          costs[at] = c == c ? c : kInfinity;
          positions[at] = distance_behind(i, j, ranking.jobs);
        }
      }
    }
    __syncthreads();
    unsigned most = 0;
    for (unsigned r = 0; r < kRows; ++r) most = waiting[turn][r] > most ? waiting[turn][r] : most;
    if (most == 0) continue;
    for (unsigned r = 0; r < kRows; ++r) {
      const unsigned from = r * entries;
      const unsigned count = k + waiting[turn][r];
      if (count == k) continue;
      for (unsigned e = thread; e < count; e += kThreads) {
        const double c = costs[from + e];
        const std::uint32_t p = positions[from + e];
        unsigned rank = 0;
        for (unsigned f = 0; f < count; ++f) {
          const double d = costs[from + f];
          const std::uint32_t q = positions[from + f];
          // Empty places are all equal and ranked by index.
          const bool tie = d == c && (q < p || (q == p && f < e));
          rank += d < c || tie ? 1 : 0;
        }
        if (rank < k) {
          const unsigned to = from + k + Shape::kCandidates + rank;
          costs[to] = c;
          positions[to] = p;
        }
      }
    }
    __syncthreads();
    for (unsigned r = 0; r < kRows; ++r) {
      if (waiting[turn][r] == 0) continue;
      for (unsigned e = thread; e < k; e += kThreads) {
        costs[r * entries + e] = costs[r * entries + k + Shape::kCandidates + e];
        positions[r * entries + e] = positions[r * entries + k + Shape::kCandidates + e];
      }
    }
    __syncthreads();
    if (thread < kRows) waiting[turn][thread] = 0;
  }
  __syncthreads();
  for (unsigned r = 0; r < kRows && first + r < i1; ++r) {
    for (unsigned e = thread; e < k; e += kThreads) {
      const std::size_t at = std::size_t{first + r - i0} * k + e;
      lists.cost[at] = costs[r * entries + e];
      lists.position[at] = positions[r * entries + e];
    }
  }
}

/// Speed and standard deviation of rows [i0, i1) beside all n jobs: each rows x n, row-major. A block has
/// kThreads co-runners and kRows rows.
struct AllPairsKernel {
  static constexpr unsigned kThreads = 128;
  static constexpr unsigned kRows = 8;
};
template <class View>
__global__ void __launch_bounds__(AllPairsKernel::kThreads)
    all_pairs(View view, std::uint32_t n, std::uint32_t i0, std::uint32_t i1, double* speed,
              double* sd) {
  const std::uint32_t j = blockIdx.x * AllPairsKernel::kThreads + threadIdx.x;
  if (j >= n) return;
  const typename View::Job co_runner = view.job(j);
  for (unsigned r = 0; r < AllPairsKernel::kRows; ++r) {
    const std::uint32_t i = i0 + blockIdx.y * AllPairsKernel::kRows + r;
    if (i >= i1) return;
    const SpeedBelief belief = view.beside(view.job(i), co_runner);
    speed[std::size_t{i - i0} * n + j] = belief.speed;
    sd[std::size_t{i - i0} * n + j] = belief.sd;
  }
}

/// The speed of each member of sets of residents, one thread per member. Member m's set is
/// [begins[m], ends[m]) of `members`.
struct CoRunnerKernel {
  static constexpr unsigned kThreads = 128;
};
template <class View>
__global__ void __launch_bounds__(CoRunnerKernel::kThreads)
    co_runner_speeds(View view, const std::uint32_t* members, const std::uint32_t* begins,
                     const std::uint32_t* ends, std::uint32_t count, double* out) {
  const std::uint32_t m = blockIdx.x * CoRunnerKernel::kThreads + threadIdx.x;
  if (m >= count) return;
  out[m] = view.with_co_runners(members + begins[m], ends[m] - begins[m], m - begins[m]);
}

/// Writes a value, to test whether kernels of this build run.
template <int kValue>
__global__ void mark(int* at) {
  *at = kValue;
}

/// A View of the directed speeds between two blocks of jobs, or within one block, each matrix row-major. Long
/// equations fill it before the choice of co-runners.
struct SpeedBlocksView {
  std::uint32_t a0 = 0, a1 = 0;  ///< jobs of block a
  std::uint32_t b0 = 0,
                b1 = 0;  ///< jobs of block b; if a and b are the same block, ba_* is not read
  const double* ab_speed = nullptr;  ///< of a's job beside b's
  const double* ab_sd = nullptr;
  const double* ba_speed = nullptr;  ///< of b's beside a's
  const double* ba_sd = nullptr;

  static constexpr bool kNeverFaster = false;
  using Job = std::uint32_t;
  CORUN_HOST_DEVICE_INLINE Job job(std::uint32_t i) const { return i; }
  CORUN_HOST_DEVICE_INLINE SpeedBelief beside(Job slowed, Job co_runner) const {
    const bool ab = slowed >= a0 && slowed < a1 && co_runner >= b0 && co_runner < b1;
    const std::size_t at = ab ? std::size_t{slowed - a0} * (b1 - b0) + (co_runner - b0)
                              : std::size_t{slowed - b0} * (a1 - a0) + (co_runner - a0);
    const double speed = ab ? ab_speed[at] : ba_speed[at];
    const double sd = ab ? ab_sd[at] : ba_sd[at];
    return {speed, sd, 1 / speed};
  }
};

}  // namespace corun::inline models::CORUN_GPU
