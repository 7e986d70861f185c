#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Minimum-cost perfect matching: the only file that uses the matching library (LEMON).
namespace corun {
inline namespace policies {  // LEMON needs C++17, which cannot write this in one

/// Costs are limited to +-kLargestCost, so that no sum of the search overflows. NaN (a cost that is not
/// known) counts as kLargestCost.
inline constexpr double kLargestCost = 1e6;
double bounded_cost(double cost);

/// `cost` is symmetric, n x n, row-major; the diagonal is not read. Costs are limited by bounded_cost() and
/// rounded to 1e-9, so that the result does not depend on rounding errors. With odd n one element stays
/// alone at cost 0. Returns the co-runner of each element, or -1 for the one that stays alone. O(n^3); many
/// equal costs are the slow case (bench/performance.md has times).
std::vector<std::int32_t> min_cost_matching(const std::vector<double>& cost, std::size_t n);

/// Two elements that may be put together.
struct MatchEdge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double cost = 0;
};

/// A matching of all elements of a graph, and a proof of its cost: for every edge price[a] + price[b] <=
/// cost (to 1e-9). The sum of all prices is the cost of the matching, less half the dual variable
/// of each blossom (odd set that the search had to shrink).
struct PricedMatching {
  std::vector<std::uint32_t> co_runner;
  std::vector<double> price;
};

/// The cheapest perfect matching that uses only these edges (each pair named once); nothing if there is
/// none. Costs are treated as above. O(n m log n) for m edges.
std::optional<PricedMatching> min_cost_matching(const std::vector<MatchEdge>& edges, std::size_t n);

}  // namespace policies
}  // namespace corun
