#include "models/knowledge/synthetic.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace corun::synthetic_test {
namespace {

using Values = std::vector<double>;

const Values kRows{0, 5, 10, 15, 20};
const Values kMobileNet{46.07, 50.6, 47.93, 39.53, 23.87};  // measured MGUP of the data set

TEST(Synthetic, PositionsLieEvenlyBetweenNeighbours) {
  EXPECT_EQ(positions_between(kRows, 4),
            (Values{1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19}));
  EXPECT_EQ(positions_between(Values{1024, 256}, 2), (Values{768, 512}));
  EXPECT_TRUE(positions_between(Values{7}, 4).empty());
  EXPECT_TRUE(positions_between(kRows, 0).empty());
  EXPECT_THROW(positions_between(kRows, -1), std::invalid_argument);
  EXPECT_THROW(positions_between(Values{}, 1), std::invalid_argument);
}

TEST(Synthetic, ValuesAreClippedThenShortened) {
  const Values x{0, 1, 2, 3};
  const Values y{90, 99.996, 99.996, 0};
  const Values at{1.5, 3.2};
  const Values raw = generate(Technique::kKrogh, x, y, at, {false, {}, Rounding::kNearest});
  EXPECT_NEAR(raw[0], 106.874, 0.01);
  EXPECT_LT(raw[1], 0);
  EXPECT_EQ(generate(Technique::kKrogh, x, y, at), (Values{100, 0}));
  const Values points{1, 2};
  EXPECT_EQ(generate(Technique::kLinear, x, y, points, {true, 2, Rounding::kNearest}),
            (Values{100, 100}));
  EXPECT_EQ(generate(Technique::kLinear, x, y, points, {true, 2, Rounding::kCut}),
            (Values{99.99, 99.99}));
  // A multiple of 0.01 stays, although 0.29 * 100 is below 29.
  EXPECT_EQ(
      generate(Technique::kLinear, x, Values{0.29, 0, 0, 0}, Values{0}, {true, 2, Rounding::kCut}),
      Values{0.29});
  EXPECT_THROW(generate(Technique::kLinear, x, y, at, {true, -1, Rounding::kCut}),
               std::invalid_argument);
}

TEST(Synthetic, TheBlindTestOfStraightLinesByHand) {
  // Samples 10, 20 (between 0 and 30), then 20, 10: the ends are held, the peak becomes 20.
  const Values x{0, 3, 6};
  const Values y{0, 30, 0};
  const Regeneration r = regenerate(Technique::kLinear, x, y, Values{1, 2, 4, 5});
  EXPECT_EQ(r.values, (Values{10, 20, 10}));
  EXPECT_NEAR(r.rmse, 10, 1e-12);
  EXPECT_NEAR(r.mae, 10, 1e-12);
  const Regeneration other =
      regenerate(Technique::kLinear, x, y, Values{1, 2, 4, 5}, Values{10, 20, 40});
  EXPECT_NEAR(other.rmse, 30 / std::sqrt(3), 1e-12);
  EXPECT_NEAR(other.mae, 10, 1e-12);
  EXPECT_THROW(regenerate(Technique::kLinear, x, y, Values{1}, Values{1}), std::invalid_argument);
  EXPECT_THROW(regenerate(Technique::kLinear, x, y, Values{}), std::invalid_argument);
}

TEST(Synthetic, PolynomialsRegenerateEverything) {
  const auto synthetic = positions_between(kRows, 4);
  for (const Technique t : {Technique::kBarycentric, Technique::kKrogh}) {
    EXPECT_LT(regenerate(t, kRows, kMobileNet, synthetic).rmse, 1e-9);
  }
  // Four samples determine a cubic, not the quartic from which they were taken.
  EXPECT_GT(regenerate(Technique::kKrogh, kRows, kMobileNet, positions_between(kRows, 1)).rmse,
            0.1);
}

TEST(Synthetic, TheBestHasLeastRmseAndTiesGoByTheTable) {
  std::vector<Regeneration> all(6);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].rmse = 1;
  EXPECT_EQ(best_technique(all), Technique::kLinear);
  all[4].rmse = 1e-14;
  all[2].rmse = 1e-11;
  EXPECT_EQ(best_technique(all), Technique::kKrogh);  // both errors are rounding
  all[2].rmse = 1e-5;
  EXPECT_EQ(best_technique(all), Technique::kCubicSpline);
  EXPECT_THROW(best_technique(std::vector<Regeneration>(5)), std::invalid_argument);
  const auto measured =
      regenerate_by_all(kRows, kMobileNet, positions_between(kRows, 4), kMobileNet);
  EXPECT_EQ(best_technique(measured), Technique::kBarycentric);
}

TEST(Synthetic, QualityOverVolumeFallsThenFailsForOnePolynomial) {
  const auto curve = quality_over_volume(Technique::kKrogh, kRows, kMobileNet, kMobileNet, 20,
                                         {false, {}, Rounding::kNearest});
  ASSERT_EQ(curve.size(), 20u);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].between, static_cast<int>(i) + 1);
    EXPECT_EQ(curve[i].samples, 4 * (i + 1));
    ASSERT_TRUE(curve[i].rmse);
    EXPECT_GE(*curve[i].rmse, *curve[i].mae);
  }
  EXPECT_NEAR(*curve[0].rmse, 0.525, 0.001);  // NumPy and SciPy
  EXPECT_LT(*curve[1].rmse, 1e-9);
  EXPECT_GT(*curve[19].rmse, 1e6);
  // Linear interpolation improves monotonically.
  const auto lines = quality_over_volume(Technique::kLinear, kRows, kMobileNet, kMobileNet, 20,
                                         {false, {}, Rounding::kNearest});
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_LT(*lines[i].rmse, *lines[i - 1].rmse);
}

TEST(Synthetic, OverflowIsMarkedAndBadPointsAreRefused) {
  Values x;
  Values y;
  for (int i = 0; i < 200; ++i) {  // so many that the polynomial through all of them overflows
    x.push_back(i);
    y.push_back(i % 3);
  }
  const std::span few(x.data(), 60);
  const std::span few_values(y.data(), 60);
  const auto curve = quality_over_volume(Technique::kKrogh, few, few_values, few_values, 25,
                                         {false, {}, Rounding::kNearest});
  EXPECT_FALSE(curve.back().rmse);
  const auto all = regenerate_by_all(x, y, positions_between(x, 3), y);
  EXPECT_EQ(all[static_cast<std::size_t>(Technique::kKrogh)].rmse,
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isfinite(all[static_cast<std::size_t>(Technique::kPchip)].rmse));
  y[3] = std::nan("");
  EXPECT_THROW(regenerate_by_all(x, y, positions_between(x, 1), y), std::invalid_argument);
  EXPECT_THROW(quality_over_volume(Technique::kLinear, x, y, y, 2, {}), std::invalid_argument);
}

}  // namespace
}  // namespace corun::synthetic_test
