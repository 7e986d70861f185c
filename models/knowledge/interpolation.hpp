#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The six interpolation techniques that PriRecT compares in Table II (section III-C), over any
/// strictly monotone axis. x and the values are plain numbers of any unit.
///
/// Outside the known points, kLinear holds the value of the nearest one; every other technique
/// carries on the polynomial of its outermost piece, which for kBarycentric and kKrogh is the one
/// polynomial they are made of: it leaves any bounds within a step or two.
///
/// A technique with fewer points than it needs gives the polynomial through those there are: one
/// point a constant, two a straight line, three a parabola. Needed: linear 2, pchip 3, cubic spline
/// 4, order-2 spline 4.
namespace corun {

enum class Technique { kLinear, kBarycentric, kKrogh, kPchip, kCubicSpline, kSpline2 };

struct TechniqueEntry {
  Technique technique;
  std::string_view name;
  std::string_view description;
};

/// The visible table, in the order of the enumeration and of PriRecT Table II.
std::span<const TechniqueEntry> technique_catalog();
/// Empty when there is none of that name.
std::optional<Technique> find_technique(std::string_view name);
std::string_view technique_name(Technique technique);

/// The values at `at` (any order, any place) of the curve through or, kSpline2, near the points
/// (x, y). x is strictly increasing or strictly decreasing; a curve does not depend on which, but for
/// kSpline2, whose knots are laid from the least x upwards.
///
/// - kBarycentric: the interpolating polynomial in barycentric form (Berrut and Trefethen 2004).
/// - kKrogh: the same polynomial in Newton's form, by divided differences (Krogh 1970). Equal to
///   kBarycentric but for rounding, which grows fast with the number of points.
/// - kPchip: cubic pieces whose slopes never overshoot (Fritsch and Butland 1984: weighted harmonic
///   mean inside, one-sided three-point slope at the ends).
/// - kCubicSpline: two continuous derivatives, "not-a-knot" at both ends.
/// - kSpline2: the smoothing spline of order 2 with the sum of squared residuals held at the number
///   of points (smoothing_spline.hpp). It does *not* pass through the points.
///
/// Throws std::invalid_argument for no points, x and y of different lengths, x not strictly monotone,
/// anything that is not finite, and for a polynomial of so many points or so far out that its value
/// is no finite number.
std::vector<double> interpolate(Technique technique, std::span<const double> x,
                                std::span<const double> y, std::span<const double> at);

}  // namespace corun
