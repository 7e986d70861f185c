#include "runner/replay/variation.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"

namespace corun::variation_test {
namespace {

struct Replayed {
  explicit Replayed(const std::vector<std::string>& settings, unsigned threads = 2)
      : experiment(default_config_with(parse_overrides(settings), policy_catalog()), ""),
        result(replay(experiment, {.threads = threads, .keep_records = false})),
        variations(variations_of(experiment, result, Metric::kJctS, {.threads = threads})) {}

  std::string text() const { return text_of(variations, "JCT"); }

  Experiment experiment;
  ReplayResult result;
  Variations variations;
};

const std::string kManyRuns = "replications=20";

TEST(Variation, OneKindIsNamedWithoutShare) {
  // No job shares a GPU, so no cost is drawn, and the policy draws nothing.
  EXPECT_EQ(Replayed({kManyRuns, "policies=[exclusive]"}).text(),
            "what varies between replications: the order of arrivals");
  EXPECT_EQ(Replayed({kManyRuns, "policies=[sjf]", "workload.order=trace",
                      "estimates.duration=lognormal"})
                .text(),
            "what varies between replications: errors of estimates");
  EXPECT_EQ(Replayed({kManyRuns, "policies=[random]", "workload.order=trace", "world.noise=false"})
                .text(),
            "what varies between replications: random choices of policies");
}

TEST(Variation, FewerReplicationsHaveNamesWithoutShares) {
  const Replayed run({kManyRuns, "policies=[fcfs, random]"});
  EXPECT_TRUE(run.variations.measured);
  EXPECT_EQ(
      run.text(),
      "what varies between replications: the order of arrivals; costs of co-runs that were not "
      "measured; random choices of policies");
}

TEST(Variation, SharesAddUpAndTheLargestIsFirst) {
  const Replayed run({"replications=50", "policies=[fcfs, random]"});
  ASSERT_TRUE(run.variations.measured);
  ASSERT_EQ(run.variations.kinds.size(), 3U) << run.text();
  double sum = 0;
  for (const Variation& v : run.variations.kinds) sum += v.share.value();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_TRUE(
      std::ranges::is_sorted(run.variations.kinds, std::ranges::greater(), &Variation::share));
  EXPECT_NE(run.text().find(" % of the variance of JCT); "), std::string::npos) << run.text();
}

TEST(Variation, NothingWhereNothingVaries) {
  EXPECT_EQ(
      Replayed({kManyRuns, "policies=[fcfs]", "workload.order=trace", "world.noise=false"}).text(),
      "");
  EXPECT_EQ(Replayed({"replications=1"}).text(), "");
}

/// More replications would cost more than they tell: the kinds that the configuration draws are named.
TEST(Variation, FewReplicationsTellWhatMayVary) {
  const Replayed run({"replications=3", "policies=[fcfs]", "world.noise=false"});
  EXPECT_FALSE(run.variations.measured);
  EXPECT_EQ(run.text(), "what may vary between replications: the order of arrivals");
}

TEST(Variation, DrawnSpeedsOfGpuTypesAreAKindOfTheirOwn) {
  const Replayed run({kManyRuns, "policies=[exclusive]", "workload.order=trace",
                      "cluster.machines=2x1:V100+2x1:T4"});
  EXPECT_EQ(run.text(),
            "what varies between replications: speeds on GPU types that were not measured");
}

TEST(Variation, IsTheSameForAnyNumberOfThreads) {
  const std::vector<std::string> settings{"replications=50", "policies=[fcfs, random]"};
  EXPECT_EQ(Replayed(settings, 1).text(), Replayed(settings, 3).text());
}

/// A replication is the one whose draws are all its own.
TEST(Draws, OfOneReplicationAreThatReplication) {
  const Experiment experiment(
      default_config_with(parse_overrides(std::vector<std::string>{"policies=[fcfs]"}),
                          policy_catalog()),
      "");
  const auto jct = [](const Replication& r) { return at(r.runs.front().metrics, Metric::kJctS); };
  Draws draws(0);
  for (const Drawn drawn : {Drawn::kJobs, Drawn::kOrder, Drawn::kCosts, Drawn::kSpeeds,
                            Drawn::kBeliefs, Drawn::kEstimates, Drawn::kChoices, Drawn::kCluster}) {
    draws = draws.with(drawn, 5);
  }
  EXPECT_EQ(jct(experiment.run(draws, {})), jct(experiment.run(5)));
  EXPECT_NE(jct(experiment.run(Draws(5).with(Drawn::kOrder, 4), {})), jct(experiment.run(5)));
}

}  // namespace
}  // namespace corun::variation_test
