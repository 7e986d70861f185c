#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Minimum-cost perfect matching: the only place that knows the matching library (LEMON).
namespace corun {

/// Beyond +-kLargestCost costs count as that, so that no sum of the search overflows; NaN, a cost that
/// nobody knows, as the largest.
inline constexpr double kLargestCost = 1e6;
double bounded_cost(double cost);

/// `cost` is symmetric, n x n, row-major; the diagonal is not read. Costs are compared to 1e-9 of their
/// unit, so that the result does not depend on rounding, and as bounded_cost() has them.
/// With odd n one element stays alone at cost 0.
/// Returns the co-runner of each element, or -1 for the one that stays alone.
/// O(n^3); many equal costs are the slow case (docs/performance.md has times).
std::vector<std::int32_t> min_cost_matching(const std::vector<double>& cost, std::size_t n);

/// Two elements that may be put together.
struct MatchEdge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double cost = 0;
};

/// A matching of all elements of a graph, and why none costs less: for every edge,
/// price[a] + price[b] <= cost (to 1e-9), and over all elements the prices add up to what the matching
/// costs, less what blossoms hold back (half a unit of each odd set that the search had to shrink).
struct PricedMatching {
  std::vector<std::uint32_t> co_runner;
  std::vector<double> price;
};

/// The cheapest perfect matching that uses only these edges (each pair named once); nothing where there
/// is none. Costs as above. O(n m log n).
std::optional<PricedMatching> min_cost_matching(const std::vector<MatchEdge>& edges, std::size_t n);

}  // namespace corun
