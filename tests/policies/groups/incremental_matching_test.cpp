#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "policies/groups/matching.hpp"
#include "policies/groups/recommender.hpp"
#include "tests/helpers/matrix_belief.hpp"
#include "tests/helpers/scenarios.hpp"

/// Policies over long queues: incremental-matching, and min-slowdown beyond 256 jobs.
namespace corun::test::incremental_matching_test {
namespace {

std::vector<double> random_costs(std::size_t n, std::uint64_t seed) {
  Rng rng(seed, Stream::kTest);
  std::vector<double> cost(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) cost[i * n + j] = cost[j * n + i] = rng.uniform();
  }
  return cost;
}

/// Waiting jobs, a policy over them, and a count of the policy's queries.
class Queue {
 public:
  Queue(std::size_t jobs, int gpus, std::vector<double> cost, Parameters parameters,
        const char* policy = "incremental-matching")
      : spec_(cluster(1, gpus)), state_(spec_), jobs_(jobs) {
    std::vector<JobSpec> specs(jobs, JobSpec(job(seconds(10))));
    job_views_ = job_views(workload(std::move(specs)));
    auto belief = std::make_unique<MatrixBelief>(std::move(cost), jobs);
    belief_ = belief.get();
    policy_ = find_policy(policy)->make({std::move(parameters), std::move(belief), 1, false});
  }

  std::vector<std::vector<JobId>> decide(std::span<const JobId> waiting) {
    std::vector<Decision> out;
    policy_->decide(
        ClusterView(seconds(1), StartMode::kGroup, waiting, job_views_, state_, 0, 1, ++pass_),
        out);
    std::vector<std::vector<JobId>> groups;
    for (const Decision& d : out) groups.push_back(std::get<StartGroup>(d).jobs);
    return groups;
  }
  std::size_t asked() const { return belief_->asked; }
  Policy& policy() { return *policy_; }

