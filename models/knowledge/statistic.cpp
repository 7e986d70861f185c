#include "models/knowledge/statistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun::inline models {

namespace {

constexpr std::size_t kBins = 8000;
static_assert(static_cast<double>(kBins) * Statistic::kBinWidth ==
              Statistic::kHighest - Statistic::kLowest);

/// A bin with a smaller share of all weight is left out of the state.
constexpr double kFaded = 1e-15;

std::size_t bin_of(double x) {
  const double at = std::floor((x - Statistic::kLowest) / Statistic::kBinWidth);
  return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(kBins - 1)));
}

double middle_of(std::size_t bin) {
  return Statistic::kLowest + (static_cast<double>(bin) + 0.5) * Statistic::kBinWidth;
}

}  // namespace

Statistic Statistic::summary(std::int64_t count, double mean, double variance) {
  Statistic s;
  s.count_ = s.unlisted_ = count;
  s.weight_ = s.weight2_ = static_cast<double>(count);
  s.mean_ = s.min_ = s.max_ = mean;
  s.m2_ = variance * static_cast<double>(count - 1);
  return s;
}

void Statistic::add(double x, double keep) {
  if (keep != 1) fade(keep);
  min_ = count_ == 0 ? x : std::min(min_, x);
  max_ = count_ == 0 ? x : std::max(max_, x);
  ++count_;
  weight_ += 1;
  weight2_ += 1;
  const double d = x - mean_;
  mean_ += d / weight_;
  m2_ += d * (x - mean_);
  put(x, unit_);
}

void Statistic::fade(double keep) {
  weight_ *= keep;
  weight2_ *= keep * keep;
  m2_ *= keep;
  unit_ /= keep;
  constexpr double kLarge = 1e100;
  if (unit_ < kLarge) return;
  for (auto& [value, weight] : values_) weight /= unit_;
  for (double& weight : bins_) weight /= unit_;
  unit_ = 1;
}

void Statistic::put(double x, double weight) {
  if (bins_.empty() && values_.size() < kExact) {
    values_.emplace_back(x, weight);
    return;
  }
  if (bins_.empty()) spill();
  bins_[bin_of(x)] += weight;
}

void Statistic::spill() {
  bins_.assign(kBins, 0);
  for (const auto& [value, weight] : values_) bins_[bin_of(value)] += weight;
  values_.clear();
}

void Statistic::merge(const Statistic& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const double d = other.mean_ - mean_;
  const double total = weight_ + other.weight_;
  mean_ += d * (other.weight_ / total);
  m2_ += other.m2_ + d * d * (weight_ * other.weight_ / total);
  weight_ = total;
  weight2_ += other.weight2_;
  count_ += other.count_;
  unlisted_ += other.unlisted_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  const double scale = unit_ / other.unit_;
  if (!other.bins_.empty() && bins_.empty()) spill();
  for (const auto& [value, weight] : other.values_) put(value, weight * scale);
  for (std::size_t b = 0; b < other.bins_.size(); ++b) bins_[b] += other.bins_[b] * scale;
}

double Statistic::variance() const {
  if (count_ < 2) return 0;
  const double free = weight_ - weight2_ / weight_;
  return free > 0 ? m2_ / free : 0;
}

double Statistic::effective_count() const {
  return weight2_ > 0 ? weight_ * weight_ / weight2_ : 0;
}

double Statistic::quantile(double p) const {
  if (!has_quantiles()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<double, double>> sorted = state().values;
  for (const auto& [bin, weight] : state().bins) {
    sorted.emplace_back(std::clamp(middle_of(static_cast<std::size_t>(bin)), min_, max_), weight);
  }
  std::sort(sorted.begin(), sorted.end());
  if (p <= 0 || sorted.size() == 1) return p <= 0 ? min_ : (p >= 1 ? max_ : sorted.front().first);
  if (p >= 1) return max_;
  // Each entry covers its weight on a line. A single observation is at the middle of its part; a bin of
  // several observations is constant from the middle of the first to the middle of the last. p runs from the
  // first observation to the last: with equal weights, observation i is at i / (n - 1).
  const auto edge = [](double weight) { return std::min(weight, 1.0) / 2; };
  double total = 0;
  for (const auto& [value, weight] : sorted) total += weight;
  const double begin = edge(sorted.front().second);
  const double target = begin + p * (total - edge(sorted.back().second) - begin);
  double before = 0;
  double left_at = begin;
  double left = sorted.front().first;
  for (const auto& [value, weight] : sorted) {
    const double from = before + edge(weight);
    if (target <= from) {
      const double share = from > left_at ? (target - left_at) / (from - left_at) : 1;
      return left + share * (value - left);
    }
    left_at = before + weight - edge(weight);
    left = value;
    if (target <= left_at) return value;
    before += weight;
  }
  return max_;
}

Statistic::State Statistic::state() const {
  State s{count_, unlisted_, weight_, weight2_, mean_, m2_, min_, max_, values_, {}};
  for (auto& [value, weight] : s.values) weight /= unit_;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    const double weight = bins_[b] / unit_;
    if (weight > kFaded * weight_) s.bins.emplace(static_cast<int>(b), weight);
  }
  return s;
}

Statistic Statistic::from(const State& state) {
  Statistic s;
  s.count_ = state.count;
  s.unlisted_ = state.unlisted;
  s.weight_ = state.weight;
  s.weight2_ = state.weight2;
  s.mean_ = state.mean;
  s.m2_ = state.m2;
  s.min_ = state.min;
  s.max_ = state.max;
  s.values_ = state.values;
  if (!state.bins.empty()) {
    s.bins_.assign(kBins, 0);
    for (const auto& [bin, weight] : state.bins) s.bins_[static_cast<std::size_t>(bin)] = weight;
  }
  return s;
}

}  // namespace corun::inline models
