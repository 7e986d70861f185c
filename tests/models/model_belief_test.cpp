#include "models/model_belief.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "models/formulas/overlap.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/measured_speeds.hpp"
#include "tests/helpers/effort.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::model_belief_test {
namespace {

/// Few samples, for speed; the tests do not depend on their number.
const InterferenceModelEntry kQuick{
    "quick", "factors, few sweeps", [](const SpeedTable& table, const FitOptions&) {
      FactorOptions o;
      o.chains_per_kind = 1;
      o.chains = {{4, 0.05}};
      o.sweeps = 120;
      o.burn_in = 40;
      return std::unique_ptr<InterferenceModel>(
          std::make_unique<FactorModel>(FactorModel::fit(table, o)));
    }};

std::shared_ptr<const ModelBelief::Prior> prior_of(const std::vector<CorunMeasurement>& rows,
                                                   const InterferenceModelEntry& entry = kQuick) {
  return ModelBelief::make_prior(speed_table(rows, ImputedProfiles::kUnknown), entry, {});
}

Profile profile(double u, double m, double t) { return {u, m, t, {}, false}; }

CorunMeasurement measured(WorkloadKey a, WorkloadKey b, double isd_a, double isd_b) {
  CorunMeasurement row;
  row.source = "test";
  for (const auto& [key, isd] : {std::pair(a, isd_a), std::pair(b, isd_b)}) {
    CorunMember m;
    m.workload = key;
    m.profile = profile(20.0 + 10.0 * key, 30, 10);
    m.solo_s = 100;
    m.corun_s = 100 * (1 + isd);
    row.members.push_back(m);
  }
  return row;
}

TEST(SpeedTableOfRows, TakesPairs) {
  std::vector<CorunMeasurement> rows{measured(0, 1, 0.2, 0.2), measured(1, 2, 0.5, 0.1)};
  rows[1].members[0].profile.gpu_util_pct = 50;  // a second profile of workload 1: the mean counts
  rows[1].members[1].profile.imputed = true;     // workload 2 has no published profile
  CorunMeasurement triple = measured(0, 1, 1, 1);
  triple.members.push_back(triple.members[0]);
  rows.push_back(triple);
  rows.push_back(measured(kUnknownWorkload, 1, 0.2, 0.2));  // a separate job
  const SpeedTable table = speed_table(rows, ImputedProfiles::kUnknown);
  ASSERT_EQ(table.jobs, (std::vector<WorkloadKey>{0, 1, 2, kUnknownWorkload}));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_NEAR(table.of(1)[0], (30.0 + 50 + 30) / 3, 1e-12);
  EXPECT_TRUE(std::isnan(table.of(2)[0]));
  // Both took 120 s for 100 s of work: speed 1 / 1.2.
  EXPECT_NEAR(table.rows[0].speed_a, 1 / 1.2, 1e-12);
  EXPECT_NEAR(table.rows[0].speed_b, 1 / 1.2, 1e-12);
  // Workload 1 runs 150 s, 40 s of them alone: its speed beside 2 is (100 - 40) / 110.
  EXPECT_NEAR(table.rows[1].speed_a, 60.0 / 110, 1e-12);
  EXPECT_NEAR(table.rows[1].speed_b, 100.0 / 110, 1e-12);
}

TEST(ModelBelief, KnowsNothingWithoutMeasurements) {
  const auto prior = prior_of({});
  const ModelBelief belief(prior, {{0, {50, 50, 50}, {}}, {1, {10, 10, 10}, {}}});
  const PairBelief p = belief.pair(JobId{0}, JobId{1});
  EXPECT_FALSE(p.observed);
  EXPECT_EQ(p.isd_a, 0);
  EXPECT_EQ(p.sd_a, 0);
}

TEST(ModelBelief, ExpectsWhatWasMeasuredBefore) {
  WorkloadKeys keys;
  const auto rows = paper_measurements(keys, kAllPapers);
  const auto prior =
      ModelBelief::make_prior(speed_table(rows, ImputedProfiles::kUnknown),
                              *find_interference_model("factors"), {.effort = test::kLittleEffort});
  // Over all measured pairs, the errors are far smaller than those of one mean for all.
  double error = 0;
  double constant = 0;
  double count = 0;
  double mean = 0;
  const SpeedTable& table = prior->table;
  for (const SpeedTable::Row& r : table.rows) mean += 1 / r.speed_a - 1 + 1 / r.speed_b - 1;
  mean /= 2 * static_cast<double>(table.rows.size());
  for (const SpeedTable::Row& r : table.rows) {
    const ModelBelief belief(prior, {{table.jobs[r.a], {}, {}}, {table.jobs[r.b], {}, {}}});
    const PairBelief p = belief.pair(JobId{0}, JobId{1});
    // The ISD of the job that ends last is below 1 / s - 1, so the one that ends first is compared.
    const double truth = std::min(1 / r.speed_a, 1 / r.speed_b) - 1;
    error += std::abs(std::min(p.isd_a, p.isd_b) - truth);
    constant += std::abs(mean - truth);
    count += 1;
  }
  EXPECT_LT(error, 0.6 * constant) << error / count << " against " << constant / count;
}

TEST(ModelBelief, IsSymmetricAndDurationsMatterOnlyWhereKnown) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 6; ++k) rows.push_back(measured(k, (k + 1) % 6, 0.4 + 0.1 * k, 0.7));
  const auto prior = prior_of(rows);
  using std::chrono::seconds;
  const ModelBelief belief(prior, {{0, {20, 30, 10}, {}},
                                   {3, {50, 30, 10}, {}},
                                   {0, {20, 30, 10}, Duration(seconds(10))},
                                   {3, {50, 30, 10}, Duration(seconds(1000))},
                                   {kUnknownWorkload, {44, 30, 10}, {}}});
  const PairBelief ab = belief.pair(JobId{0}, JobId{1});
  const PairBelief ba = belief.pair(JobId{1}, JobId{0});
  EXPECT_EQ(ab.isd_a, ba.isd_b);
  EXPECT_EQ(ab.ps, ba.ps);
  EXPECT_GT(ab.isd_b, 0);
  const PairBelief timed = belief.pair(JobId{2}, JobId{3});
  EXPECT_LT(timed.isd_b, 0.05) << "a short partner hardly delays a long job";
  EXPECT_GT(timed.isd_a, timed.isd_b);
  // The short job has a co-runner to its end, so ISD = 1/s - 1, with sd(s) / s^2 to first order.
  EXPECT_EQ(ab.sd_a, ba.sd_b);
  EXPECT_EQ(ab.sd_ps, ba.sd_ps);
  const std::vector<double> x{20, 30, 10};
  const std::vector<double> y{50, 30, 10};
  const SpeedPrediction s = prior->model->predict({0, x}, {3, y});
  ASSERT_LT(s.speed + s.sd, 1) << "else the cut at 1 shows";
  EXPECT_NEAR(timed.sd_a / (s.sd / (s.speed * s.speed)), 1, 0.1);
  EXPECT_GT(timed.sd_b, 0);
  EXPECT_LT(timed.sd_b, timed.sd_a);
  EXPECT_TRUE(belief.pair(JobId{0}, JobId{4}).observed)
      << "a job never measured goes by its profile";
}

