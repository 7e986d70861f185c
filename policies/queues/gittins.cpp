#include "policies/queues/gittins.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace corun::inline policies {

GittinsIndex::GittinsIndex(std::vector<double> services, double quantum, GittinsFormula formula)
    : services_(std::move(services)), quantum_(quantum), formula_(formula) {
  std::ranges::sort(services_);
  sums_.push_back(0);
  for (const double s : services_) sums_.push_back(sums_.back() + s);
  if (formula_ == GittinsFormula::kDefinition) return;
  for (const double s : services_) table_.push_back(of(s - 1));
}

double GittinsIndex::at(double attained) const {
  const auto first = std::ranges::upper_bound(services_, attained);
  if (first == services_.end()) return 0;
  if (formula_ == GittinsFormula::kDefinition) return of(attained);
  return table_[static_cast<std::size_t>(first - services_.begin())];
}

/// The index at a service below the largest of the sample.
double GittinsIndex::of(double attained) const {
  const auto above = [this](double service) {
    return static_cast<std::size_t>(std::ranges::upper_bound(services_, service) -
                                    services_.begin());
  };
  const std::size_t first = above(attained);
  std::size_t end = above(attained + quantum_);
  const auto left = static_cast<double>(services_.size() - first);
  if (formula_ == GittinsFormula::kDefinition) {
    const auto ending = static_cast<double>(end - first);
    return ending / (sums_[end] - sums_[first] - attained * ending + quantum_ * (left - ending));
  }
  if (attained + quantum_ > services_.back() - 1) end = services_.size() - 1;
  const auto ending = static_cast<double>(end - first);
  const double p = std::round(ending / left * 1e5) / 1e5;
  const double e =
      std::round((sums_[end] - sums_[first] + quantum_ * (left - ending)) / left * 1e5) / 1e5;
  return std::round(p * 1e6 / e * 1e4) / 1e10;
}

}  // namespace corun::inline policies
