#include "predictors/residual_process.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/base/nan.hpp"
#include "sim/rng.hpp"

namespace corun::residual_process_test {
namespace {

/// Rows of two features with a residual that is a smooth function of them.
ResidualRows rows_of(std::size_t count) {
  ResidualRows rows;
  rows.columns = 2;
  Rng rng(5, Stream::kTest);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = rng.uniform(), y = 100 * rng.uniform();
    rows.features.insert(rows.features.end(), {static_cast<float>(x), static_cast<float>(y)});
    rows.residual.push_back(static_cast<float>(std::sin(3 * x) + y / 100));
    rows.weight.push_back(1);
  }
  return rows;
}

// Features of two rows are +-1 standard deviation from their mean. So with k = exp(-2/4) and noise s, the weights of
// residuals r and -r are r / (1 + s - k) and its opposite.
TEST(ResidualProcess, TwoRowsByHand) {
  const ResidualRows rows{1, {10, 30}, {0.5F, -0.5F}, {1, 1}};
  const ResidualProcess process = ResidualProcess::fit(rows, {.seed = 1});
  const double k = std::exp(-0.5);
  const double weight = 0.5 / (1 + 0.01 - k);
  const std::vector<float> first{10}, middle{20}, beyond{70};
  EXPECT_NEAR(process.mean(first), weight * (1 - k), 1e-12);
  EXPECT_NEAR(process.mean(middle), 0, 1e-12);
  // Five deviations from the mean: six from the first row, four from the second.
  EXPECT_NEAR(process.mean(beyond), weight * (std::exp(-1.5) - std::exp(-1.0)), 1e-12);
}

TEST(ResidualProcess, LearnsASmoothFunction) {
  const ResidualProcess process = ResidualProcess::fit(rows_of(400), {.seed = 1});
  const ResidualRows fresh = rows_of(600);
  double worst = 0;
  for (std::size_t i = 400; i < 600; ++i) {
    const double mean = process.mean(std::span(fresh.features).subspan(2 * i, 2));
    worst = std::max(worst, std::abs(mean - static_cast<double>(fresh.residual[i])));
  }
  EXPECT_LT(worst, 0.1);
}

TEST(ResidualProcess, ARowOfLittleWeightHasLittleEffect) {
  ResidualRows rows{1, {1, 2, 3}, {0, 0, 5}, {1, 1, 1e-4F}};
  const std::vector<float> at{3};
  EXPECT_LT(ResidualProcess::fit(rows, {.seed = 1}).mean(at), 0.1);
  rows.weight[2] = 1;
  EXPECT_GT(ResidualProcess::fit(rows, {.seed = 1}).mean(at), 4);
}

TEST(ResidualProcess, UnknownFeaturesCountAsTheirMean) {
  ResidualRows rows = rows_of(50);
  rows.features[3] = static_cast<float>(kNaN);
  const ResidualProcess process = ResidualProcess::fit(rows, {.seed = 1});
  double sum = 0;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (i != 1) sum += static_cast<double>(rows.features[2 * i + 1]);
  }
  const std::vector<float> unknown{0.5F, static_cast<float>(kNaN)};
  const std::vector<float> mean{0.5F, static_cast<float>(sum / 49)};
  EXPECT_NEAR(process.mean(unknown), process.mean(mean), 1e-6);
}

TEST(ResidualProcess, AConstantFeatureIsNoFeature) {
  ResidualRows rows = rows_of(50);
  for (std::size_t i = 0; i < rows.rows(); ++i) rows.features[2 * i + 1] = 7;
  const ResidualProcess process = ResidualProcess::fit(rows, {.seed = 1});
  const std::vector<float> known{0.5F, 7}, other{0.5F, 1e30F};
  EXPECT_EQ(process.mean(known), process.mean(other));
}

TEST(ResidualProcess, ManyRowsAreThinnedTheSameWay) {
  const ResidualRows rows = rows_of(ResidualProcess::kMostRows + 50);
  const auto first = ResidualProcess::fit(rows, {.seed = 3}).save();
  EXPECT_EQ(first, ResidualProcess::fit(rows, {.seed = 3}).save());
  EXPECT_NE(first, ResidualProcess::fit(rows, {.seed = 4}).save());
  EXPECT_EQ(ResidualProcess::load(first).save(), first);
}

TEST(ResidualProcess, RefusesWhatDoesNotFit) {
  EXPECT_THROW(ResidualProcess::fit({}, {.seed = 1}), std::invalid_argument);
  EXPECT_THROW(ResidualProcess::fit({2, {1, 2, 3}, {1}, {1}}, {.seed = 1}), std::invalid_argument);
  EXPECT_THROW(ResidualProcess::fit({1, {1, 2}, {1, 2}, {1}}, {.seed = 1}), std::invalid_argument);
  const nlohmann::json good = ResidualProcess::fit(rows_of(5), {.seed = 1}).save();
  for (const char* key : {"mean", "scale", "points", "weights"}) {
    nlohmann::json bad = good;
    bad[key] = nlohmann::json::binary(std::vector<std::uint8_t>(8, 0xff));  // NaN
    EXPECT_THROW(ResidualProcess::load(bad), std::invalid_argument) << key;
    bad.erase(key);
    EXPECT_THROW(ResidualProcess::load(bad), std::invalid_argument) << key;
  }
}

}  // namespace
}  // namespace corun::residual_process_test
