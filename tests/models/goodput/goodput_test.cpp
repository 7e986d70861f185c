#include "models/goodput/goodput.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/goodput/step_time_fit.hpp"
#include "tests/helpers/public_data.hpp"

/// Goodput and its fits: by hand, and beside runs of AdaptDL.
namespace corun {
namespace {

constexpr StepTimeParameters kParameters{.alpha_c = 0.1,
                                         .beta_c = 0.002,
                                         .alpha_n = 0.05,
                                         .beta_n = 0.001,
                                         .alpha_r = 0.02,
                                         .beta_r = 0.0005,
                                         .gamma = 2};

TEST(StepTime, IsTheSumOfBothTimesOrTheLongerOne) {
  EXPECT_DOUBLE_EQ(gradient_time_s(kParameters, 50), 0.2);
  EXPECT_DOUBLE_EQ(exchange_time_s(kParameters, {.nodes = 2, .gpus = 8}), 0.056);
  EXPECT_DOUBLE_EQ(exchange_time_s(kParameters, {.nodes = 1, .gpus = 4}), 0.021);
  EXPECT_NEAR(exchange_time_s(kParameters, {.nodes = 1, .gpus = 1}), 0, 2e-8);
  EXPECT_NEAR(combined_time_s(0.3, 0.4, 1), 0.7, 1e-15);
  EXPECT_NEAR(combined_time_s(0.3, 0.4, 2), 0.5, 1e-15);
  EXPECT_NEAR(combined_time_s(0.3, 0.4, 1000), 0.4, 1e-15);
}

TEST(Goodput, AGainIsOneAtTheInitialBatchAndGrowsWithNoise) {
  constexpr GradientStatistics kNoise{.sqr = 1, .var = 3};
  EXPECT_DOUBLE_EQ(gain_of_batch(kNoise, 32, 32), 1);
  EXPECT_DOUBLE_EQ(gain_of_batch(kNoise, 96, 32), 2);  // 4 / (3/3 + 1)
  EXPECT_DOUBLE_EQ(efficiency(kNoise, 96, 32), 2.0 / 3);
  EXPECT_DOUBLE_EQ(gain_of_batch({.sqr = 0, .var = 5}, 96, 32), 3);  // all noise: as the batch
  EXPECT_DOUBLE_EQ(gain_of_batch({}, 96, 32), 1);
}

TEST(Goodput, ASingleGpuAccumulatesAboveTheInitialBatch) {
  const BatchLimits limits{.initial = 32, .most = 256, .least_gpu = 8, .most_gpu = 64};
  const BatchChoice best =
      best_batch(kParameters, {.sqr = 0.001, .var = 100}, limits, {.nodes = 1, .gpus = 1});
  EXPECT_GE(best.accumulations, 1U);
  EXPECT_EQ(best.gpu_batch, 64U);
  // Without noise only the initial batch is worth it.
  const BatchChoice least =
      best_batch(kParameters, {.sqr = 1, .var = 0}, limits, {.nodes = 1, .gpus = 1});
  EXPECT_EQ(least.gpu_batch, 32U);
  EXPECT_EQ(least.accumulations, 0U);
}

TEST(Goodput, NoBatchFitsMoreGpusThanTheGreatestBatchHas) {
  const BatchLimits limits{.initial = 32, .most = 64, .least_gpu = 16, .most_gpu = 64};
  EXPECT_EQ(best_batch(kParameters, {.sqr = 1, .var = 1}, limits, {1, 4}).gpu_batch, 16U);
  EXPECT_EQ(best_batch(kParameters, {.sqr = 1, .var = 1}, limits, {2, 5}).gpu_batch, 0U);
  EXPECT_EQ(best_batch(kParameters, {.sqr = 1, .var = 1}, limits, {2, 5}).goodput, 0);
}

ProfiledStep measured(GpuSpread spread, std::uint32_t batch) {
  const double gradient_s = gradient_time_s(kParameters, batch);
  return {.spread = spread,
          .gpu_batch = batch,
          .gradient_s = gradient_s,
          .step_s =
              combined_time_s(gradient_s, exchange_time_s(kParameters, spread), kParameters.gamma)};
}

/// The two root mean squares without the terms that choose among equally good parameters.
double error_of_points(const StepTimeParameters& parameters, std::span<const ProfiledStep> steps) {
  double passes = 0;
  double whole = 0;
  for (const ProfiledStep& step : steps) {
    const double gradient_s = gradient_time_s(parameters, step.gpu_batch);
    const double step_s =
        combined_time_s(gradient_s, exchange_time_s(parameters, step.spread), parameters.gamma);
    passes += std::pow(std::log(gradient_s / step.gradient_s), 2);
    whole += std::pow(std::log(step_s / step.step_s), 2);
  }
  const auto count = static_cast<double>(steps.size());
  return std::sqrt(passes / count) + std::sqrt(whole / count);
}

TEST(StepTimeFit, FindsTimesThatFollowTheModel) {
  std::vector<ProfiledStep> steps;
  for (const std::uint32_t batch : {16, 64, 200})
    for (const GpuSpread spread : {GpuSpread{1, 1}, {1, 2}, {1, 4}, {2, 6}, {3, 12}})
      steps.push_back(measured(spread, batch));
  const StepTimeParameters fitted = fit_step_time(steps);
  EXPECT_LT(error_of_points(fitted, steps), 1e-3);
  const ProfiledStep unseen = measured({2, 8}, 128);
  const double predicted =
      combined_time_s(gradient_time_s(fitted, 128), exchange_time_s(fitted, {2, 8}), fitted.gamma);
  EXPECT_NEAR(predicted / unseen.step_s, 1, 0.01);
  EXPECT_EQ(fit_step_time(steps), fitted);
}

TEST(StepTimeFit, IsOptimisticAboutWhatWasNotMeasured) {
  const std::vector<ProfiledStep> one{measured({1, 1}, 32)};
  const StepTimeParameters alone = fit_step_time(one);
  EXPECT_NEAR(alone.alpha_c, one[0].gradient_s / 2, 1e-12);
  EXPECT_NEAR(gradient_time_s(alone, 32), one[0].gradient_s, 1e-6);
  EXPECT_LT(exchange_time_s(alone, {4, 16}), 1e-6);

  const std::vector<ProfiledStep> node{measured({1, 1}, 32), measured({1, 4}, 32)};
  const StepTimeParameters within = fit_step_time(node);
  EXPECT_DOUBLE_EQ(within.alpha_n, 1.1 * within.alpha_r);
  EXPECT_DOUBLE_EQ(within.beta_n, 1.1 * within.beta_r);
  EXPECT_GT(within.alpha_r, 1e-3);

  const std::vector<ProfiledStep> nodes{measured({1, 1}, 32), measured({2, 2}, 32)};
  const StepTimeParameters between = fit_step_time(nodes);
  EXPECT_LE(between.alpha_r, 1e-8);
  EXPECT_LE(between.beta_n, 1e-8);
  EXPECT_GT(between.alpha_n, 1e-3);
}

// The root mean square of two steps alone is not smooth at its minimum, and times may lie far from a second.
TEST(StepTimeFit, AFewStepsOfAnyLengthAreMetExactly) {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    std::vector<ProfiledStep> steps{measured({1, 1}, 32), measured({1, 1}, 64)};
    for (ProfiledStep& step : steps) {
      step.gradient_s *= scale;
      step.step_s *= scale;
    }
    EXPECT_LT(error_of_points(fit_step_time(steps), steps), 1e-4) << scale;
  }
}

const std::string kVectors = "peers3/adaptdl-osdi21/goodput-vectors/";

TEST(GoodputPeer, BestBatchesAreThoseOfAdaptdl) {
  std::ifstream file(test::public_data(kVectors + "goodput.csv"));
  if (!file) GTEST_SKIP() << test::not_checked(kVectors + "goodput.csv");
  std::string line;
  std::getline(file, line);
  std::size_t compared = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::vector<double> v;
    for (std::string field; std::getline(fields, field, ',');) v.push_back(std::stod(field));
    ASSERT_EQ(v.size(), 20U) << line;
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(v[i]); };
    const StepTimeParameters parameters{v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    const GpuSpread spread{at(13), at(14)};
    const BatchChoice best =
        best_batch(parameters, {v[7], v[8]}, {at(9), at(10), at(11), at(12)}, spread);
    EXPECT_EQ(best.gpu_batch, at(16)) << line;
    EXPECT_EQ(best.accumulations, at(17)) << line;
    EXPECT_NEAR(best.goodput, v[15], 1e-12 * v[15]) << line;
    EXPECT_NEAR(throughput(parameters, spread, best.gpu_batch, best.accumulations), v[18],
                1e-12 * v[18]);
    EXPECT_NEAR(efficiency({v[7], v[8]}, best.batch(spread.gpus), v[9]), v[19], 1e-12 * v[19]);
    ++compared;
  }
  EXPECT_GT(compared, 100U);
}