TEST(ModelBelief, OtherJobsChangeNoExpectation) {
  const auto prior = prior_of({measured(0, 1, 0.2, 0.3), measured(1, 2, 0.5, 0.1)},
                              *find_interference_model("contention"));
  constexpr std::uint32_t kMany = 300;  // so many that a pair is predicted by itself
  std::vector<BelievedJob> jobs;
  for (std::uint32_t j = 0; j < kMany; ++j) {
    jobs.push_back({kUnknownWorkload, {5 + 0.3 * j, 20 + 0.1 * j, 10}, {}});
  }
  const ModelBelief all(prior, jobs);
  for (const std::uint32_t b : {1U, kMany - 1}) {
    const ModelBelief two(prior, {jobs[0], jobs[b]});
    const PairBelief expected = two.pair(JobId{0}, JobId{1});
    EXPECT_GT(expected.isd_a, 0);
    EXPECT_NE(expected.isd_a, expected.isd_b);
    for (const bool swapped : {false, true}) {
      const PairBelief p = swapped ? all.pair(JobId{b}, JobId{0}) : all.pair(JobId{0}, JobId{b});
      EXPECT_EQ(swapped ? p.isd_b : p.isd_a, expected.isd_a);
      EXPECT_EQ(swapped ? p.isd_a : p.isd_b, expected.isd_b);
      EXPECT_EQ(p.ps, expected.ps);
    }
  }
}

TEST(ModelBelief, DrawsAreRepeatableAndScatterAroundWhatIsExpected) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 6; ++k) rows.push_back(measured(k, (k + 1) % 6, 0.1 * k, 0.3));
  const auto prior = prior_of(rows);
  const ModelBelief belief(prior, {{0, {20, 30, 10}, {}}, {3, {50, 30, 10}, {}}});
  const PairBelief expected = belief.pair(JobId{0}, JobId{1});
  double sum = 0;
  double square = 0;
  constexpr int kDraws = 400;
  for (std::uint64_t d = 0; d < kDraws; ++d) {
    const PairBelief ab = belief.sampled_pair(JobId{0}, JobId{1}, d);
    const PairBelief ba = belief.sampled_pair(JobId{1}, JobId{0}, d);
    EXPECT_EQ(ab.isd_a, ba.isd_b) << "one draw seen from both sides";
    EXPECT_EQ(ab.isd_a, belief.sampled_pair(JobId{0}, JobId{1}, d).isd_a);
    EXPECT_GE(ab.isd_a, 0);
    sum += ab.isd_a;
    square += ab.isd_a * ab.isd_a;
  }
  const double mean = sum / kDraws;
  const double sd = std::sqrt(square / kDraws - mean * mean);
  EXPECT_NEAR(mean, expected.isd_a, 0.5 * sd);
  EXPECT_GT(sd, 0.01);
  EXPECT_LT(sd, 1.5 * expected.sd_a) << "noise of single co-runs is left out";
}

