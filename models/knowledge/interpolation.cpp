#include "models/knowledge/interpolation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include <Eigen/Dense>
#include <boost/math/interpolators/barycentric_rational.hpp>

#include "models/knowledge/smoothing_spline.hpp"

namespace corun::inline models {

namespace {

using Values = std::vector<double>;

constexpr std::array<TechniqueEntry, 6> kTechniques{{
    {Technique::kLinear, "linear", "straight lines; the nearest value is held outside"},
    {Technique::kBarycentric, "barycentric", "one polynomial through all points, barycentric form"},
    {Technique::kKrogh, "krogh", "the same polynomial in Newton's form; other rounding"},
    {Technique::kPchip, "pchip", "cubic pieces that keep monotone data monotone"},
    {Technique::kCubicSpline, "cubicspline", "cubic spline, not-a-knot ends"},
    {Technique::kSpline2, "spline2",
     "order-2 smoothing spline, squared residuals summing to the number of points"},
}};

/// The piece of an increasing axis for t; outside the axis, the outermost piece.
std::size_t piece_of(std::span<const double> x, double t) {
  const auto above = std::upper_bound(x.begin() + 1, x.end() - 1, t);
  return static_cast<std::size_t>(above - x.begin()) - 1;
}

Values linear(std::span<const double> x, std::span<const double> y, std::span<const double> at) {
  Values out;
  out.reserve(at.size());
  for (const double t : at) {
    if (t <= x.front()) {
      out.push_back(y.front());
    } else if (t >= x.back()) {
      out.push_back(y.back());
    } else {
      const std::size_t i = piece_of(x, t);
      out.push_back(y[i] + (y[i + 1] - y[i]) * ((t - x[i]) / (x[i + 1] - x[i])));
    }
  }
  return out;
}

Values barycentric(std::span<const double> x, std::span<const double> y,
                   std::span<const double> at) {
  // The weights are products of n - 1 distances, which overflow latest on an axis about four units long.
  // Scaling by a power of two does not round.
  const double range = x.back() - x.front();
  const int exponent = range > 0 ? 2 - std::ilogb(range) : 0;
  Values scaled;
  scaled.reserve(x.size());
  for (const double t : x) scaled.push_back(std::ldexp(t, exponent));
  // With the highest approximation order, the rational function of Floater and Hormann is the polynomial.
  const boost::math::barycentric_rational<double> curve(scaled.data(), y.data(), x.size(),
                                                        x.size() - 1);
  Values out;
  out.reserve(at.size());
  for (const double t : at) out.push_back(curve(std::ldexp(t, exponent)));
  return out;
}

Values newton(std::span<const double> x, std::span<const double> y, std::span<const double> at) {
  Values divided(y.begin(), y.end());
  for (std::size_t order = 1; order < x.size(); ++order) {
    for (std::size_t i = x.size() - 1; i >= order; --i) {
      divided[i] = (divided[i] - divided[i - 1]) / (x[i] - x[i - order]);
    }
  }
  Values out;
  out.reserve(at.size());
  for (const double t : at) {
    double value = divided.back();
    for (std::size_t i = x.size() - 1; i-- > 0;) value = value * (t - x[i]) + divided[i];
    out.push_back(value);
  }
  return out;
}

/// Cubic pieces with these slopes at the points; the outermost pieces extend outside.
Values hermite(std::span<const double> x, std::span<const double> y, std::span<const double> slope,
               std::span<const double> at) {
  Values out;
  out.reserve(at.size());
  for (const double t : at) {
    const std::size_t i = piece_of(x, t);
    const double h = x[i + 1] - x[i];
    const double u = t - x[i];
    const double rise = (y[i + 1] - y[i]) / h;
    const double c3 = (slope[i] + slope[i + 1] - 2 * rise) / (h * h);
    const double c2 = (rise - slope[i]) / h - c3 * h;
    out.push_back(y[i] + u * (slope[i] + u * (c2 + u * c3)));
  }
  return out;
}

/// Slope at the first point of the parabola through the first three points, limited to preserve monotonicity.
/// `h0`, `h1`: lengths of the first two pieces; `d0`, `d1`: their slopes.
double end_slope(double h0, double h1, double d0, double d1) {
  const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (slope * d0 <= 0) return 0;
  if (d0 * d1 <= 0 && std::abs(slope) > 3 * std::abs(d0)) return 3 * d0;
  return slope;
}

/// Not Boost's pchip (1.74), because that needs four points, has two-point slopes at its ends and no values
/// outside. The tests compare both where both apply.
Values pchip(std::span<const double> x, std::span<const double> y, std::span<const double> at) {
  const std::size_t n = x.size();
  Values h(n - 1);
  Values d(n - 1);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    h[i] = x[i + 1] - x[i];
    d[i] = (y[i + 1] - y[i]) / h[i];
  }
  Values slope(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    if (d[i - 1] * d[i] <= 0) continue;  // an extremum, or flat on one side: slope 0
    const double w1 = 2 * h[i] + h[i - 1];
    const double w2 = h[i] + 2 * h[i - 1];
    slope[i] = (w1 + w2) / (w1 / d[i - 1] + w2 / d[i]);
  }
  slope.front() = end_slope(h[0], h[1], d[0], d[1]);
  slope.back() = end_slope(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  return hermite(x, y, slope, at);
}

/// Slopes m of the cubic spline: the second derivative is continuous at every inner point,
///
///   h_i m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_{i-1} m_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i),
///
/// and the third at the second and the last but one (not-a-knot). The system is dense, because series are
/// short.
Values cubic_spline(std::span<const double> x, std::span<const double> y,
                    std::span<const double> at) {
  const auto n = static_cast<Eigen::Index>(x.size());
  const Eigen::Map<const Eigen::VectorXd> px(x.data(), n);
  const Eigen::Map<const Eigen::VectorXd> py(y.data(), n);
  const Eigen::VectorXd h = px.tail(n - 1) - px.head(n - 1);
  const Eigen::VectorXd d = (py.tail(n - 1) - py.head(n - 1)).cwiseQuotient(h);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 1; i + 1 < n; ++i) {
    a(i, i - 1) = h[i];
    a(i, i) = 2 * (h[i - 1] + h[i]);
    a(i, i + 1) = h[i - 1];
    b[i] = 3 * (h[i] * d[i - 1] + h[i - 1] * d[i]);
  }
  const auto end = [&](Eigen::Index row, Eigen::Index next, double h0, double h1, double d0,
                       double d1) {
    a(row, row) = h1;
    a(row, next) = h0 + h1;
    b[row] = ((3 * h0 + 2 * h1) * h1 * d0 + h0 * h0 * d1) / (h0 + h1);
  };
  end(0, 1, h[0], h[1], d[0], d[1]);
  end(n - 1, n - 2, h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  const Eigen::VectorXd slope = a.partialPivLu().solve(b);
  return hermite(x, y, {slope.data(), x.size()}, at);
}

Values smoothed(std::span<const double> x, std::span<const double> y, std::span<const double> at) {
  const SmoothingSpline curve(x, y, static_cast<double>(x.size()));
  Values out;
  out.reserve(at.size());
  for (const double t : at) out.push_back(curve(t));
  return out;
}

std::size_t points_needed(Technique technique) {
  switch (technique) {
    case Technique::kLinear:
    case Technique::kBarycentric:
    case Technique::kKrogh:
      return 2;
    case Technique::kPchip:
      return 3;
    case Technique::kCubicSpline:
    case Technique::kSpline2:
      return 4;
  }
  throw std::invalid_argument("interpolate: no such technique");
}

Values along_increasing(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> at) {
  if (x.size() < points_needed(technique)) return newton(x, y, at);
  switch (technique) {
    case Technique::kLinear:
      return linear(x, y, at);
    case Technique::kBarycentric:
      return barycentric(x, y, at);
    case Technique::kKrogh:
      return newton(x, y, at);
    case Technique::kPchip:
      return pchip(x, y, at);
    case Technique::kCubicSpline:
      return cubic_spline(x, y, at);
    case Technique::kSpline2:
      return smoothed(x, y, at);
  }
  throw std::invalid_argument("interpolate: no such technique");
}

void require_finite(std::span<const double> numbers, const char* what) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    throw std::invalid_argument(std::string("interpolate: ") + what + "[" + std::to_string(i) +
                                "] is not a finite number");
  }
}

}  // namespace

