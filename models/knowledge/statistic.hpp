#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/// Count, mean, variance and quantiles of a repeatedly observed quantity, learnt one observation at a time in
/// constant memory.
///
/// Mean and variance follow Welford's recurrence with weights (West 1979). With `keep` below 1, an
/// observation multiplies the weights of all older ones by `keep`, so that old measurements fade if machines
/// change. Minimum and maximum do not fade.
///
/// Quantiles are exact up to kExact observations. Beyond, values are counted in bins of width kBinWidth
/// between kLowest and kHighest (64 kB), so that a quantile is off by at most half a bin; values outside
/// count in the outermost bins. Without fading, counts, extremes and quantiles do not depend on how
/// observations were split and merged; mean and variance only up to rounding.
namespace corun::inline models {

class Statistic {
 public:
  static constexpr std::size_t kExact = 64;
  static constexpr double kBinWidth = 0.002;  ///< 0.2 percentage points of a fraction
  static constexpr double kLowest = -1;       ///< values outside count in the outermost bins
  static constexpr double kHighest = 15;

  Statistic() = default;
  /// Observations known by count, mean and variance only. Their quantiles are not known.
  static Statistic summary(std::int64_t count, double mean, double variance);

  /// Adds an observation of weight 1 after multiplying all weights by `keep`, above 0 and at most 1.
  void add(double x, double keep = 1);
  /// Adds the observations of `other`, as equally recent.
  void merge(const Statistic& other);

  std::int64_t count() const { return count_; }
  double mean() const { return mean_; }  ///< 0 when nothing was observed
  /// Unbiased for equal weights: m2 / (n - 1). 0 for fewer than two observations.
  double variance() const;
  /// Squared sum of weights over sum of squared weights; the count if nothing fades.
  double effective_count() const;
  double min() const { return min_; }
  double max() const { return max_; }
  /// Quantile p (0 to 1), linear between order statistics (type 7); NaN if not known.
  double quantile(double p) const;
  /// Whether quantiles are known: no summary() is among the observations.
  bool has_quantiles() const { return count_ > 0 && unlisted_ == 0; }

  /// All data, for files.
  struct State {
    std::int64_t count = 0;
    std::int64_t unlisted = 0;  ///< of `count`, observations known by mean and variance only
    double weight = 0;          ///< sum of weights
    double weight2 = 0;         ///< sum of squared weights
    double mean = 0;
    double m2 = 0;  ///< weighted sum of squared deviations
    double min = 0;
    double max = 0;
    std::vector<std::pair<double, double>> values;  ///< (value, weight) in order of arrival
    std::map<int, double> bins;                     ///< weight by bin; empty if `values` is not
    friend bool operator==(const State&, const State&) = default;
  };
  State state() const;
  static Statistic from(const State& state);

 private:
  void put(double x, double weight);
  void spill();
  void fade(double keep);

  std::int64_t count_ = 0;
  std::int64_t unlisted_ = 0;
  double weight_ = 0;
  double weight2_ = 0;
  double mean_ = 0;
  double m2_ = 0;
  double min_ = 0;
  double max_ = 0;
  /// Stored weights are multiples of 1 / unit_: fading increases unit_ instead of changing all weights.
  double unit_ = 1;
  std::vector<std::pair<double, double>> values_;
  std::vector<double> bins_;  ///< empty up to kExact observations
};

}  // namespace corun::inline models
