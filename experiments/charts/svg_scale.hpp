#pragma once

#include <span>
#include <string>
#include <vector>

/// The axis of a chart: which numbers it spans, where they lie, which of them it names.
namespace corun {

/// Numbers beyond this are not drawn: their differences would not fit a double.
inline constexpr double kDrawableMax = 1e300;

/// Finite, and not too large to draw; above zero on a logarithmic axis.
bool drawable(double value, bool logarithmic = false);

enum class AxisKind {
  kLinear,    ///< begins at 0 when the numbers come near it
  kFromZero,  ///< contains 0
  kLog,       ///< numbers at or below 0 have no place
};

class SvgScale {
 public:
  struct Tick {
    double at = 0;  ///< [px]
    std::string label;
    bool zero = false;  ///< the tick of 0
  };

  /// Spans the drawable ones of `values`, rounded outwards to ticks; 0 to 1 (or 1 to 10) if there
  /// are none. The lower end lies at `from`, the upper at `to` [px].
  SvgScale(std::span<const double> values, AxisKind kind, double from, double to);

  /// Where `value` lies; it must be drawable and in the span.
  double operator()(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  bool empty() const { return empty_; }
  bool logarithmic() const { return log_; }

 private:
  void linear(double lo, double hi, AxisKind kind);
  void decades(double lo, double hi);
  double place(double value) const;

  bool log_;
  bool empty_;
  double from_;
  double to_;
  double lo_ = 0;  ///< of the span; its decimal logarithm on a logarithmic axis
  double hi_ = 1;
  std::vector<Tick> ticks_;
};

/// A number for people: `decimals` digits after the point, powers of ten where it is very large or
/// small.
std::string chart_number(double value, int decimals);

}  // namespace corun
