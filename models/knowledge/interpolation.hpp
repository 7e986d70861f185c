#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The six interpolation techniques of PriRecT Table II (section III-C), over any strictly monotone axis. x
/// and the values may have any unit.
///
/// Outside the known points, kLinear holds the value of the nearest point. Every other technique extends the
/// polynomial of its outermost piece; for kBarycentric and kKrogh, whose only piece is a polynomial of high
/// degree, values soon diverge.
///
/// With fewer points than a technique needs, the curve is the polynomial through all points: a constant, a
/// line or a parabola. Points needed: linear, barycentric and krogh 2, pchip 3, cubic spline 4, order-2
/// spline 4.
namespace corun::inline models {

enum class Technique { kLinear, kBarycentric, kKrogh, kPchip, kCubicSpline, kSpline2 };

struct TechniqueEntry {
  Technique technique;
  std::string_view name;
  std::string_view description;
};

/// All techniques, in the order of the enumeration and of PriRecT Table II.
std::span<const TechniqueEntry> technique_catalog();
/// Empty if no technique has that name.
std::optional<Technique> find_technique(std::string_view name);
/// std::invalid_argument for a value outside the enumeration.
std::string_view technique_name(Technique technique);

/// The values at the positions `at` (in any order, inside or outside) of the curve through the points (x, y),
/// or near them for kSpline2. x is strictly increasing or strictly decreasing. Mirroring the axis mirrors
/// the curve, except for kSpline2, whose knots are placed from the least x upwards.
///
/// - kBarycentric: the interpolating polynomial in barycentric form (Berrut and Trefethen 2004).
/// - kKrogh: the same polynomial in Newton's form, by divided differences (Krogh 1970). Equal to
///   kBarycentric but for rounding, which grows fast with the number of points.
/// - kPchip: cubic pieces whose slopes never overshoot (Fritsch and Butland 1984: weighted harmonic
///   mean inside, one-sided three-point slope at the ends).
/// - kCubicSpline: cubic pieces with two continuous derivatives, "not-a-knot" at both ends.
/// - kSpline2: the smoothing spline of order 2 with the sum of squared residuals held at the number
///   of points (smoothing_spline.hpp). It does *not* pass through the points.
///
/// std::invalid_argument: no points, x and y of different lengths, x not strictly monotone, a number that is
/// not finite, or a polynomial whose value is not finite.
std::vector<double> interpolate(Technique technique, std::span<const double> x,
                                std::span<const double> y, std::span<const double> at);

}  // namespace corun::inline models
