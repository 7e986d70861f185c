#include "runner/experiment/policy_instances.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/config/config_yaml.hpp"
#include "sim/error.hpp"

namespace corun::policy_instances_test {
namespace {

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << part << "'";
}

Config with(const std::vector<std::string>& overrides) {
  return default_config_with(parse_overrides(overrides), policy_catalog());
}

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    policy_instances(with(overrides));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PolicyInstances, EqualLabelsAreNumbered) {
  const auto policies = policy_instances(
      with({"policies=[{name: fcfs}, {name: random, label: fcfs}, {name: random}]"}));
  ASSERT_EQ(policies.size(), 3U);
  EXPECT_EQ(policies[0].label, "fcfs#1");
  EXPECT_EQ(policies[1].label, "fcfs#2");
  EXPECT_EQ(policies[2].label, "random");
  EXPECT_EQ(policies[1].key, "policies[1]");
  EXPECT_EQ(policies[1].entry->name, "random");
}

TEST(PolicyInstances, TruthIsMarkedWhereverItIsGranted) {
  for (const auto& policy : policy_instances(with({}))) {
    EXPECT_EQ(policy.granted_truth, policy.label == "oracle") << policy.label;
  }
  for (const auto& policy : policy_instances(with({"belief.model=truth"}))) {
    EXPECT_EQ(policy.granted_truth, policy.entry->needs != PolicyNeeds::kNothing) << policy.label;
  }
}

TEST(PolicyInstances, AnAliasIsTheLabel) {
  const auto policies =
      policy_instances(with({"policies=[slot, exclusive, {name: slot, label: alone}]"}));
  ASSERT_EQ(policies.size(), 3U);
  for (const auto& policy : policies) EXPECT_EQ(policy.entry->name, "exclusive");
  EXPECT_EQ(policies[0].label, "slot");
  EXPECT_EQ(policies[1].label, "exclusive");
  EXPECT_EQ(policies[2].label, "alone");
}

TEST(PolicyInstances, RefusesWhatCannotBeHad) {
  EXPECT_TRUE(contains(refusal({"policies=[reactive]"}),
                       "policy 'reactive' goes by profiles measured on a GPU, found "
                       "profiling.mode: none; set it to minute or epoch"));
  EXPECT_EQ(refusal({"policies=[reactive]", "profiling.mode=minute"}), "");
  EXPECT_TRUE(contains(refusal({"policies=[{name: sjf}]"}),
                       "goes by estimates of run time, found estimates.duration: none"));
  EXPECT_EQ(refusal({"policies=[{name: sjf}]", "estimates.duration=exact"}), "");
  EXPECT_TRUE(
      contains(refusal({"policies=[{name: fcfs}, {name: fcfs}, {name: random, label: 'fcfs#1'}]"}),
               "two policies are labelled 'fcfs#1'"));
}

TEST(PolicyInstances, ParametersNameJobsAndClustersThatAreThere) {
  Trace trace;
  trace.jobs = {{{}, "a"}, {{}, "b"}};
  const auto message = [&](const std::string& policy) -> std::string {
    const Config config = with({"policies=[" + policy + "]"});
    try {
      parameters_of(policy_instances(config).front(), config, trace, 3);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("{name: min-slowdown, pairing: given, order: [[0, 2]]}"), "");
  EXPECT_TRUE(contains(message("{name: min-slowdown, pairing: given, order: [[0, 3]]}"),
                       "found cluster 3, expected clusters 0 to 2"));
}

}  // namespace
}  // namespace corun::policy_instances_test
