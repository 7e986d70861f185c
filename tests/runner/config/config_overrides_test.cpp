#include "runner/config/config_overrides.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "runner/config/config_writer.hpp"
#include "sim/base/text.hpp"
#include "tests/runner/config/config_test_support.hpp"

namespace corun::config_overrides_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

TEST(Overrides, LaterOnesWinOverEarlierOnesAndTheFile) {
  const Config c = parse("seed: 1\nreplications: 5\n",
                         {"seed=2", "cluster.oom.ramp_s=1.5", "seed=3", "world.path=a,b.csv"});
  EXPECT_EQ(c.seed, 3U);
  EXPECT_EQ(c.replications, 5);
  EXPECT_EQ(c.cluster.oom.ramp_s, 1.5);
  EXPECT_EQ(c.world.path, "a,b.csv");
  EXPECT_EQ(c.place("seed"), "--set seed=3");
  EXPECT_EQ(c.place("cluster.oom.ramp_s"), "--set cluster.oom.ramp_s=1.5");
  EXPECT_EQ(c.place("replications"), "c.yaml:2:15");
}

TEST(Overrides, MendABadValueOfTheFile) {
  EXPECT_EQ(parse("replications: -1\n", {"replications=4"}).replications, 4);
}

TEST(Overrides, ReplaceWholeValues) {
  const Config c = parse("cluster: {nodes: 2, gpu_type: A100}\nworkload: {path: x.csv}\n",
                         {"cluster={nodes: 9}", "cluster.gpus_per_node=3", "workload.path=null",
                          "policies=[{name: fcfs}, random]"});
  EXPECT_EQ(c.cluster.nodes, 9);
  EXPECT_EQ(c.cluster.gpus_per_node, 3);
  EXPECT_EQ(c.cluster.gpu_type, "V100-16GB");
  EXPECT_EQ(c.workload.path, std::nullopt);
  ASSERT_EQ(c.policies.size(), 2U);
  EXPECT_EQ(c.policies[1].name, "random");
  EXPECT_EQ(c.place("policies[1]"), "--set policies=[{name: fcfs}, random]");
}

TEST(Overrides, ReachIntoPolicies) {
  const Config c =
      parse("policies:\n  - min-slowdown\n  - {name: max-packing, order: [[1, 2]]}\n",
            {"policies[0].epsilon=0.5", "policies[1].order[0][1]=3", "policies[0].label=greedy"});
  EXPECT_EQ(c.policies[0].settings.at("epsilon"), ParameterValue(0.5));
  EXPECT_EQ(c.policies[0].label, "greedy");
  EXPECT_EQ(c.policies[1].settings.at("order"),
            ParameterValue(std::vector<std::pair<int, int>>{{1, 3}}));
  EXPECT_EQ(c.place("policies[0]"), "c.yaml:2:5");
  EXPECT_EQ(c.place("policies[0].epsilon"), "--set policies[0].epsilon=0.5");
}

TEST(Overrides, ReachIntoTheDefaultPolicies) {
  const Strings overrides = {"policies[4].epsilon=0.5", "policies[0]=random"};
  const Config c = default_config_with(parse_overrides(overrides), with_defaults());
  ASSERT_EQ(c.policies.size(), 9U);
  EXPECT_EQ(c.policies[4].name, "min-slowdown");
  EXPECT_EQ(c.policies[4].settings.at("epsilon"), ParameterValue(0.5));
  EXPECT_EQ(c.policies[0].name, "random");
  EXPECT_EQ(c.place("policies"), "the default of policies");
  EXPECT_EQ(c.place("policies[4]"), "the default of policies[4]");
  EXPECT_EQ(c.place("policies[4].epsilon"), "--set policies[4].epsilon=0.5");
  EXPECT_EQ(c.place("policies[0]"), "--set policies[0]=random");
}

TEST(Overrides, NamePoliciesByLabel) {
  const std::string text = "policies: [{name: min-slowdown, label: greedy}, min-slowdown, fcfs]\n";
  const Strings by_label = {"policies.min-slowdown.epsilon=0.5", "policies.greedy.threshold=1",
                            "policies.fcfs=random"};
  const Config c = parse(text, by_label);
  EXPECT_EQ(c.policies[1].settings.at("epsilon"), ParameterValue(0.5));
  EXPECT_EQ(c.policies[0].settings.at("threshold"), ParameterValue(1.0));
  EXPECT_FALSE(c.policies[0].settings.contains("epsilon"));
  EXPECT_EQ(c.policies[2].name, "random");
  EXPECT_EQ(c.place("policies[1].epsilon"), "--set policies.min-slowdown.epsilon=0.5");
  const Strings by_position = {"policies[1].epsilon=0.5", "policies[0].threshold=1",
                               "policies[2]=random"};
  EXPECT_EQ(dump_yaml(c), dump_yaml(parse(text, by_position)));
  const Strings defaults = {"policies.min-slowdown.epsilon=0.5"};
  EXPECT_EQ(default_config_with(parse_overrides(defaults), with_defaults())
                .policies[4]
                .settings.at("epsilon"),
            ParameterValue(0.5));
}

