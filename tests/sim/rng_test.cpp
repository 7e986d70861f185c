#include "sim/rng.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <boost/math/distributions/gamma.hpp>
#include <gtest/gtest.h>

#include "sim/base/math.hpp"

namespace corun::rng_test {
namespace {

using Block = std::array<std::uint32_t, 4>;

/// The test vectors published with the reference code of Philox (kat_vectors).
TEST(Rng, PhiloxGivesThePublishedNumbers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, SameKeySameNumbers) {
  Rng a(7, Stream::kTest, 3);
  Rng b(7, Stream::kTest, 3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(Rng, ManyNormalsAreThoseDrawnOneByOne) {
  Rng one(7, Stream::kTest, 5);
  Rng many(7, Stream::kTest, 5);
  for (const std::size_t count : {0U, 1U, 2U, 9U, 16U, 17U, 33U, 1000U}) {
    std::vector<double> drawn(count);
    many.normals(drawn);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(drawn[i], one.normal()) << count << " " << i;
    ASSERT_EQ(many.next(), one.next());  // an odd place in a block of four
  }
}

TEST(Rng, DrawsManyUniformsAndGammasAsOneByOne) {
  Rng one(7, Stream::kTest, 6);
  Rng many(7, Stream::kTest, 6);
  for (const double shape :
       {0.5, 1.0, 1.2, 3.5, 200.0}) {  // near 1 a trial often ends with its normal
    for (const std::size_t count : {0U, 1U, 2U, 9U, 17U, 33U, 5000U}) {
      std::vector<double> drawn(count);
      many.gammas(shape, drawn);
      for (const double x : drawn) ASSERT_EQ(x, one.gamma(shape)) << shape << " " << count;
      many.uniforms(drawn);
      for (const double x : drawn) ASSERT_EQ(x, one.uniform()) << shape << " " << count;
    }
    ASSERT_EQ(many.next(), one.next());  // an odd place in a block of four
  }
}

TEST(Rng, SeedStreamAndEntityAllMatter) {
  std::set<std::uint32_t> first;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1} << 32}) {
    for (const Stream stream : {Stream::kTest, Stream::kEpsilon}) {
      for (const std::uint64_t entity :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
        first.insert(Rng(seed, stream, entity).next());
      }
    }
  }
  EXPECT_EQ(first.size(), 18U);
}

/// One more draw for one entity never shifts another's numbers.
TEST(Rng, DrawsOfOneEntityDoNotDependOnDrawsOfAnother) {
  std::vector<double> alone;
  Rng b(5, Stream::kTest, 2);
  for (int i = 0; i < 20; ++i) alone.push_back(b.uniform());

  Rng a(5, Stream::kTest, 1);
  Rng again(5, Stream::kTest, 2);
  for (int i = 0; i < 20; ++i) {
    for (int extra = 0; extra < i; ++extra) a.next();
    EXPECT_EQ(again.uniform(), alone[static_cast<std::size_t>(i)]);
  }
}

TEST(Rng, UniformIsInRangeAndFlat) {
  Rng rng(1, Stream::kTest);
  constexpr int kDraws = 100000;
  std::array<int, 10> bins{};
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<std::size_t>(u * 10)];
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * 0.2887 / std::sqrt(kDraws));
  double chi2 = 0;  // 9 degrees of freedom: above 34 with probability 1e-4
  for (const int n : bins) chi2 += (n - kDraws / 10.0) * (n - kDraws / 10.0) / (kDraws / 10.0);
  EXPECT_LT(chi2, 34);
}

TEST(Rng, BelowIsFlatForAwkwardRanges) {
  Rng rng(2, Stream::kTest);
  for (const std::uint32_t n : {1U, 2U, 3U, 7U, 10U}) {
    std::vector<int> count(n);
    constexpr int kDraws = 50000;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t v = rng.below(n);
      ASSERT_LT(v, n);
      ++count[v];
    }
    double chi2 = 0;
    const double expected = static_cast<double>(kDraws) / n;
    for (const int c : count) chi2 += (c - expected) * (c - expected) / expected;
    EXPECT_LT(chi2, 40) << n;
  }
  // A range of 3 * 2^30: without rejection one third of it would come up twice as often.
  constexpr std::uint32_t kLarge = 3U << 30;
  std::array<int, 3> third{};
  for (int i = 0; i < 30000; ++i) ++third[rng.below(kLarge) >> 30];
  for (const int t : third) EXPECT_NEAR(t, 10000, 5 * 82);
}

