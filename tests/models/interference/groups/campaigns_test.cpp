#include "models/interference/groups/campaigns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/catalog.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::campaigns_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const SpeedTable::Campaign kFast{"V100-16GB", Sharing::kMps, 900, 15.7};
const SpeedTable::Campaign kSlow{"K80", Sharing::kMps, 240, 4.1};
const SpeedTable::Campaign kSliced{"V100-16GB", Sharing::kTimeSlicing, 900, 15.7};

/// What a job does to another, without unit: heavy jobs have a large feature.
double heaviness(const SpeedTable& table, std::uint32_t of, std::uint32_t beside) {
  return 0.3 * table.of(of)[0] + 0.7 * table.of(beside)[0];
}

/// Sixteen jobs with one feature in 0 to 1, and t = level + scale heaviness + noise in two campaigns: all pairs of the
/// first, and `pairs` random ones of the second.
SpeedTable two_campaigns(std::size_t pairs, double level, double scale, std::uint64_t seed = 1) {
  constexpr std::uint32_t kJobs = 16;
  SpeedTable table;
  table.features = {{"load", FeatureScale::kLinear}};
  table.campaigns = {kFast, kSlow};
  Rng rng(seed, Stream::kTest);
  for (std::uint32_t j = 0; j < kJobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(10 + j));
    table.values.push_back(rng.uniform());
  }
  const auto speed = [&](double l, double s, std::uint32_t i, std::uint32_t j) {
    return std::exp(-(l + s * heaviness(table, i, j) + 0.01 * rng.normal()));
  };
  for (std::uint32_t i = 0; i < kJobs; ++i) {
    for (std::uint32_t j = i; j < kJobs; ++j) {
      table.rows.push_back({i, j, speed(0, 0.4, i, j), speed(0, 0.4, j, i), 0});
    }
  }
  for (std::size_t p = 0; p < pairs; ++p) {
    const auto i = static_cast<std::uint32_t>(rng.below(kJobs));
    const auto j = static_cast<std::uint32_t>(rng.below(kJobs));
    table.rows.push_back({i, j, speed(level, scale, i, j), speed(level, scale, j, i), 1});
  }
  return table;
}

std::shared_ptr<const InterferenceModel> fitted(const SpeedTable& table, const char* kind = "gp",
                                                double effort = 1) {
  return find_interference_model(kind)->fit(table, {.effort = effort});
}

struct Judged {
  double error = 0;      ///< mean absolute error of t
  double covered = 0;    ///< share of the true t within the intervals
  double deviation = 0;  ///< mean deviation of t
};

Judged judge(const InterferenceModel& model, const SpeedTable& table, double level, double scale) {
  Judged out;
  double count = 0;
  for (std::uint32_t i = 0; i < table.jobs.size(); ++i) {
    for (std::uint32_t j = 0; j < table.jobs.size(); ++j) {
      const PairJob of{table.jobs[i], {table.of(i), 1}};
      const PairJob beside{table.jobs[j], {table.of(j), 1}};
      const SpeedPrediction p = model.predict(of, beside);
      const double truth = level + scale * heaviness(table, i, j);
      out.error += std::fabs(-std::log(p.speed) - truth);
      out.covered += std::exp(-truth) >= p.lo && std::exp(-truth) <= p.hi ? 1 : 0;
      out.deviation += (std::log(p.hi) - std::log(p.lo)) / 3.29;
      count += 1;
    }
  }
  return {out.error / count, out.covered / count, out.deviation / count};
}

TEST(Campaigns, TenPairsCalibrateAnotherMachine) {
  const SpeedTable table = two_campaigns(10, 0.3, 0.8);
  const auto model = fitted(table);
  const Judged slow = judge(*on_campaign(model, kSlow), table, 0.3, 0.8);
  EXPECT_LT(slow.error, 0.04);
  EXPECT_GE(slow.covered, 0.85);
  const Judged fast = judge(*on_campaign(model, kFast), table, 0, 0.4);
  EXPECT_LT(fast.error, 0.01);
  EXPECT_GE(fast.covered, 0.85);
}

TEST(Campaigns, ManyPairsReplaceWhatOthersMeasured) {
  // Here heavy jobs are light ones: nothing carries over.
  const SpeedTable table = two_campaigns(300, 0.9, -0.8);
  const auto model = fitted(table, "gp", test::kLittleEffort);
  EXPECT_LT(judge(*on_campaign(model, kSlow), table, 0.9, -0.8).error, 0.02);
}