TEST(GoodputPeer, FitsAreNoWorseThanThoseOfAdaptdl) {
  constexpr double kRounding = 1 + 1e-6;  // both searches stop before the last digits
  std::ifstream file(test::public_data(kVectors + "fits.json"));
  if (!file) GTEST_SKIP() << test::not_checked(kVectors + "fits.json");
  std::size_t compared = 0;
  for (const auto& fit : nlohmann::json::parse(file)) {
    std::vector<ProfiledStep> steps;
    for (const auto& row : fit["profile"]) {
      steps.push_back({.spread = {row[0], row[1]},
                       .gpu_batch = row[2],
                       .gradient_s = row[3].get<double>() - row[4].get<double>(),
                       .step_s = row[3]});
    }
    const auto& p = fit["fitted"];
    const StepTimeParameters theirs{p["alpha_c"], p["beta_c"], p["alpha_n"], p["beta_n"],
                                    p["alpha_r"], p["beta_r"], p["gamma"]};
    const StepTimeParameters ours = fit_step_time(steps);
    const auto name = fit["app"].get<std::string>() + ", " + std::to_string(steps.size());
    EXPECT_LE(step_time_error(ours, steps), step_time_error(theirs, steps) * kRounding) << name;
    EXPECT_LE(error_of_points(ours, steps), error_of_points(theirs, steps) * kRounding) << name;
    ++compared;
  }
  EXPECT_GE(compared, 15U);
}

}  // namespace
}  // namespace corun
