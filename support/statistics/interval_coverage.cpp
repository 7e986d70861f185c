#include "support/statistics/interval_coverage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/nan.hpp"
#include "sim/base/summary.hpp"
#include "sim/rng.hpp"
#include "support/statistics/mean_interval.hpp"

namespace corun::inline support {

namespace {

using Values = std::vector<std::vector<MetricValues>>;

/// The first `n` entries of `all` become a random sample without replacement.
void draw(std::vector<std::uint32_t>& all, std::size_t n, Rng& rng) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto left = static_cast<std::uint32_t>(all.size() - i);
    std::swap(all[i], all[i + rng.below(left)]);
  }
}

/// Trials of one size for one policy and metric.
struct Tally {
  std::size_t trials = 0, held = 0, approximate = 0;

  /// `others`: mean of the replications that are not in the sample.
  void add(const Interval& interval, double others) {
    if (!interval.known() || std::isnan(others)) return;
    ++trials;
    // Equal values have an interval of no width; sums differ in their last digits.
    const double slack = 1e-9 * std::abs(others);
    held += interval.lo - slack <= others && others <= interval.hi + slack ? 1 : 0;
    approximate += interval.approximate ? 1 : 0;
  }
  double share(std::size_t of) const {
    return trials == 0 ? kNaN : static_cast<double>(of) / static_cast<double>(trials);
  }
};

/// A metric of a policy over all replications.
struct Series {
  std::vector<double> values;
  RunningMean all;
  bool varies = false;

  Series(const std::vector<MetricValues>& runs, std::size_t metric) {
    for (const MetricValues& run : runs) {
      values.push_back(run[metric]);
      all.add_if_known(run[metric]);
      varies |= !std::isnan(run[metric]) && run[metric] != values.front();
    }
  }
  void add_trial(std::span<const std::uint32_t> drawn, std::vector<double>& sample,
                 Tally& tally) const {
    sample.clear();
    for (const std::uint32_t r : drawn) {
      if (!std::isnan(values[r])) sample.push_back(values[r]);
    }
    const double in_sample = std::accumulate(sample.begin(), sample.end(), 0.0);
    const auto total = static_cast<double>(all.count());
    const auto left = static_cast<double>(all.count() - sample.size());
    tally.add(mean_interval(sample), left > 0 ? (all.value() * total - in_sample) / left : kNaN);
  }
};

}  // namespace

std::vector<IntervalCoverage> interval_coverage(const Values& values, std::uint64_t seed) {
  std::vector<IntervalCoverage> out;
  std::vector<Series> series;
  for (std::size_t p = 0; p < values.size(); ++p) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      Series one(values[p], m);
      if (!one.varies) continue;
      series.push_back(std::move(one));
      out.push_back({p, static_cast<Metric>(m)});
    }
  }
  std::vector<std::uint32_t> all(values.empty() ? 0 : values.front().size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<double> sample;
  for (std::size_t size = 0; size < kCoverageSizes.size(); ++size) {
    std::vector<Tally> tallies(series.size());
    for (std::size_t trial = 0; trial < kCoverageTrials; ++trial) {
      Rng rng(seed, Stream::kCoverage, trial);
      draw(all, kCoverageSizes[size], rng);
      const auto drawn = std::span(all).first(kCoverageSizes[size]);
      for (std::size_t s = 0; s < series.size(); ++s)
        series[s].add_trial(drawn, sample, tallies[s]);
    }
    for (std::size_t s = 0; s < series.size(); ++s) {
      out[s].held[size] = tallies[s].share(tallies[s].held);
      out[s].approximate[size] = tallies[s].share(tallies[s].approximate);
    }
  }
  return out;
}

}  // namespace corun::inline support
