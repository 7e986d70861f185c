#include "services/latency_record.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::latency_record_test {
namespace {

TEST(LatencyRecord, BinsFollowEachOtherAndAreNarrow) {
  for (std::size_t bin = 0; bin < 14'000; ++bin) {
    const Duration begin = LatencyRecord::begin_of(bin);
    const Duration next = LatencyRecord::begin_of(bin + 1);
    ASSERT_LT(begin, next);
    ASSERT_EQ(LatencyRecord::bin_of(begin), bin);
    ASSERT_EQ(LatencyRecord::bin_of(next - Duration{1}), bin);
    ASSERT_LE((next - begin).count(), 1 + begin.count() / 256);
  }
}

TEST(LatencyRecord, QuantilesAreWithinTheStatedError) {
  Rng rng(5, Stream::kTest);
  std::vector<double> values;
  LatencyRecord record;
  for (int i = 0; i < 20'000; ++i) {
    const Duration latency = from_seconds(0.01 * rng.exponential(1) * rng.exponential(1));
    values.push_back(to_seconds(latency));
    record.add(latency);
  }
  std::ranges::sort(values);
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = values[static_cast<std::size_t>(std::ceil(share * 20'000)) - 1];
    EXPECT_NEAR(record.quantile_s(share), exact, exact / 512 + 1e-9) << share;
    const double within = record.share_within(from_seconds(exact));
    EXPECT_NEAR(within, share, 0.004) << share;
  }
  double sum = 0;
  for (const double v : values) sum += v;
  EXPECT_NEAR(record.mean_s(), sum / 20'000, 1e-12);
  EXPECT_EQ(to_seconds(record.max()), values.back());
}

TEST(LatencyRecord, MergesInAnyOrder) {
  LatencyRecord one, other, all;
  for (int i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : other).add(Duration{i * i * 977});
    all.add(Duration{i * i * 977});
  }
  LatencyRecord forth = one, back = other;
  forth.add(other);
  back.add(one);
  for (const LatencyRecord* merged : {&forth, &back}) {
    EXPECT_EQ(merged->count(), all.count());
    EXPECT_EQ(merged->mean_s(), all.mean_s());
    EXPECT_EQ(merged->max(), all.max());
    EXPECT_EQ(merged->quantile_s(0.9), all.quantile_s(0.9));
  }
  LatencyRecord weighted;
  weighted.add(Duration{300}, 7);
  EXPECT_EQ(weighted.count(), 7U);
  EXPECT_DOUBLE_EQ(weighted.mean_s(), 300e-9);
}

TEST(LatencyRecord, OfNothing) {
  const LatencyRecord none;
  EXPECT_EQ(none.count(), 0U);
  EXPECT_EQ(none.mean_s(), 0);
  EXPECT_EQ(none.quantile_s(0.99), 0);
  EXPECT_EQ(none.share_within(Duration{0}), 1);
}

}  // namespace
}  // namespace corun::latency_record_test