std::span<const TechniqueEntry> technique_catalog() { return kTechniques; }

std::optional<Technique> find_technique(std::string_view name) {
  for (const TechniqueEntry& entry : kTechniques) {
    if (entry.name == name) return entry.technique;
  }
  return std::nullopt;
}

std::string_view technique_name(Technique technique) {
  for (const TechniqueEntry& entry : kTechniques) {
    if (entry.technique == technique) return entry.name;
  }
  throw std::invalid_argument("technique_name: no such technique");
}

std::vector<double> interpolate(Technique technique, std::span<const double> x,
                                std::span<const double> y, std::span<const double> at) {
  if (x.size() != y.size()) {
    throw std::invalid_argument("interpolate: " + std::to_string(x.size()) + " positions but " +
                                std::to_string(y.size()) + " values");
  }
  if (x.empty()) throw std::invalid_argument("interpolate: no points");
  require_finite(x, "x");
  require_finite(y, "y");
  require_finite(at, "at");
  Values px(x.begin(), x.end());
  Values py(y.begin(), y.end());
  if (px.front() > px.back()) {
    std::ranges::reverse(px);
    std::ranges::reverse(py);
  }
  for (std::size_t i = 1; i < px.size(); ++i) {
    if (px[i] > px[i - 1]) continue;
    throw std::invalid_argument("interpolate: x must be strictly increasing or decreasing");
  }
  Values out = along_increasing(technique, px, py, at);
  for (const double value : out) {
    if (std::isfinite(value)) continue;
    throw std::invalid_argument("interpolate: " + std::string(technique_name(technique)) +
                                " through " + std::to_string(px.size()) +
                                " points overflows; use fewer points or a piecewise technique");
  }
  return out;
}

}  // namespace corun::inline models
