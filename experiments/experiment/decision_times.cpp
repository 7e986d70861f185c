#include "experiments/experiment/decision_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace corun {

namespace {

constexpr double kLeast = 1e-9;  // [s], start of the first bin; clocks resolve no less
constexpr double kPerDoubling = 16;

std::string spell(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace

void DecisionTimes::add(double seconds) {
  const double above = seconds > kLeast ? std::log2(seconds / kLeast) * kPerDoubling : 0;
  const auto bin = static_cast<std::size_t>(above);
  if (bin >= bins_.size()) bins_.resize(bin + 1, 0);
  ++bins_[bin];
  ++passes_;
  max_s_ = std::max(max_s_, seconds);
}

void DecisionTimes::add(const DecisionTimes& other) {
  bins_.resize(std::max(bins_.size(), other.bins_.size()), 0);
  for (std::size_t b = 0; b < other.bins_.size(); ++b) bins_[b] += other.bins_[b];
  passes_ += other.passes_;
  max_s_ = std::max(max_s_, other.max_s_);
}

double DecisionTimes::quantile_s(double share) const {
  if (passes_ == 0) return 0;
  const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(passes_)));
  double seen = 0;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    seen += bins_[b];
    if (seen >= wanted) {
      return std::min(max_s_, kLeast * std::exp2(static_cast<double>(b + 1) / kPerDoubling));
    }
  }
  return max_s_;
}

std::string text_of(const DecisionTimes& times) {
  return fmt::format("{} passes, p50 {}, p95 {}, p99 {}, longest {}", times.passes(),
                     spell(times.quantile_s(0.5)), spell(times.quantile_s(0.95)),
                     spell(times.quantile_s(0.99)), spell(times.max_s()));
}

void PlanLosses::add(double cost, double least) {
  const double loss = cost > least ? (cost - least) / std::max(std::abs(cost), 1e-300) : 0;
  ++plans;
  sum += loss;
  worst = std::max(worst, loss);
}

void PlanLosses::add(const PlanLosses& other) {
  plans += other.plans;
  sum += other.sum;
  worst = std::max(worst, other.worst);
}

}  // namespace corun
