#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

/// A slow, simple reference matching.
namespace corun::test {

/// A bitmask dynamic programme: the cheapest way to pair up a set; one job stays alone if their number is
/// odd.
inline double brute_force_matching(const std::vector<double>& cost, std::size_t n) {
  std::vector<double> best(std::size_t{1} << n, std::numeric_limits<double>::infinity());
  best[0] = 0;
  for (std::size_t set = 1; set < best.size(); ++set) {
    const auto i = static_cast<std::size_t>(std::countr_zero(set));
    const std::size_t rest = set & (set - 1);
    if (std::popcount(set) % 2 == 1) best[set] = best[rest];
    for (std::size_t j = i + 1; j < n; ++j) {
      if ((rest >> j & 1) != 0) {
        best[set] = std::min(best[set], best[rest & ~(std::size_t{1} << j)] + cost[i * n + j]);
      }
    }
    if (std::popcount(set) % 2 == 1) {
      // Or another job than the lowest stays alone.
      for (std::size_t j = i + 1; j < n; ++j) {
        if ((rest >> j & 1) != 0)
          best[set] = std::min(best[set], best[set & ~(std::size_t{1} << j)]);
      }
    }
  }
  return best.back();
}

}  // namespace corun::test