TEST(Campaigns, ANewMachineHasWiderIntervals) {
  const SpeedTable table = two_campaigns(40, 0.1, 0.5);
  const auto model = fitted(table);
  const SpeedTable::Campaign other{"T4", Sharing::kMps, 320, 8.1};
  const Judged here = judge(*on_campaign(model, kFast), table, 0, 0.4);
  const Judged there = judge(*on_campaign(model, other), table, 0.05, 0.45);
  EXPECT_GT(there.deviation, 3 * here.deviation);
  EXPECT_LT(there.error, 0.2);
  // The levels of machines with another sharing mode tell less.
  const auto sliced = on_campaign(model, kSliced);
  EXPECT_GT(judge(*sliced, table, 0, 0.4).deviation, there.deviation);
}

TEST(Campaigns, AModelOfOneCampaignIsItselfThereAndWiderElsewhere) {
  SpeedTable table = two_campaigns(0, 0, 0);
  table.campaigns = {kFast};
  const auto model = fitted(table);
  EXPECT_EQ(on_campaign(model, kFast), model);
  EXPECT_EQ(on_campaign(model, {}), model) << "not known where";
  EXPECT_EQ(on_campaign(model, {"V100-16GB", Sharing::kUnknown, 0, 0}), model);
  const auto there = on_campaign(model, kSlow);
  ASSERT_NE(there, model);
  const Judged wide = judge(*there, table, 0, 0.4);
  EXPECT_GT(wide.deviation, 3 * judge(*model, table, 0, 0.4).deviation);
  EXPECT_GT(wide.covered, 0.99);
  // The order of pairs stays.
  const PairJob light{table.jobs[0], {table.of(0), 1}};
  std::vector<std::pair<double, double>> speeds;
  for (std::uint32_t j = 0; j < table.jobs.size(); ++j) {
    const PairJob beside{table.jobs[j], {table.of(j), 1}};
    speeds.emplace_back(model->predict(light, beside).speed, there->predict(light, beside).speed);
  }
  std::ranges::sort(speeds);
  EXPECT_TRUE(std::ranges::is_sorted(speeds, {}, &std::pair<double, double>::second));
}

// Two data sets of one GPU type and mode: the one that has measured the asked jobs is taken.
TEST(Campaigns, OfTwoDataSetsTheOneThatMeasuredTheJobsIsTaken) {
  SpeedTable table = two_campaigns(60, 0.5, 0.4);
  table.campaigns[1] = kFast;
  // The second data set has jobs of its own.
  const auto jobs = static_cast<std::uint32_t>(table.jobs.size());
  for (std::uint32_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    table.values.push_back(table.values[j]);
  }
  for (SpeedTable::Row& row : table.rows) {
    if (row.campaign == 0) continue;
    row.a += jobs;
    row.b += jobs;
  }
  const auto model = fitted(table);
  const std::vector<WorkloadKey> first{table.jobs[0], table.jobs[1]};
  const std::vector<WorkloadKey> second{table.jobs[jobs], table.jobs[jobs + 1]};
  const PairJob a{table.jobs[jobs], {table.of(jobs), 1}};
  const PairJob b{table.jobs[jobs + 1], {table.of(jobs + 1), 1}};
  const double by_second = -std::log(on_campaign(model, kFast, second)->predict(a, b).speed);
  const double by_first = -std::log(on_campaign(model, kFast, first)->predict(a, b).speed);
  EXPECT_NEAR(by_second - by_first, 0.5, 0.15);
}

// Costs differ between data sets of one machine, so jobs that none of them measured have wider intervals.
TEST(Campaigns, JobsOfAnotherDataSetOnTheSameMachineHaveWiderIntervals) {
  const SpeedTable table = two_campaigns(40, 0.1, 0.5);
  const auto model = fitted(table);
  const std::vector<WorkloadKey> known{table.jobs[0], static_cast<WorkloadKey>(1000)};
  const std::vector<WorkloadKey> others{static_cast<WorkloadKey>(1000)};
  const double same = judge(*on_campaign(model, kFast, known), table, 0, 0.4).deviation;
  EXPECT_EQ(judge(*on_campaign(model, kFast), table, 0, 0.4).deviation, same) << "not known which";
  EXPECT_GT(judge(*on_campaign(model, kFast, others), table, 0, 0.4).deviation, 3 * same);
}

// The shared part of a model of one campaign is the campaign's own, and knows its jobs.
TEST(Campaigns, JobsOfTheOnlyCampaignAreNoOtherDataSets) {
  SpeedTable table = two_campaigns(0, 0, 0);
  table.campaigns = {kFast};
  const auto alone = fitted(table);
  const CampaignModel model(alone);
  const std::vector<WorkloadKey> known{table.jobs[0], static_cast<WorkloadKey>(1000)};
  const std::vector<WorkloadKey> others{static_cast<WorkloadKey>(1000)};
  const auto here = model.on(kFast, known);
  EXPECT_FALSE(here->is_new());
  const Judged same = judge(*alone, table, 0, 0.4);
  EXPECT_NEAR(judge(*here, table, 0, 0.4).deviation, same.deviation, 1e-9);
  EXPECT_NEAR(judge(*here, table, 0, 0.4).error, same.error, 1e-9);
  EXPECT_TRUE(model.on(kFast, others)->is_new());
  EXPECT_TRUE(model.on(kSlow, known)->is_new());
}