TEST(Overrides, SeeTheLabelsOfEarlierOnes) {
  const std::string text = "policies: [min-slowdown]\n";
  const Config c = parse(text, {"policies.min-slowdown.label=mine", "policies.mine.epsilon=0.5"});
  EXPECT_EQ(c.policies[0].settings.at("epsilon"), ParameterValue(0.5));
  const std::string error =
      error_of(text, {"policies.min-slowdown.label=mine", "policies.min-slowdown.epsilon=1"});
  EXPECT_NE(error.find("no policy is labelled 'min-slowdown'"), std::string::npos) << error;
}

TEST(Overrides, RefuseALabelThatTwoPoliciesHave) {
  const std::string error = error_of("policies: [fcfs, random, {name: random, label: fcfs}]\n",
                                     {"policies.fcfs.order=x"});
  EXPECT_NE(error.find("2 policies are labelled 'fcfs', expected a position: policies[0], "
                       "policies[2]"),
            std::string::npos)
      << error;
}

struct BadOverride {
  const char* name;
  const char* text;
  const char* hint;
};

void PrintTo(const BadOverride& o, std::ostream* out) { *out << o.name; }

class RefusedOverride : public testing::TestWithParam<BadOverride> {};

TEST_P(RefusedOverride, BeginsWithTheOption) {
  const std::string error = error_of("seed: 1\npolicies: [min-slowdown]\n", {GetParam().text});
  const std::string place = "--set " + printable(GetParam().text, 1000) + ": ";
  EXPECT_EQ(error.substr(0, place.size()), place) << error;
  EXPECT_NE(error.find(GetParam().hint), std::string::npos) << error;
  EXPECT_EQ(error.find_first_of("\n\r\t"), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedOverride,
    testing::Values(
        BadOverride{"unknown", "clutser.nodes=1", "did you mean 'cluster'?"},
        BadOverride{"unknown_inner", "cluster.node=1", "did you mean 'nodes'?"},
        BadOverride{"unknown_list", "polices[0].epsilon=1", "did you mean 'policies'?"},
        BadOverride{"unknown_parameter", "policies[0].epsilo=1", "did you mean 'epsilon'?"},
        BadOverride{"unknown_policy", "policies[0]=min-slowdwn", "did you mean 'min-slowdown'?"},
        BadOverride{"type", "cluster.nodes=many", "cluster.nodes: found 'many'"},
        BadOverride{"range", "replications=0", "from 1 to"},
        BadOverride{"no_equals", "seed", "expected KEY.PATH=VALUE"},
        BadOverride{"nothing", "", "expected KEY.PATH=VALUE"},
        BadOverride{"no_key", "=1", "expected KEY.PATH=VALUE"},
        BadOverride{"bad_path", "cluster..nodes=1", "expected KEY.PATH=VALUE"},
        BadOverride{"end_point", "cluster.=1", "expected KEY.PATH=VALUE"},
        BadOverride{"bad_index", "policies[x]=1", "expected KEY.PATH=VALUE"},
        BadOverride{"negative_index", "policies[-1]=fcfs", "expected KEY.PATH=VALUE"},
        BadOverride{"huge_index", "policies[99999999999999999999]=fcfs", "KEY.PATH=VALUE"},
        BadOverride{"open_index", "policies[0=fcfs", "expected KEY.PATH=VALUE"},
        BadOverride{"no_value", "seed=", "found no value"},
        BadOverride{"comment", "seed= # none", "found no value"},
        BadOverride{"beyond_the_end", "policies[1]=fcfs", "expected an index below 1"},
        BadOverride{"index_of_map", "cluster[0]=1", "expected a list before [0]"},
        BadOverride{"key_of_list", "policies.epsilon=1", "such as policies[0].epsilon"},
        BadOverride{"near_label", "policies.min-slowdwn.epsilon=1", "did you mean 'min-slowdown'?"},
        BadOverride{"odd_label", "policies.a b.epsilon=1", "a label in a path has letters"},
        BadOverride{"below_a_number", "replications.x=1", "replications: found a map"},
        BadOverride{"block_map", "cluster=nodes: 2", "without brackets"},
        BadOverride{"block_list", "policies=- fcfs", "without brackets"},
        BadOverride{"open_quote", "workload.path='x", "unterminated"},
        BadOverride{"open_quote_in_list", "policies=['fcfs]", "quote left open?"},
        BadOverride{"open_bracket", "policies=[fcfs", "bracket or quote left open?"},
        BadOverride{"anchor", "seed=&a 1", "found an anchor"},
        BadOverride{"control", "seed=\x01", "0x01"},
        BadOverride{"break", "seed=1\n---\n2", "second document"},
        BadOverride{"duplicate", "cluster={nodes: 1, nodes: 2}", "duplicate key 'nodes'"},
        BadOverride{"empty_policies", "policies=[]", "at least one policy"},
        BadOverride{"null_policies", "policies=null", "expected a list of policies"}),
    [](const testing::TestParamInfo<BadOverride>& bad) { return std::string(bad.param.name); });

TEST(Overrides, MistakesOfTheFileKeepTheirPlace) {
  EXPECT_EQ(error_of("cluster: 5\n", {"cluster.nodes=2"}).substr(0, 24),
            "c.yaml:1:10: cluster: fo");
  EXPECT_EQ(error_of("- a\n", {"seed=2"}).substr(0, 12), "c.yaml:1:1: ");
  EXPECT_EQ(error_of("", {"seed=2"}).substr(0, 12), "c.yaml:1:1: ");
}

}  // namespace
}  // namespace corun::config_overrides_test
