#include "services/service_run.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/services/builders.hpp"

/// The services of a simulated cluster, called as an engine calls them.
namespace corun::service_run_test {
namespace {

using namespace std::chrono_literals;
using test::queue_of;

const JobId kFirst{1};
const JobId kSecond{2};
/// Job 0 is no replica; 1 and 2 are those of service 0.
const std::vector<int> kServices{-1, 0, 0};

ServicePlan plan_of(double per_s, Time start, Time end, double mean_s = 0.01) {
  ServicePlan plan{"s", queue_of(mean_s, 2, ServiceVariation::kConstant)};
  plan.start = start;
  plan.end = end;
  plan.goal_s = 0.05;
  plan.load = constant_load(per_s, end - start);
  return plan;
}

/// Calls advance() until `to`, which it does not reach.
void until(ServiceRun& run, Time to) {
  while (run.next_change() < to) run.advance(run.next_change());
}

TEST(ServiceRun, ObservesIntervalsAndAnswersAllRequests) {
  const std::vector<ServicePlan> plans{plan_of(60, 30s, 630s)};
  ServiceRun run(plans, kServices, {});
  EXPECT_EQ(run.next_change(), Time(60s));
  run.runs(kFirst, 30s, 1);
  EXPECT_DOUBLE_EQ(run.busy(kFirst, 1), 0.6);
  EXPECT_DOUBLE_EQ(run.busy(kFirst, 0.8), 0.75);
  EXPECT_EQ(run.view(0)->intervals, 0U);
  until(run, 630s);
  EXPECT_EQ(run.view(0)->intervals, 10U);
  EXPECT_NEAR(run.view(0)->busy, 0.6, 0.1);
  EXPECT_NEAR(run.view(0)->load_per_s, 60, 10);
  EXPECT_DOUBLE_EQ(run.view(0)->replicas, 1);
  EXPECT_FALSE(run.view(0)->over);
  run.runs(kFirst, 630s, 0);
  run.advance(run.next_change());
  EXPECT_TRUE(run.view(0)->over);
  EXPECT_EQ(run.next_change(), kNever);
  const std::vector<ServiceOutcome> outcomes = run.take();
  const ServiceOutcome& outcome = outcomes[0];
  EXPECT_EQ(outcome.requests, outcome.result.latency.count());
  EXPECT_NEAR(static_cast<double>(outcome.requests), 36'000, 1000);
  EXPECT_DOUBLE_EQ(outcome.replica_s, 600);
  EXPECT_EQ(outcome.methods[static_cast<std::size_t>(Method::kSimulated)], outcome.requests);
  EXPECT_EQ(outcome.intervals.size(), 11U);
  EXPECT_EQ(outcome.intervals.back().end, Time(630s));
}

// M/D/1 at utilisation 0.75: the mean is s (1 + u / (2 (1 - u))) with s = 1 / 80 s.
TEST(ServiceRun, HasTheLatencyOfTheClosedFormByBothMethods) {
  const double exact_s = 1.0 / 80 * (1 + 0.75 / (2 * 0.25));
  for (const double most_simulated : {1e9, 0.0}) {
    const std::vector<ServicePlan> plans{plan_of(60, 0s, 6000s)};
    ServiceRun run(plans, kServices, {.most_simulated = most_simulated});
    run.runs(kSecond, 0s, 0.8);
    until(run, 6001s);
    const ServiceOutcome outcome = run.take()[0];
    EXPECT_NEAR(outcome.result.latency.mean_s(), exact_s, 0.05 * exact_s) << most_simulated;
    EXPECT_EQ(outcome.methods[static_cast<std::size_t>(Method::kFormula)] > 0, most_simulated == 0);
  }
}

TEST(ServiceRun, CountsRequestsThatNobodyAnswersAsMissed) {
  for (const double most_simulated : {1e9, 0.0}) {
    const std::vector<ServicePlan> plans{plan_of(10, 0s, 600s)};
    ServiceRun run(plans, kServices, {.most_simulated = most_simulated});
    run.runs(kFirst, 0s, 1);
    until(run, 300s);
    run.runs(kFirst, 300s, 0);
    until(run, 360s);
    EXPECT_NEAR(run.view(0)->within, 1, 0.01);
    run.advance(run.next_change());
    EXPECT_DOUBLE_EQ(run.view(0)->within, 0);
    EXPECT_NEAR(run.view(0)->latency_s, 60, 2);
    until(run, 601s);
    const ServiceOutcome outcome = run.take()[0];
    EXPECT_NEAR(static_cast<double>(outcome.requests), 6000, 400);
    EXPECT_NEAR(outcome.share_within(), 0.5, 0.05) << most_simulated;
    EXPECT_DOUBLE_EQ(outcome.replica_s, 300);
  }
}

TEST(ServiceRun, AReplicaThatJoinsHalvesTheUtilisation) {
  const std::vector<ServicePlan> plans{plan_of(80, 0s, 600s)};
  ServiceRun run(plans, kServices, {});
  run.runs(kFirst, 0s, 1);
  EXPECT_DOUBLE_EQ(run.busy(kFirst, 1), 0.8);
  EXPECT_DOUBLE_EQ(run.busy(kSecond, 1), 0.4);  // if it were there
  run.runs(kSecond, 0s, 1);
  EXPECT_DOUBLE_EQ(run.busy(kFirst, 1), 0.4);
  std::vector<JobId> running;
  run.running(running);
  EXPECT_EQ(running, (std::vector<JobId>{kFirst, kSecond}));
}

}  // namespace
}  // namespace corun::service_run_test