 private:
  ClusterSpec spec_;
  ClusterState state_;
  std::size_t jobs_;
  std::vector<JobView> job_views_;
  const MatrixBelief* belief_ = nullptr;
  std::unique_ptr<Policy> policy_;
  std::size_t pass_ = 0;
};

Parameters incremental(std::int64_t budget) {
  Parameters p(find_policy("incremental-matching")->parameters);
  p.set("rescore_budget", budget);
  return p;
}

double cost_of(const std::vector<std::vector<JobId>>& groups, const std::vector<double>& cost,
               std::size_t n) {
  double sum = 0;
  for (const auto& g : groups) {
    if (g.size() == 2) sum += cost[index(g[0]) * n + index(g[1])];
  }
  return sum;
}

// GPUs for all jobs: the plan is a matching of the whole queue.
TEST(IncrementalMatching, PairsEverybodyOnce) {
  for (const std::size_t n : {1U, 2U, 3U, 40U, 41U}) {
    const auto groups = Queue(n, 40, random_costs(n, n), incremental(0)).decide(first_jobs(n));
    std::set<JobId> seen;
    for (const auto& g : groups) seen.insert(g.begin(), g.end());
    EXPECT_EQ(seen.size(), n);
    EXPECT_EQ(groups.size(), (n + 1) / 2);
  }
}

// One GPU, a budget for all pairs: after some passes over the same queue the kept matching is as good as
// the full one of the same jobs. Shown by GPUs for all jobs at the end.
TEST(IncrementalMatching, ComesCloseToTheFullMatching) {
  const std::size_t n = 160;
  const std::vector<double> cost = random_costs(n, 3);
  const auto full = min_cost_matching(cost, n);
  double optimum = 0;
  for (std::size_t i = 0; i < n; ++i)
    optimum += cost[i * n + static_cast<std::size_t>(full[i])] / 2;
  Queue queue(n, 100, cost, incremental(1'000'000));
  double last = cost_of(queue.decide(first_jobs(n)), cost, n);
  for (int pass = 0; pass < 4; ++pass) {
    const double next = cost_of(queue.decide(first_jobs(n)), cost, n);
    EXPECT_LE(next, last + 1e-9);  // repaired, never made worse
    last = next;
  }
  EXPECT_GE(last, optimum - 1e-6);
  EXPECT_LE(last, 1.1 * optimum);
}

// Work per pass: no more pairs than the budget once no job is new, and none without changes.
TEST(IncrementalMatching, ScoresAreReusedAndTheBudgetIsKept) {
  const std::size_t n = 300;
  Queue queue(n, 1, random_costs(n, 4), incremental(20 * 299));
  std::size_t before = queue.asked();
  const std::size_t slack =
      20 * 9 * 16 + 100;  // blocks of those without a co-runner, present pairs
  for (int pass = 0; pass < 45; ++pass) {
    queue.decide(first_jobs(n));
    EXPECT_LE(queue.asked() - before, 20 * 299 + slack);
    before = queue.asked();
  }
  queue.decide(first_jobs(n));
  EXPECT_LE(queue.asked() - before, 1U);  // the pair that starts
  const std::vector<MemberOutcome> members = {{J(0), seconds(10), seconds(12), 0.2},
                                              {J(1), seconds(10), seconds(12), 0.2}};
  queue.policy().corun_ended({members, seconds(12), 0.4, true, seconds(12)});
  before = queue.asked();
  queue.decide(first_jobs(n));
  EXPECT_GT(queue.asked() - before, 20U * 299 - 1);  // the belief has learnt
}

// The co-runner of a job that leaves is without one; new jobs are matched at once.
TEST(IncrementalMatching, FollowsTheQueue) {
  const std::size_t n = 60;
  Queue queue(n, 100, random_costs(n, 5), incremental(0));
  std::vector<JobId> waiting = first_jobs(40);
  queue.decide(waiting);
  waiting.erase(waiting.begin() + 3, waiting.begin() + 10);
  for (std::uint32_t i = 40; i < n; ++i) waiting.push_back(J(i));
  std::set<JobId> seen;
  std::size_t alone = 0;
  for (const auto& g : queue.decide(waiting)) {
    seen.insert(g.begin(), g.end());
    alone += g.size() == 1 ? 1 : 0;
  }
  EXPECT_EQ(seen, std::set<JobId>(waiting.begin(), waiting.end()));
  EXPECT_EQ(alone, waiting.size() % 2);
}

TEST(IncrementalMatching, FillsTheGpusWhateverTheBudget) {
  const std::size_t n = 400;
  EXPECT_EQ(Queue(n, 90, random_costs(n, 6), incremental(0)).decide(first_jobs(n)).size(), 90U);
}

// ---- min-slowdown over a longer window -----------------------------------------------------------

TEST(LongWindow, IsMatchedSparselyAndSaysWhatItMayLose) {
  const std::size_t n = 400;
  const std::vector<double> cost = random_costs(n, 7);
  Parameters parameters(find_policy("min-slowdown")->parameters);
  parameters.set("window", std::int64_t{1000});
  Queue queue(n, 300, cost, parameters, "min-slowdown");
  const auto groups = queue.decide(first_jobs(n));
  EXPECT_EQ(groups.size(), n / 2);
  const auto bound = queue.policy().plan_quality();
  ASSERT_TRUE(bound.has_value());
  EXPECT_NEAR(bound->cost, cost_of(groups, cost, n), 1e-6);
  const auto full = min_cost_matching(cost, n);
  double optimum = 0;
  for (std::size_t i = 0; i < n; ++i)
    optimum += cost[i * n + static_cast<std::size_t>(full[i])] / 2;
  EXPECT_LE(bound->least, optimum + 1e-6);
  EXPECT_LE(bound->cost - bound->least, 0.005 * bound->cost + 1e-9);
}

// Without a window: the 256 oldest, over all pairs, no bound needed.
TEST(LongWindow, IsAskedFor) {
  const std::size_t n = 400;
  Queue queue(n, 300, random_costs(n, 7), Parameters(find_policy("min-slowdown")->parameters),
              "min-slowdown");
  EXPECT_EQ(queue.decide(first_jobs(n)).size(), Recommender::kMatchedJobs / 2);
  EXPECT_FALSE(queue.policy().plan_quality().has_value());
}

TEST(LongWindow, UpToTheFullMatchingsLimitThePlanIsTheSame) {
  const std::size_t n = 200;
  Parameters parameters(find_policy("min-slowdown")->parameters);
  const auto plain =
      Queue(n, 300, random_costs(n, 8), parameters, "min-slowdown").decide(first_jobs(n));
  parameters.set("window", std::int64_t{1000});
  EXPECT_EQ(Queue(n, 300, random_costs(n, 8), parameters, "min-slowdown").decide(first_jobs(n)),
            plain);
}

}  // namespace
}  // namespace corun::test::incremental_matching_test
