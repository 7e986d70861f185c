#pragma once

#include <span>
#include <string>
#include <vector>

/// The axis of a chart: the numbers that it spans, their positions and its ticks.
namespace corun::inline support {

/// Numbers beyond this are not drawn: their differences would not fit a double.
inline constexpr double kDrawableMax = 1e300;

/// Finite, and not too large to draw; above zero on a logarithmic axis.
bool drawable(double value, bool logarithmic = false);

enum class AxisKind {
  kLinear,    ///< extended to 0 if the numbers come near it
  kFromZero,  ///< contains 0
  kLog,       ///< numbers at or below 0 are left out
};

class SvgScale {
 public:
  struct Tick {
    double at = 0;  ///< [px]
    std::string label;
    bool zero = false;  ///< this is the tick at 0
  };

  /// Spans the drawable ones of `values`, with some room around them; 0 to 1 (or 1 to 10) if there
  /// are none. The lower end lies at `from`, the upper at `to` [px].
  SvgScale(std::span<const double> values, AxisKind kind, double from, double to);

  /// Position of `value` [px], which must be drawable; a value beyond the span is drawn at its end.
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
  double lo_ = 0;  ///< of the span; its log10 on a logarithmic axis
  double hi_ = 1;
  std::vector<Tick> ticks_;
};

/// A number with `decimals` digits after the point, or with four significant digits if it is 1e7 or
/// more or `decimals` is above 6.
std::string chart_number(double value, int decimals);

}  // namespace corun::inline support
