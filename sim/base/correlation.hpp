#pragma once

#include <span>
#include <vector>

/// Correlation of two attributes: the three coefficients of PriRecT section III-B.
///
/// All lie in [-1, 1] and are symmetric. Both lists have one length n >= 3 and finite values, else
/// std::invalid_argument. If a list is constant, the coefficient is undefined: the result is NaN,
/// and the caller reports it by the attribute's name.
namespace corun::inline sim {

/// Pearson: sum (x - mx)(y - my) / sqrt(sum (x - mx)^2 sum (y - my)^2). Linear dependence.
double pearson(std::span<const double> x, std::span<const double> y);

/// Spearman: Pearson of the midranks. Monotone dependence.
double spearman(std::span<const double> x, std::span<const double> y);

/// Kendall's tau-b: (concordant - discordant) / sqrt((N - Tx)(N - Ty)) over the N = n(n-1)/2 pairs
/// of rows, of which Tx are tied in x and Ty in y. O(n^2): for tables of profiles, not for traces.
double kendall(std::span<const double> x, std::span<const double> y);

/// Ranks from 1 for the smallest value; equal values share the mean of their ranks. Values must be
/// finite; any length.
std::vector<double> midranks(std::span<const double> values);

}  // namespace corun::inline sim
