#include "experiments/statistics/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "sim/base/parallel_for.hpp"
#include "sim/base/summary.hpp"
#include "sim/rng.hpp"

namespace corun {

namespace {

/// Interval around `mean` from the resampled values (consumed).
Interval interval(double mean, std::vector<double>& resampled) {
  std::erase_if(resampled, [](double x) { return std::isnan(x); });
  if (std::isnan(mean) || resampled.empty()) return {std::nan(""), std::nan(""), std::nan("")};
  std::sort(resampled.begin(), resampled.end());
  return {mean, std::min(mean, quantile(resampled, 0.025)),
          std::max(mean, quantile(resampled, 0.975))};
}

/// A metric that two policies define in different replications. A difference of their means would
/// compare different replications, so the differences themselves are resampled.
struct Unpaired {
  std::size_t metric, p, q;
  std::vector<double> differences;     ///< by replication; 0 where one of them is not defined
  std::vector<double> both;            ///< by replication: 1 where both are defined, else 0
  bool never = true;                   ///< no replication defines it for both
  std::vector<double> resampled = {};  ///< means of the resamples, then of the sample
};

std::vector<Unpaired> find_unpaired(const std::vector<std::vector<MetricValues>>& values) {
  std::vector<Unpaired> found;
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      for (std::size_t q = 0; q < p; ++q) {
        const auto& of_p = values[p];
        const auto& of_q = values[q];
        if (std::equal(of_p.begin(), of_p.end(), of_q.begin(),
                       [&](const MetricValues& a, const MetricValues& b) {
                         return std::isnan(a[m]) == std::isnan(b[m]);
                       })) {
          continue;
        }
        Unpaired& one = found.emplace_back(Unpaired{m, p, q, {}, {}});
        for (std::size_t r = 0; r < of_p.size(); ++r) {
          const double d = of_p[r][m] - of_q[r][m];
          one.differences.push_back(std::isnan(d) ? 0 : d);
          one.both.push_back(std::isnan(d) ? 0 : 1);
          one.never &= std::isnan(d);
        }
      }
    }
  }
  return found;
}

/// The metrics of one policy by replication, stored so that many resamples are summed quickly.
class PolicySample {
 public:
  explicit PolicySample(const std::vector<MetricValues>& values) : values_(values) {
    std::array<bool, kMetricCount> partly{};
    for (MetricValues& of_run : values_) {
      for (std::size_t m = 0; m < kMetricCount; ++m) partly[m] |= std::isnan(of_run[m]);
    }
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      if (!partly[m]) continue;
      Defined& metric = defined_.emplace_back(Defined{m, {}});
      for (MetricValues& of_run : values_) {
        metric.in.push_back(std::isnan(of_run[m]) ? 0 : 1);
        if (std::isnan(of_run[m])) of_run[m] = 0;  // adds nothing
      }
      if (std::ranges::count(metric.in, 1) == 0) metric.in.clear();
    }
  }

  /// Mean of each metric over those of the drawn replications that define it; NaN if none does.
  MetricValues means(std::span<const std::uint32_t> drawn) const {
    constexpr std::size_t kAhead = 8;  // the drawn values are scattered in memory
    MetricValues sum{};
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (i + kAhead < drawn.size()) {
        const auto* ahead = reinterpret_cast<const char*>(values_[drawn[i + kAhead]].data());
        for (std::size_t byte = 0; byte < sizeof(MetricValues); byte += 64) {
          __builtin_prefetch(ahead + byte);
        }
      }
      const MetricValues& v = values_[drawn[i]];
      for (std::size_t m = 0; m < kMetricCount; ++m) sum[m] += v[m];
    }
    std::array<double, kMetricCount> count;
    count.fill(static_cast<double>(drawn.size()));
    for (const Defined& metric : defined_) {
      double defined = 0;
      for (const std::uint32_t r : drawn) {
        if (metric.in.empty()) break;
        defined += metric.in[r];
      }
      count[metric.metric] = defined;
    }
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      sum[m] = count[m] > 0 ? sum[m] / count[m] : std::nan("");
    }
    return sum;
  }

 private:
  /// A metric that not every replication defines.
  struct Defined {
    std::size_t metric;
    std::vector<std::uint8_t>
        in;  ///< by replication: 1 if it defines the metric, else 0; empty: none does
  };
  std::vector<MetricValues> values_;  ///< 0 for NaN
  std::vector<Defined> defined_;
};

}  // namespace