TEST(Rng, NormalHasTheMomentsAndTailsOfANormal) {
  Rng rng(3, Stream::kTest);
  constexpr int kDraws = 200000;
  double sum = 0, square = 0;
  int beyond_1 = 0, beyond_2 = 0, beyond_3 = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    square += x * x;
    beyond_1 += std::fabs(x) > 1;
    beyond_2 += std::fabs(x) > 2;
    beyond_3 += std::fabs(x) > 3;
  }
  const auto share_error = [](double p) { return 5 * std::sqrt(p * (1 - p) / kDraws); };
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(square / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(beyond_1 / double{kDraws}, 0.317311, share_error(0.317311));
  EXPECT_NEAR(beyond_2 / double{kDraws}, 0.045500, share_error(0.045500));
  EXPECT_NEAR(beyond_3 / double{kDraws}, 0.002700, share_error(0.002700));
}

TEST(Rng, ExponentialHasItsMeanAndIsPositive) {
  Rng rng(4, Stream::kTest);
  constexpr int kDraws = 100000;
  double sum = 0;
  int above_mean = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.exponential(20);
    ASSERT_GE(x, 0);
    sum += x;
    above_mean += x > 20;
  }
  EXPECT_NEAR(sum / kDraws, 20, 5 * 20 / std::sqrt(kDraws));
  EXPECT_NEAR(above_mean / double{kDraws}, std::exp(-1), 0.008);
}

/// Shapes on both sides of 1, where the method changes.
TEST(Rng, GammaIsAGamma) {
  std::uint64_t entity = 0;
  for (const double shape : {0.3, 1.0, 4.5, 80.0}) {
    Rng rng(5, Stream::kTest, ++entity);
    constexpr int kDraws = 100000;
    std::vector<double> draws;
    double sum = 0, square = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = rng.gamma(shape);
      ASSERT_TRUE(x >= 0 && std::isfinite(x)) << shape;
      draws.push_back(x);
      sum += x;
      square += (x - shape) * (x - shape);
    }
    EXPECT_NEAR(sum / kDraws, shape, 5 * std::sqrt(shape / kDraws)) << shape;
    // The fourth central moment is 3 shape^2 + 6 shape.
    EXPECT_NEAR(square / kDraws, shape, 5 * std::sqrt((2 * shape * shape + 6 * shape) / kDraws))
        << shape;
    std::sort(draws.begin(), draws.end());
    const boost::math::gamma_distribution<double> gamma(shape);
    double distance = 0;  // Kolmogorov and Smirnov's; above 2.2 / sqrt(n) with probability 1e-4
    for (int i = 0; i < kDraws; ++i) {
      const double p = boost::math::cdf(gamma, draws[static_cast<std::size_t>(i)]);
      distance = std::max({distance, p - i / double{kDraws}, (i + 1) / double{kDraws} - p});
    }
    EXPECT_LT(distance, 2.2 / std::sqrt(kDraws)) << shape;
  }
}

TEST(Rng, GammaIsRepeatable) {
  for (const double shape : {0.01, 0.3, 1.0, 80.0}) {
    Rng a(6, Stream::kTest, 1);
    Rng b(6, Stream::kTest, 1);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(a.gamma(shape), b.gamma(shape));
  }
  // Below 1: a draw for shape + 1, then a uniform one.
  Rng rng(6, Stream::kTest, 2);
  Rng parts(6, Stream::kTest, 2);
  const double above = parts.gamma(1.25);
  EXPECT_EQ(rng.gamma(0.25), above * math::exp(4 * math::log(1 - parts.uniform())));
}

TEST(Rng, ShuffleIsAPermutationAndEachPlaceIsEquallyLikely) {
  std::array<std::array<int, 4>, 4> seen{};
  constexpr int kShuffles = 20000;
  for (int i = 0; i < kShuffles; ++i) {
    Rng rng(9, Stream::kTest, static_cast<std::uint64_t>(i));
    std::array<int, 4> items{0, 1, 2, 3};
    rng.shuffle(std::span<int>(items));
    auto sorted = items;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, (std::array<int, 4>{0, 1, 2, 3}));
    for (std::size_t p = 0; p < 4; ++p) ++seen[static_cast<std::size_t>(items[p])][p];
  }
  for (const auto& item : seen) {
    for (const int n : item) EXPECT_NEAR(n, kShuffles / 4.0, 5 * 62);
  }
}

TEST(Rng, HashOfEntityDependsOnValuesOrderAndLength) {
  const auto hash = [](std::vector<std::uint32_t> v) { return hash_entity(v); };
  EXPECT_EQ(hash({1, 2}), hash({1, 2}));
  const std::set<std::uint64_t> all{hash({}),     hash({0}),       hash({0, 0}), hash({1, 2}),
                                    hash({2, 1}), hash({1, 2, 0}), hash({12}),   hash({3})};
  EXPECT_EQ(all.size(), 8U);
}

}  // namespace
}  // namespace corun::rng_test