TEST(Campaigns, ComesBackFromItsState) {
  const SpeedTable table = two_campaigns(12, 0.2, 0.6);
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    SpeedTable own = table;
    if (entry.name == "contention") own.features[0].name = "gpu_util_pct";
    if (entry.name == "cluster-mean") {
      own.features = {{"gpu_util_pct", FeatureScale::kLinear},
                      {"mem_alloc_pct", FeatureScale::kLinear},
                      {"mem_time_pct", FeatureScale::kLinear}};
      std::vector<double> values;
      for (const double v : table.values) values.insert(values.end(), {100 * v, 10 * v, 50 * v});
      own.values = values;
    }
    const auto model = entry.fit(own, {.effort = test::kLittleEffort});
    const nlohmann::json saved = model->save();
    ASSERT_TRUE(CampaignModel::is_state(saved)) << entry.name;
    const auto again = entry.load(saved, model->features(), model->workloads());
    EXPECT_EQ(again->save(), saved) << entry.name;
    const PairJob a{own.jobs[0], {own.of(0), own.features.size()}};
    const PairJob b{own.jobs[1], {own.of(1), own.features.size()}};
    for (const SpeedTable::Campaign& campaign : {kFast, kSlow, kSliced}) {
      std::shared_ptr<const InterferenceModel> one = model->clone();
      std::shared_ptr<const InterferenceModel> two = again->clone();
      const SpeedPrediction p = on_campaign(one, campaign)->predict(a, b);
      const SpeedPrediction q = on_campaign(two, campaign)->predict(a, b);
      EXPECT_EQ(p.speed, q.speed) << entry.name;
      EXPECT_EQ(p.sd, q.sd) << entry.name;
      EXPECT_TRUE(p.lo > 0 && p.lo <= p.speed && p.speed <= p.hi && std::isfinite(p.hi))
          << entry.name;
    }
  }
}

TEST(Campaigns, RefusesImpossibleStates) {
  const auto model = fitted(two_campaigns(12, 0.2, 0.6));
  const nlohmann::json saved = model->save();
  const auto refused = [&](auto change) {
    nlohmann::json other = saved;
    change(other);
    try {
      find_interference_model("gp")->load(other, model->features(), model->workloads());
    } catch (const std::invalid_argument&) {
      return true;
    } catch (const nlohmann::json::exception&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused([](nlohmann::json&) {}));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["campaigns"] = nlohmann::json::array(); }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["deviation"] = 0; }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["mean"] = "x"; }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["campaigns"][0]["sharing"] = 9; }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["campaigns"][0]["rows"] = 0; }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["campaigns"][0]["own"] = nlohmann::json(); }));
  EXPECT_TRUE(refused([](nlohmann::json& j) { j["more"] = 1; }));
}

TEST(Campaigns, LearnsOnTheMachineItPredictsFor) {
  const SpeedTable table = two_campaigns(12, 0.2, 0.6);
  const auto model = fitted(table);
  const PairJob a{77, {table.of(0), 1}};
  const PairJob b{78, {table.of(1), 1}};
  const auto there = on_campaign(model, kSlow)->clone();
  ASSERT_TRUE(there->learns());
  const double before = there->predict(a, b).speed;
  for (int i = 0; i < 5; ++i) there->learn(a, b, 0.2, 0.2);
  EXPECT_LT(there->predict(a, b).speed, before - 0.1);
  EXPECT_EQ(on_campaign(model, kSlow)->predict(a, b).speed, before) << "copies learn apart";
  EXPECT_THROW(there->learn(a, b, 0, kNaN), std::invalid_argument);
}

TEST(Campaigns, ACampaignWithoutMeasuredSpeedsIsANewOne) {
  SpeedTable table = two_campaigns(3, 0.2, 0.6);
  for (SpeedTable::Row& row : table.rows) {
    if (row.campaign == 1) row.speed_a = row.speed_b = kNaN;
  }
  const auto model = fitted(table);
  const Judged there = judge(*on_campaign(model, kSlow), table, 0, 0.4);
  EXPECT_GT(there.deviation, 3 * judge(*on_campaign(model, kFast), table, 0, 0.4).deviation);
}

TEST(Campaigns, SameBytesAtAnyNumberOfThreads) {
  const SpeedTable table = two_campaigns(12, 0.2, 0.6);
  const auto saved = [&](int threads) {
    const FitOptions options{.threads = threads, .effort = test::kLittleEffort};
    return find_interference_model("ensemble")->fit(table, options)->save();
  };
  EXPECT_EQ(saved(1), saved(4));
}

}  // namespace
}  // namespace corun::campaigns_test
