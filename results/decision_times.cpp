#include "results/decision_times.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace corun::inline results {

namespace {

std::string spell(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

}  // namespace

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

}  // namespace corun::inline results
