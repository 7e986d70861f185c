#include "support/statistics/log_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace corun::inline support {

void LogHistogram::add(double value) {
  const double above = value > least_ ? std::log2(value / least_) * per_doubling_ : 0;
  const auto bin = static_cast<std::size_t>(above);
  if (bin >= bins_.size()) bins_.resize(bin + 1, 0);
  ++bins_[bin];
  ++count_;
  max_ = std::max(max_, value);
}

void LogHistogram::add(const LogHistogram& other) {
  bins_.resize(std::max(bins_.size(), other.bins_.size()), 0);
  for (std::size_t b = 0; b < other.bins_.size(); ++b) bins_[b] += other.bins_[b];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

double LogHistogram::begin_of(std::size_t bin) const {
  return least_ * std::exp2(static_cast<double>(bin) / per_doubling_);
}

double LogHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::max(1.0, std::ceil(share * static_cast<double>(count_)));
  double seen = 0;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    seen += static_cast<double>(bins_[b]);
    if (seen >= wanted) return std::min(max_, begin_of(b + 1));
  }
  return max_;
}

}  // namespace corun::inline support
