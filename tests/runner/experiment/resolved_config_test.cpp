#include "runner/experiment/resolved_config.hpp"

#include <cmath>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// A resolved configuration, written and read again, is the same experiment.
namespace corun::resolved_config_test {
namespace {

constexpr const char* kGangs =
    "job,submit_s,solo_s,gpus,gpu_util_pct\na,0,100,2,50\nb,0,50,1,20\nc,5,70,1,30\n";

class ResolvedConfigs : public testing::Test {
 protected:
  std::string gangs() const { return directory_.write("g.csv", kGangs); }
  std::vector<std::string> csv(std::vector<std::string> more) const {
    more.insert(more.begin(), {"workload.source=csv", "workload.path=" + gangs()});
    return more;
  }

  test::TemporaryDirectory directory_;
};

Experiment made(const Config& config) { return Experiment(config, ""); }

Config given(const std::vector<std::string>& overrides) {
  return default_config_with(overrides, policy_catalog());
}

Config again(const Experiment& experiment) {
  return parse_config(dump_yaml(experiment.config()), "dump", {}, policy_catalog());
}

/// All metrics of all policies of replication 0; none if a policy broke a rule of the control loop.
std::vector<double> metrics(const Experiment& experiment) {
  std::vector<double> all;
  try {
    for (const PolicyRun& run : experiment.run(0).runs) {
      for (const double value : run.metrics) all.push_back(std::isnan(value) ? -1 : value);
    }
  } catch (const InputError&) {
    all.clear();
  }
  return all;
}

std::vector<std::string> labels(const Experiment& experiment) {
  std::vector<std::string> all;
  for (const PolicyInstance& policy : experiment.policies()) all.push_back(policy.label);
  return all;
}

void expect_same(const Experiment& first) {
  const Experiment second(again(first), "");
  EXPECT_EQ(dump_yaml(second.config()), dump_yaml(first.config()));
  EXPECT_EQ(labels(second), labels(first));
  EXPECT_EQ(second.warnings(), first.warnings());
  EXPECT_EQ(metrics(second), metrics(first));
  EXPECT_TRUE(second.resolutions().empty());
}

TEST_F(ResolvedConfigs, HasOnlyThePoliciesThatCanPlaceEveryJob) {
  const Experiment experiment(given(csv({"cluster.nodes=4"})), "");
  EXPECT_LT(experiment.policies().size(),
            default_config_with({}, policy_catalog()).policies.size());
  ASSERT_FALSE(experiment.resolutions().empty());
  EXPECT_NE(experiment.resolutions()[0].find("left out of the default comparison"),
            std::string::npos);
  expect_same(experiment);
}

TEST_F(ResolvedConfigs, HasTheNodesOfVirtualClusters) {
  directory_.write("vc.csv", "vc,nodes\ndefault,2\nother,1\n");
  directory_.write("v.csv", "job,submit_s,solo_s,virtual_cluster\na,0,10,default\nb,0,5,other\n");
  const Experiment experiment(
      given({"workload.source=csv", "workload.path=" + directory_.path("v.csv"),
             "cluster.virtual_clusters=" + directory_.path("vc.csv")}),
      "");
  EXPECT_EQ(experiment.config().cluster.nodes, 3);
  expect_same(experiment);
}

TEST_F(ResolvedConfigs, GivesPoliciesTheEstimatesThatTheyNeed) {
  const Experiment experiment(
      given(csv({"policies=[{name: sjf}, {name: fifo}]", "cluster.gpus_per_node=2"})), "");
  EXPECT_EQ(experiment.config().estimates.duration, EstimateKind::kExact);
  ASSERT_EQ(experiment.resolutions().size(), 1U);
  EXPECT_NE(experiment.resolutions()[0].find("exact run times are told to sjf"), std::string::npos);
  expect_same(experiment);
  EXPECT_THROW(made(given(csv({"policies=[{name: sjf}]", "cluster.gpus_per_node=2",
                               "estimates.duration=none"}))),
               InputError);
}

/// Keys whose values depend on one another, and what may stand there.
const std::vector<std::pair<std::string, std::vector<std::string>>> kDrawn{
    {"cluster.nodes", {"1", "2", "3"}},
    {"cluster.gpus_per_node", {"1", "2"}},
    {"cluster.gpu_type", {"v100", "T4", "A100-40GB"}},
    {"cluster.gpu_memory_mib", {"8000", "null"}},
    {"cluster.gpu_speed", {"2", "0.5"}},
    {"cluster.machines", {"2x1:T4+1x2:V100-16GB"}},
    {"cluster.sharing", {"mps", "time-slicing"}},
    {"cluster.max_jobs_per_gpu", {"1", "2", "3"}},
    {"cluster.oom", {"{ramp_s: 0}", "{retries: 1}"}},
    {"workload.jobs", {"12", "5"}},
    {"workload.load", {"0.7"}},
    {"workload.order", {"trace", "shuffled"}},
    {"workload.profiles", {"jrs"}},
    {"world.model", {"none", "contention", "measured", "cluster-mean"}},
    {"world.fallback", {"contention", "cluster-mean"}},
    {"world.noise", {"false"}},
    {"belief.model", {"truth", "cluster-mean", "contention"}},
    {"belief.initial", {"jrs", "prirect"}},
    {"belief.known", {"0.5", "0"}},
    {"estimates.duration", {"exact", "lognormal", "none", "shuffled"}},
    {"estimates.memory", {"none", "lognormal"}},
    {"profiling.mode", {"minute", "epoch", "none", "predictor"}},
    {"profiling.keeps_progress", {"true"}},
    {"probing.probes", {"1"}},
    {"preemption.save_s", {"5"}},
    {"control.start", {"join", "group"}},
    {"control.plan", {"once"}},
    {"control", {"{mode: rounds, round_s: 60}", "{tick_s: 1}", "{reallocate_s: 30}"}},
    {"measure.skip_first", {"0.1"}},
    {"measure.details", {"false"}},
    {"policies",
     {"[fcfs, random]", "[{name: sjf}, {name: las}]", "[{name: min-slowdown, epsilon: 0.2}]",
      "[{name: kube-default}, {name: fgd}, {name: best-fit}]",
      "[{name: proactive}, {name: reactive}]", "[{name: schedtune}]",
      "[{name: srsf-packed}, {name: srtf}]", "[{name: oracle}, {name: balance}]",
      "[{name: max-packing, by: memory}, {name: opposites}, {name: exclusive}]"}},
    {"seed", {"7", "1000"}},
};

TEST_F(ResolvedConfigs, AnyOfThemIsTheSameExperimentWhenReadAgain) {
  int ran = 0;
  const int runs = test::random_runs(500);
  for (int number = 0; number < runs; ++number) {
    Rng rng(static_cast<std::uint64_t>(number), Stream::kTest, 46);
    const auto below = [&](std::size_t n) { return rng.below(static_cast<std::uint32_t>(n)); };
    std::vector<std::string> overrides;
    if (below(3) == 0) overrides = csv({});
    const std::size_t count = 1 + below(5);
    for (std::size_t k = 0; k < count; ++k) {
      const auto& [key, values] = kDrawn[below(kDrawn.size())];
      overrides.push_back(key + "=" + values[below(values.size())]);
    }
    std::string shown;
    for (const std::string& o : overrides) shown += " --set '" + o + "'";
    SCOPED_TRACE(shown);
    std::unique_ptr<Experiment> first;
    try {
      first = std::make_unique<Experiment>(given(overrides), "");
      first->check_runs();
    } catch (const InputError&) {
      continue;  // keys that contradict each other
    }
    ++ran;
    expect_same(*first);
    if (HasFailure()) break;
  }
  EXPECT_GT(ran, test::random_finds(150));
}

}  // namespace
}  // namespace corun::resolved_config_test
