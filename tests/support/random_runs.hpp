#pragma once

/// How often a property is tried on random inputs: always in an optimised build; a tenth as often under sanitizers, where a
/// run takes ten times as long and shows damaged memory at once. What is rare shows in the optimised build.
namespace corun::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kShareOfRuns = 10;
#else
inline constexpr int kShareOfRuns = 1;
#endif

/// Runs of `all`.
template <typename Count>
constexpr Count random_runs(Count all) {
  return all / kShareOfRuns;
}

/// What these runs must exceed of what all runs exceed by `all`; few runs scatter more, so half of their share.
template <typename Count>
constexpr Count random_finds(Count all) {
  return kShareOfRuns == 1 ? all : all / (2 * kShareOfRuns);
}

}  // namespace corun::test
