#include "models/knowledge/statistic.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::statistic_test {
namespace {

/// Mean, variance and quantiles in two passes over all observations.
struct Batch {
  double mean = 0;
  double variance = 0;
  std::vector<double> sorted;

  explicit Batch(std::vector<double> x) : sorted(std::move(x)) {
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<double>(sorted.size());
    for (const double v : sorted) mean += v / n;
    for (const double v : sorted) variance += (v - mean) * (v - mean) / (n - 1);
  }
  double quantile(double p) const {
    const double at = p * static_cast<double>(sorted.size() - 1);
    const auto i = static_cast<std::size_t>(at);
    if (i + 1 >= sorted.size()) return sorted.back();
    return sorted[i] + (at - static_cast<double>(i)) * (sorted[i + 1] - sorted[i]);
  }
};

std::vector<double> draw(std::uint64_t seed, std::size_t n) {
  Rng rng(seed, Stream::kEstimates);
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(std::exp(rng.normal()) * 0.15 - 0.02);
  return x;
}

TEST(Statistic, OneByOneIsTheBatchFormula) {
  for (const std::size_t n : {2U, 3U, 7U, 64U, 65U, 1000U}) {
    const auto x = draw(n, n);
    Statistic s;
    for (const double v : x) s.add(v);
    const Batch batch(x);
    EXPECT_EQ(s.count(), static_cast<std::int64_t>(n));
    EXPECT_NEAR(s.mean(), batch.mean, 1e-13);
    EXPECT_NEAR(s.variance(), batch.variance, 1e-12);
    EXPECT_EQ(s.min(), batch.sorted.front());
    EXPECT_EQ(s.max(), batch.sorted.back());
    EXPECT_EQ(s.quantile(0), batch.sorted.front());
    EXPECT_EQ(s.quantile(1), batch.sorted.back());
    // Exact while all values are kept; beyond, up to half a bin off for each of two neighbours.
    const double off = n <= Statistic::kExact ? 1e-14 : Statistic::kBinWidth;
    for (const double p : {0.1, 0.25, 0.5, 0.75, 0.9}) {
      EXPECT_NEAR(s.quantile(p), batch.quantile(p), off) << n << " observations, p " << p;
    }
  }
}

TEST(Statistic, MergingIsObservingBoth) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed, Stream::kEstimates, 1);
    const auto x = draw(seed, 1 + rng.below(static_cast<std::uint32_t>(200)));
    const std::size_t boxes = 1 + rng.below(static_cast<std::uint32_t>(5));
    std::vector<Statistic> parts(boxes);
    Statistic whole;
    for (const double v : x) {
      whole.add(v);
      parts[rng.below(static_cast<std::uint32_t>(boxes))].add(v);
    }
    Statistic merged;
    for (std::size_t i = boxes; i-- > 0;) merged.merge(parts[i]);
    EXPECT_EQ(merged.count(), whole.count());
    EXPECT_EQ(merged.min(), whole.min());
    EXPECT_EQ(merged.max(), whole.max());
    EXPECT_NEAR(merged.mean(), whole.mean(), 1e-12);
    EXPECT_NEAR(merged.variance(), whole.variance(), 1e-12);
    EXPECT_EQ(merged.state().bins, whole.state().bins);
    for (const double p : {0.25, 0.5, 0.75}) {
      EXPECT_NEAR(merged.quantile(p), whole.quantile(p), 1e-14) << "seed " << seed;
    }
  }
}

TEST(Statistic, FadingForgetsAtTheRateItSays) {
  // Ten zeros, then n ones that each take a fifth of the older weights: the zeros keep 0.8^n of their weight.
  constexpr double kKeep = 0.8;
  Statistic s;
  for (int i = 0; i < 10; ++i) s.add(0, kKeep);
  double zeros = 0;
  for (int i = 0; i < 10; ++i) zeros = zeros * kKeep + 1;
  double ones = 0;
  for (int n = 1; n <= 30; ++n) {
    s.add(1, kKeep);
    zeros *= kKeep;
    ones = ones * kKeep + 1;
    EXPECT_NEAR(s.mean(), ones / (zeros + ones), 1e-12);
  }
  EXPECT_NEAR(s.effective_count(), (1 + kKeep) / (1 - kKeep), 1e-2);  // the limit of both sums
  EXPECT_EQ(s.count(), 40);
  EXPECT_EQ(s.quantile(0.5), 1);
  EXPECT_EQ(s.min(), 0);
}

TEST(Statistic, FadingSurvivesMillionsOfObservations) {
  // The unit of the stored weights grows by 1 / keep each time and is reset before it overflows.
  Statistic s;
  for (int i = 0; i < 2'000'000; ++i) s.add(i < 1'999'000 ? 5.0 : 0.1, 0.9);
  EXPECT_NEAR(s.mean(), 0.1, 1e-9);
  EXPECT_NEAR(s.quantile(0.5), 0.1, Statistic::kBinWidth);
  EXPECT_TRUE(std::isfinite(s.variance()));
}

TEST(Statistic, FewOrSummarisedObservationsPromiseNothing) {
  const Statistic empty;
  EXPECT_EQ(empty.count(), 0);
  EXPECT_EQ(empty.mean(), 0);
  EXPECT_EQ(empty.variance(), 0);
  EXPECT_TRUE(std::isnan(empty.quantile(0.5)));
  Statistic one;
  one.add(0.3);
  EXPECT_EQ(one.variance(), 0);
  EXPECT_EQ(one.quantile(0.5), 0.3);
  Statistic summary = Statistic::summary(4, 0.1, 0.004);
  EXPECT_DOUBLE_EQ(summary.variance(), 0.004);
  EXPECT_FALSE(summary.has_quantiles());
  EXPECT_TRUE(std::isnan(summary.quantile(0.5)));
  summary.add(0.1);
  EXPECT_EQ(summary.count(), 5);
  EXPECT_NEAR(summary.variance(), 0.003, 1e-15);
  EXPECT_TRUE(std::isnan(summary.quantile(0.5))) << "four of the five are unknown";
}

TEST(Statistic, ValuesBeyondTheBinsAreKeptAtTheEnds) {
  Statistic s;
  for (int i = 0; i < 200; ++i) s.add(i % 2 == 0 ? -7.0 : 4000.0);
  EXPECT_EQ(s.quantile(0), -7);
  EXPECT_EQ(s.quantile(1), 4000);
  EXPECT_EQ(s.mean(), 1996.5);
}

TEST(Statistic, StateComesBackBitForBit) {
  for (const std::size_t n : {1U, 30U, 64U, 65U, 500U}) {
    Statistic s;
    for (const double v : draw(n + 7, n)) s.add(v);
    Statistic back = Statistic::from(s.state());
    EXPECT_EQ(back.state(), s.state());
    s.add(0.25);
    back.add(0.25);
    EXPECT_EQ(back.state(), s.state());
  }
}

}  // namespace
}  // namespace corun::statistic_test
