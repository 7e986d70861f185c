#include "experiments/bootstrap.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

Comparison compare(const std::vector<std::vector<MetricValues>>& values, std::uint64_t seed) {
  const std::size_t policies = values.size();
  const std::size_t replications = policies == 0 ? 0 : values.front().size();
  // means[b][p][m]: mean of metric m of policy p in resample b; the last one is the sample itself.
  std::vector<std::vector<MetricValues>> means;
  std::vector<std::uint32_t> drawn(replications);
  for (int b = 0; b <= kResamples; ++b) {
    Rng rng(seed, Stream::kBootstrap, static_cast<std::uint64_t>(b));
    for (std::size_t i = 0; i < replications; ++i) {
      drawn[i] = b == kResamples ? static_cast<std::uint32_t>(i)
                                 : rng.below(static_cast<std::uint32_t>(replications));
    }
    std::vector<MetricValues>& of_policy = means.emplace_back(policies);
    for (std::size_t p = 0; p < policies; ++p) {
      MetricValues sum{};
      std::array<double, kMetricCount> count{};
      for (const std::uint32_t r : drawn) {
        const MetricValues& v = values[p][r];
        for (std::size_t m = 0; m < kMetricCount; ++m) {
          if (std::isnan(v[m])) continue;
          sum[m] += v[m];
          count[m] += 1;
        }
      }
      for (std::size_t m = 0; m < kMetricCount; ++m) {
        of_policy[p][m] = count[m] > 0 ? sum[m] / count[m] : std::nan("");
      }
    }
  }
  const std::vector<MetricValues>& sample = means[kResamples];
  Comparison result;
  result.policies.resize(policies);
  result.versus.assign(policies, std::vector<MetricIntervals>(policies));
  std::vector<double> resampled;
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    for (std::size_t p = 0; p < policies; ++p) {
      resampled.clear();
      for (int b = 0; b < kResamples; ++b) {
        resampled.push_back(means[static_cast<std::size_t>(b)][p][m]);
      }
      result.policies[p][m] = interval(sample[p][m], resampled);
      for (std::size_t q = 0; q < p; ++q) {
        resampled.clear();
        for (int b = 0; b < kResamples; ++b) {
          const auto& mean = means[static_cast<std::size_t>(b)];
          resampled.push_back(mean[p][m] - mean[q][m]);
        }
        const Interval d = interval(sample[p][m] - sample[q][m], resampled);
        result.versus[p][q][m] = d;
        result.versus[q][p][m] = {-d.mean, -d.hi, -d.lo};
      }
    }
  }
  return result;
}

}  // namespace corun
