#include "models/interference/novelty.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/rng.hpp"

namespace corun::novelty_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<SpeedTable::Feature> kFeatures{{"util", FeatureScale::kLinear},
                                                 {"memory", FeatureScale::kLog}};

/// A hundred jobs around (50, 1000).
SpeedTable table() {
  SpeedTable table;
  table.features = kFeatures;
  Rng rng(3, Stream::kTest);
  for (std::uint32_t job = 0; job < 100; ++job) {
    table.jobs.push_back(static_cast<WorkloadKey>(1 + job));
    table.values.push_back(50 + 10 * rng.normal());
    table.values.push_back(1000 * std::exp(0.3 * rng.normal()));
    if (job > 0) table.rows.push_back({job, job - 1, 0.5, 0.5});
  }
  return table;
}

bool is_far(const Novelty& novelty, double util, double memory) {
  return novelty.is_far(std::vector{util, memory}, kFeatures);
}

TEST(Novelty, FarJobsAreFar) {
  const Novelty novelty(table());
  EXPECT_FALSE(is_far(novelty, 50, 1000));
  EXPECT_TRUE(is_far(novelty, 99, 1000));
  EXPECT_TRUE(is_far(novelty, 50, 100000));
  EXPECT_TRUE(is_far(novelty, kNaN, 100000));
  EXPECT_FALSE(is_far(novelty, 50, kNaN));
  EXPECT_FALSE(is_far(novelty, kNaN, kNaN));
}

// One in ten new jobs of the same population.
TEST(Novelty, OneInTenOfTheSamePopulationIsFar) {
  const Novelty novelty(table());
  Rng rng(4, Stream::kTest);
  int far = 0;
  for (int job = 0; job < 2000; ++job) {
    far += is_far(novelty, 50 + 10 * rng.normal(), 1000 * std::exp(0.3 * rng.normal())) ? 1 : 0;
  }
  EXPECT_GT(far, 80);
  EXPECT_LT(far, 400);
}

TEST(Novelty, WithoutFeaturesNothingIsFar) {
  EXPECT_FALSE(Novelty().is_far({}, {}));
  SpeedTable none = table();
  none.features.clear();
  none.values.clear();
  EXPECT_FALSE(Novelty(none).is_far({}, {}));
  SpeedTable unknown = table();
  unknown.values.assign(unknown.values.size(), kNaN);
  EXPECT_FALSE(is_far(Novelty(unknown), 99, 1));
  SpeedTable one = table();
  one.rows = {{0, 0, 0.5, 0.5}};
  EXPECT_FALSE(is_far(Novelty(one), 99, 1));
}

TEST(Novelty, ComesBackFromItsState) {
  const Novelty novelty(table());
  const Novelty again = Novelty::load(novelty.save(), kFeatures);
  for (double util = 0; util <= 100; util += 5) {
    EXPECT_EQ(is_far(again, util, 900), is_far(novelty, util, 900)) << util;
  }
  for (const char* key : {"mean", "deviation", "jobs", "limit"}) {
    nlohmann::json state = novelty.save();
    state.erase(key);
    EXPECT_ANY_THROW(Novelty::load(state, kFeatures)) << key;
  }
  EXPECT_THROW(Novelty::load(novelty.save(), {}), std::invalid_argument);
}

}  // namespace
}  // namespace corun::novelty_test