Interval bootstrap_mean(std::span<const double> values, std::uint64_t seed) {
  const auto n = static_cast<std::uint32_t>(values.size());
  double mean = 0;
  for (const double v : values) mean += v / n;
  std::vector<double> resampled;
  for (int b = 0; b < kResamples; ++b) {
    Rng rng(seed, Stream::kBootstrap, static_cast<std::uint64_t>(b));
    double sum = 0;
    for (std::uint32_t i = 0; i < n; ++i) sum += values[rng.below(n)];
    resampled.push_back(sum / n);
  }
  return interval(mean, resampled);
}

Comparison compare(const std::vector<std::vector<MetricValues>>& values, std::uint64_t seed,
                   unsigned threads) {
  const std::size_t policies = values.size();
  const std::size_t replications = policies == 0 ? 0 : values.front().size();
  std::vector<PolicySample> samples;
  samples.reserve(policies);
  for (const auto& of_policy : values) samples.emplace_back(of_policy);
  // With one replication every resample equals the sample.
  const int resamples = replications > 1 ? kResamples : 1;
  // means[b][p][m]: mean of metric m of policy p in resample b; the last one is the sample itself.
  std::vector<std::vector<MetricValues>> means(static_cast<std::size_t>(resamples) + 1);
  std::vector<Unpaired> unpaired = find_unpaired(values);
  for (Unpaired& one : unpaired) one.resampled.resize(means.size());
  using Drawn = std::vector<std::uint32_t>;  // replications of one resample
  parallel_for_with<Drawn>(means.size(), threads, [&](std::size_t b, Drawn& drawn) {
    drawn.resize(replications);
    Rng rng(seed, Stream::kBootstrap, b);
    for (std::size_t i = 0; i < replications; ++i) {
      drawn[i] = b + 1 == means.size() ? static_cast<std::uint32_t>(i)
                                       : rng.below(static_cast<std::uint32_t>(replications));
    }
    for (const PolicySample& sample : samples) means[b].push_back(sample.means(drawn));
    for (Unpaired& one : unpaired) {
      double sum = 0;
      double count = 0;
      for (const std::uint32_t r : drawn) {
        if (one.never) break;
        sum += one.differences[r];
        count += one.both[r];
      }
      one.resampled[b] = count > 0 ? sum / count : std::nan("");
    }
  });
  const std::vector<MetricValues>& sample = means.back();
  Comparison result;
  result.policies.resize(policies);
  result.versus.assign(policies, std::vector<MetricIntervals>(policies));
  std::vector<double> resampled;
  const auto set_versus = [&](std::size_t m, std::size_t p, std::size_t q, double mean) {
    const Interval d = interval(mean, resampled);
    result.versus[p][q][m] = d;
    result.versus[q][p][m] = {-d.mean, -d.hi, -d.lo};
  };
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    for (std::size_t p = 0; p < policies; ++p) {
      resampled.clear();
      for (int b = 0; b < resamples; ++b) {
        resampled.push_back(means[static_cast<std::size_t>(b)][p][m]);
      }
      result.policies[p][m] = interval(sample[p][m], resampled);
      for (std::size_t q = 0; q < p; ++q) {
        resampled.clear();
        for (int b = 0; b < resamples; ++b) {
          const auto& mean = means[static_cast<std::size_t>(b)];
          resampled.push_back(mean[p][m] - mean[q][m]);
        }
        set_versus(m, p, q, sample[p][m] - sample[q][m]);
      }
    }
  }
  for (Unpaired& one : unpaired) {
    resampled = std::move(one.resampled);
    const double mean = resampled.back();
    resampled.pop_back();
    set_versus(one.metric, one.p, one.q, mean);
  }
  return result;
}

}  // namespace corun
