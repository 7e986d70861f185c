#include "runner/experiment/resolved_config.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// What resolving fills in. A resolved configuration, written and read again, is the same experiment: of drawn ones,
/// tests/cli/dumped_run_test.cpp.
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
  return default_config_with(parse_overrides(overrides), policy_catalog());
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
  EXPECT_EQ(second.notes(), first.notes());
  EXPECT_EQ(metrics(second), metrics(first));
  EXPECT_TRUE(second.resolutions().empty());
}

TEST_F(ResolvedConfigs, HasOnlyThePoliciesThatCanPlaceEveryJob) {
  const Experiment experiment(given(csv({"cluster.nodes=4"})), "");
  EXPECT_LT(experiment.policies().size(),
            default_config_with({}, policy_catalog()).policies.size());
  ASSERT_FALSE(experiment.resolutions().empty());
  EXPECT_EQ(experiment.resolutions()[0].code, NoteCode::kPolicyLeftOut);
  EXPECT_NE(experiment.resolutions()[0].text.find("left out of the default comparison"),
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
  EXPECT_EQ(experiment.resolutions()[0].code, NoteCode::kNeedOfPolicies);
  EXPECT_NE(experiment.resolutions()[0].text.find("exact run times are told to sjf"),
            std::string::npos);
  expect_same(experiment);
  EXPECT_THROW(made(given(csv({"policies=[{name: sjf}]", "cluster.gpus_per_node=2",
                               "estimates.duration=none"}))),
               InputError);
}

}  // namespace
}  // namespace corun::resolved_config_test
