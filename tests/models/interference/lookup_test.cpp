#include "models/interference/lookup.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/fits/residual_spread.hpp"

namespace corun::lookup_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

SpeedTable table() {
  SpeedTable t;
  t.jobs = {10, 20, 30};
  t.rows = {{0, 1, 0.5, 0.8}, {1, 2, 0.9, kNaN}, {0, 0, 0.4, 0.6}, {1, 0, 0.2, 0.5}};
  return t;
}

TEST(Lookup, SaysWhatWasMeasuredInThisDirection) {
  const Lookup model = Lookup::fit(table(), {});
  const auto speed = [&](WorkloadKey of, WorkloadKey beside) {
    return model.predict({of, {}}, {beside, {}}).speed;
  };
  EXPECT_NEAR(speed(10, 20), 0.5, 1e-12);
  EXPECT_NEAR(speed(20, 10), std::sqrt(0.8 * 0.2), 1e-12);
  EXPECT_NEAR(speed(20, 30), 0.9, 1e-12);
  EXPECT_NEAR(speed(10, 10), 0.5, 1e-12);  // a job beside its copy: one measurement
  // All other pairs: the median of 0.2, 0.5, 0.5, 0.5, 0.8, 0.9.
  EXPECT_NEAR(speed(30, 20), 0.5, 1e-12);
  EXPECT_NEAR(speed(99, 10), 0.5, 1e-12);
  EXPECT_NEAR(speed(kUnknownWorkload, kUnknownWorkload), 0.5, 1e-12);
}

TEST(Lookup, IntervalsInClosedForm) {
  const Lookup model = Lookup::fit(table(), {});
  // Repeats: 0.5 twice (10 beside 20), and 0.8 with 0.2 (20 beside 10).
  const double half = std::log(0.8 / 0.2) / 2;
  const double s = std::sqrt((4 * 0.05 * 0.05 + 2 * half * half) / (4 + 2));
  const SpeedPrediction once = model.predict({20, {}}, {30, {}});
  EXPECT_NEAR(once.sd, 0.9 * s * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(once.lo, 0.9 * std::exp(-1.645 * s * std::sqrt(2.0)), 1e-12);
  EXPECT_NEAR(once.hi, 0.9 * std::exp(1.645 * s * std::sqrt(2.0)), 1e-12);
  const SpeedPrediction twice = model.predict({10, {}}, {20, {}});
  EXPECT_NEAR(twice.sd, 0.5 * s * std::sqrt(1.5), 1e-12);
  // Not measured: the median, with the spread of all speeds.
  const SpeedPrediction never = model.predict({30, {}}, {30, {}});
  EXPECT_NEAR(never.speed, 0.5, 1e-12);
  std::vector<double> residuals;
  for (const double speed : {0.5, 0.5, 0.8, 0.2, 0.9, 0.5})
    residuals.push_back(std::log(0.5 / speed));
  const SpeedPrediction any = ResidualSpread::of(residuals).around(0.5);
  EXPECT_NEAR(never.lo, any.lo, 1e-12);
  EXPECT_NEAR(never.hi, any.hi, 1e-12);
  EXPECT_NEAR(never.sd, any.sd, 1e-12);
  EXPECT_GT(model.residual_sigma(), 0);
}

TEST(Lookup, LearningIsFittingWithOneRowMore) {
  SpeedTable before = table();
  const SpeedTable::Row last = before.rows.back();
  before.rows.pop_back();
  Lookup model = Lookup::fit(before, {});
  const auto untouched = model.clone();
  model.learn({20, {}}, {10, {}}, last.speed_a, last.speed_b);
  EXPECT_EQ(model.save(), Lookup::fit(table(), {}).save());
  EXPECT_NEAR(untouched->predict({20, {}}, {10, {}}).speed, 0.8, 1e-12);
  // An unknown job.
  model.learn({40, {}}, {10, {}}, 0.3, kNaN);
  EXPECT_NEAR(model.predict({40, {}}, {10, {}}).speed, 0.3, 1e-12);
  EXPECT_EQ(model.workloads().back(), 40U);

  const nlohmann::json state = model.save();
  model.learn({kUnknownWorkload, {}}, {10, {}}, 0.3, 0.3);
  model.learn({50, {}}, {10, {}}, kNaN, kNaN);
  EXPECT_THROW(model.learn({50, {}}, {10, {}}, -1, 0.3), std::invalid_argument);
  EXPECT_EQ(model.save(), state);
  EXPECT_EQ(model.workloads().back(), 40U);
}

TEST(Lookup, FilesAndBatches) {
  SpeedTable t = table();
  t.jobs.push_back(kUnknownWorkload);
  t.rows.push_back({3, 0, 1e-320, 1e308});
  const Lookup model = Lookup::fit(t, {});
  const auto bytes = nlohmann::json::to_msgpack(model.save());
  const Lookup read =
      Lookup::load(nlohmann::json::from_msgpack(bytes), model.features(), model.workloads());
  EXPECT_EQ(read.save(), model.save());
  const std::vector<PairJob> jobs{{10, {}}, {20, {}}, {30, {}}, {99, {}}};
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) pairs.push_back({i, j});
  }
  const auto batch = model.predict(jobs, pairs);
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    const SpeedPrediction one = read.predict(jobs[pairs[q].of], jobs[pairs[q].beside]);
    EXPECT_EQ(one.speed, batch[q].speed);
    EXPECT_EQ(one.sd, batch[q].sd);
    EXPECT_EQ(one.lo, batch[q].lo);
    EXPECT_EQ(one.hi, batch[q].hi);
    EXPECT_TRUE(one.lo > 0 && one.lo <= one.speed && one.speed <= one.hi && std::isfinite(one.hi) &&
                std::isfinite(one.sd));
  }
  EXPECT_EQ(read.residual_sigma(), model.residual_sigma());

  const nlohmann::json good = model.save();
  for (const auto& [key, value] : good.items()) {
    for (const nlohmann::json& nonsense :
         {nlohmann::json(), nlohmann::json("x"), nlohmann::json::binary({}),
          nlohmann::json::binary(std::vector<std::uint8_t>(24, 255))}) {
      nlohmann::json state = good;
      state[key] = nonsense;
      EXPECT_THROW(Lookup::load(state, {}, model.workloads()), std::invalid_argument) << key;
    }
  }
  EXPECT_THROW(Lookup::load(good, {}, {10}), std::invalid_argument);
  EXPECT_THROW(Lookup::load(nlohmann::json(), {}, {}), std::invalid_argument);
}

TEST(Lookup, HostileQuestions) {
  SpeedTable t = table();
  t.features = {{"x", FeatureScale::kLog}};
  t.values = {1, 2, 3};
  const Lookup model = Lookup::fit(t, {});
  EXPECT_NO_THROW(model.predict({10, {}}, {20, {}}));  // known: features do not matter
  EXPECT_THROW(model.predict({99, {}}, {20, {}}), std::invalid_argument);
  const double zero = 0;
  EXPECT_THROW(model.predict({99, {&zero, 1}}, {20, {}}), std::invalid_argument);
  EXPECT_NO_THROW(model.predict({99, {&kNaN, 1}}, {20, {}}));
  const std::array<PairJob, 1> jobs{PairJob{10, {}}};
  const std::array<PairQuery, 1> pairs{{{0, 1}}};
  EXPECT_THROW(model.predict(jobs, pairs), std::invalid_argument);
  EXPECT_THROW(Lookup::fit({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace corun::lookup_test
