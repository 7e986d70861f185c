#pragma once

#include <algorithm>
#include <cstdlib>

/// How often a property is tried on random inputs: always in an optimised build; a tenth as often with assertions or
/// sanitizers, where a run takes up to ten times as long and shows what is wrong at once. What is rare shows in the
/// optimised build. A long search is CORUN_RANDOM_RUNS=N, N times as many.
namespace corun::test {

#if !defined(NDEBUG)
inline constexpr int kShareOfRuns = 10;
#else
inline constexpr int kShareOfRuns = 1;
#endif

/// Runs of `all`.
template <typename Count>
Count random_runs(Count all) {
  const char* const times = std::getenv("CORUN_RANDOM_RUNS");
  return all / kShareOfRuns *
         static_cast<Count>(times == nullptr ? 1 : std::max(1, std::atoi(times)));
}

/// What these runs must exceed of what all runs exceed by `all`; few runs scatter more, so half of their share.
template <typename Count>
constexpr Count random_finds(Count all) {
  return kShareOfRuns == 1 ? all : all / (2 * kShareOfRuns);
}

}  // namespace corun::test
