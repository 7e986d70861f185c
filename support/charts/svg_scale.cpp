#include "support/charts/svg_scale.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace corun::inline support {

namespace {

/// The step (1, 2 or 5 times a power of ten) that gives at most about seven ticks, and its power.
double nice_step(double span, int& exponent) {
  const double raw = span / 6;
  exponent = static_cast<int>(std::floor(std::log10(raw)));
  const double power = std::pow(10.0, exponent);
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * (1 + 1e-9)) return factor * power;
  }
  ++exponent;
  return 10 * power;
}

}  // namespace

bool drawable(double value, bool logarithmic) {
  if (!std::isfinite(value) || std::abs(value) > kDrawableMax) return false;
  return !logarithmic || value >= 1 / kDrawableMax;
}

std::string chart_number(double value, int decimals) {
  const double size = std::abs(value);
  std::string text = decimals > 6 || size >= 1e7 ? fmt::format("{:.4g}", value)
                                                 : fmt::format("{:.{}f}", value, decimals);
  // "-0.00" is 0.
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

SvgScale::SvgScale(std::span<const double> values, AxisKind kind, double from, double to)
    : log_(kind == AxisKind::kLog), empty_(true), from_(from), to_(to) {
  double lo = 0;
  double hi = 0;
  for (const double v : values) {
    if (!drawable(v, log_)) continue;
    lo = empty_ ? v : std::min(lo, v);
    hi = empty_ ? v : std::max(hi, v);
    empty_ = false;
  }
  if (log_) {
    decades(empty_ ? 1 : lo, empty_ ? 10 : hi);
  } else {
    linear(lo, empty_ ? 1 : hi, kind);
  }
}

void SvgScale::linear(double lo, double hi, AxisKind kind) {
  const bool near_zero = lo > 0 ? lo < 0.4 * hi : hi < 0 && hi > 0.4 * lo;
  if (kind == AxisKind::kFromZero || near_zero) {
    lo = std::min(lo, 0.0);
    hi = std::max(hi, 0.0);
  }
  // One number, or numbers that a double hardly distinguishes, get room around them.
  const double size = std::max(std::abs(lo), std::abs(hi));
  if (hi - lo <= 1e-9 * size || hi - lo < 1e-200) {
    const double pad = size < 1e-200 ? 1 : size * 0.1;
    if (kind != AxisKind::kFromZero || lo != 0) lo -= pad;
    hi += pad;
  }
  int exponent = 0;
  const double step = nice_step(hi - lo, exponent);
  const double first = std::floor(lo / step + 1e-9);
  const double last = std::ceil(hi / step - 1e-9);
  lo_ = first * step;
  hi_ = last * step;
  // A bar that ends less than half a step beyond a tick ends the axis there, not at the next tick.
  const bool short_below = kind == AxisKind::kFromZero && (first + 1) * step - lo < 0.5 * step;
  const bool short_above = kind == AxisKind::kFromZero && hi - (last - 1) * step < 0.5 * step;
  if (short_below) lo_ = lo - 0.03 * (hi - lo);
  if (short_above) hi_ = hi + 0.03 * (hi - lo);
  for (double k = first; k <= last; ++k) {
    if (k * step < lo_ || k * step > hi_) continue;
    ticks_.push_back({place(k * step), chart_number(k * step, std::max(0, -exponent)), k == 0});
  }
}

void SvgScale::decades(double lo, double hi) {
  lo_ = std::log10(lo);
  hi_ = std::log10(hi);
  // Half a decade holds at least two of the ticks below.
  const double pad = std::max((hi_ - lo_) * 0.03, (0.5 - (hi_ - lo_)) / 2);
  lo_ -= pad;
  hi_ += pad;
  const int first = static_cast<int>(std::floor(lo_));
  const int last = static_cast<int>(std::ceil(hi_));
  const int every = std::max(1, (last - first + 7) / 8);
  for (int e = first; e <= last; ++e) {
    if ((e - first) % every != 0) continue;
    for (const int factor : {1, 2, 3, 5, 7}) {
      // A span of few decades has room for ticks within a decade.
      if (factor != 1 && hi_ - lo_ > (factor == 2 || factor == 5 ? 2.5 : 1.2)) continue;
      const double tick = e + std::log10(static_cast<double>(factor));
      if (tick < lo_ || tick > hi_) continue;
      const bool plain = e >= -4 && e <= 5;
      ticks_.push_back({place(tick), plain
                                         ? chart_number(factor * std::pow(10.0, e), std::max(0, -e))
                                         : fmt::format("{}e{}", factor, e)});
    }
  }
}

double SvgScale::place(double value) const {
  return from_ + (value - lo_) / (hi_ - lo_) * (to_ - from_);
}

double SvgScale::operator()(double value) const {
  const double share =
      std::clamp(((log_ ? std::log10(value) : value) - lo_) / (hi_ - lo_), 0.0, 1.0);
  return from_ + share * (to_ - from_);
}

}  // namespace corun::inline support