TEST(ModelBelief, LearnsFromProbes) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 8; ++k) rows.push_back(measured(k, (k + 1) % 8, 0.1, 0.1));
  const auto prior = prior_of(rows);
  ModelBelief belief(prior, {{0, {20, 30, 10}, {}}, {4, {60, 30, 10}, {}}});
  EXPECT_FALSE(belief.learns_from_probes()) << "not in time: it waits for the next fit";
  const PairBelief before = belief.pair(JobId{0}, JobId{1});
  for (int i = 0; i < 8; ++i) belief.learn_probe({JobId{0}, JobId{1}, 0.4, 0.9, {}});
  EXPECT_EQ(belief.refits(), 1U);
  const PairBelief after = belief.pair(JobId{0}, JobId{1});
  EXPECT_GT(after.isd_a, before.isd_a + 0.3) << "much slower than thought";
  EXPECT_GT(after.isd_a, after.isd_b);
}

/// A model that learns takes in every co-run at once; the shared prior does not change.
TEST(ModelBelief, ModelsThatLearnNeedNoRefit) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 40; ++k) rows.push_back(measured(k % 9, (k + 1) % 9, 0.1, 0.1));
  const auto prior = prior_of(rows, *find_interference_model("gp"));
  ModelBelief belief(prior, {{0, {20, 30, 10}, {}}, {4, {60, 30, 10}, {}}});
  EXPECT_TRUE(belief.learns_from_probes());
  const ModelBelief other(prior, {{0, {20, 30, 10}, {}}, {4, {60, 30, 10}, {}}});
  const double before = belief.pair(JobId{0}, JobId{1}).isd_a;
  for (int i = 0; i < 3; ++i) belief.learn_probe({JobId{0}, JobId{1}, 0.4, 0.9, {}});
  EXPECT_EQ(belief.refits(), 0U);
  EXPECT_GT(belief.pair(JobId{0}, JobId{1}).isd_a, before + 0.05);
  EXPECT_EQ(other.pair(JobId{0}, JobId{1}).isd_a, before);
}

/// Completions rounded to a tick may fit no positive speed: one job took 100 s for 100 s of work, the other
/// 200 s for 90 s.
TEST(ModelBelief, PassesOverTimesThatNoSpeedsExplain) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 8; ++k) rows.push_back(measured(k, (k + 1) % 8, 0.1, 0.1));
  ModelBelief belief(prior_of(rows), {{0, {20, 30, 10}, {}}, {4, {60, 30, 10}, {}}});
  const double before = belief.pair(JobId{0}, JobId{1}).isd_a;
  std::vector<MemberOutcome> members(2);
  for (std::uint32_t i = 0; i < 2; ++i) members[i].job = JobId{i};
  members[0].solo = std::chrono::seconds(100);
  members[0].corun = std::chrono::seconds(120);
  members[1].solo = std::chrono::seconds(20);
  members[1].corun = std::chrono::seconds(240);
  EpisodeOutcome outcome;
  outcome.members = members;
  outcome.together = true;
  for (int n = 0; n < 20; ++n) EXPECT_NO_THROW(belief.learn(outcome));
  EXPECT_EQ(belief.refits(), 0U);
  EXPECT_EQ(belief.pair(JobId{0}, JobId{1}).isd_a, before);
}

TEST(ModelBelief, LearnsFromFinishedCoRuns) {
  std::vector<CorunMeasurement> rows;
  for (WorkloadKey k = 0; k < 8; ++k) rows.push_back(measured(k, (k + 1) % 8, 0.1, 0.1));
  const auto prior = prior_of(rows);
  ModelBelief belief(prior, {{0, {20, 30, 10}, {}}, {4, {60, 30, 10}, {}}});
  const double before = belief.pair(JobId{0}, JobId{1}).isd_a;
  std::vector<MemberOutcome> members(2);
  for (std::size_t i = 0; i < 2; ++i) {
    members[i].job = JobId{static_cast<std::uint32_t>(i)};
    members[i].solo = std::chrono::seconds(100);
    members[i].corun = std::chrono::seconds(250);  // much slower than predicted
  }
  EpisodeOutcome outcome;
  outcome.members = members;
  for (int n = 0; n < 12; ++n) {
    outcome.together = false;  // speeds do not follow if a job joined later
    belief.learn(outcome);
    EXPECT_EQ(belief.refits(), 0u);
  }
  outcome.together = true;
  for (int n = 0; n < 12; ++n) belief.learn(outcome);
  EXPECT_EQ(belief.refits(), 1u) << "8 rows known, 8 new ones: once";
  EXPECT_GT(belief.pair(JobId{0}, JobId{1}).isd_a, before + 0.5);
  for (int n = 0; n < 200; ++n) belief.learn(outcome);
  EXPECT_LT(belief.refits(), 9u) << "grows with the logarithm";
}

}  // namespace
}  // namespace corun::model_belief_test
