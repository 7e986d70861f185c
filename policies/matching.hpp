#pragma once

#include <cstdint>
#include <vector>

/// Minimum-cost perfect matching: the only place that knows the matching library (LEMON).
namespace corun {

/// `cost` is symmetric, n x n, row-major; the diagonal is not read. Costs are compared to 1e-9 of their
/// unit, so that the result does not depend on rounding; beyond +-1e6 they count as that, NaN as the
/// worst.
/// With odd n one element stays alone at cost 0.
/// Returns the partner of each element, or -1 for the one that stays alone.
/// O(n^3); many equal costs are the slow case (docs/performance.md has times).
std::vector<std::int32_t> min_cost_matching(const std::vector<double>& cost, std::size_t n);

}  // namespace corun
