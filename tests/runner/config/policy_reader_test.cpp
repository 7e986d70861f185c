#include "runner/config/policy_reader.hpp"

#include <string>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "tests/runner/config/config_test_support.hpp"

namespace corun::policy_reader_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

class RefusedPolicy : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedPolicy, NamesPlaceAndHintOnOneLine) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Policies, RefusedPolicy,
    testing::Values(
        Refusal{"none", "policies: []\n", "c.yaml:1:11", "at least one policy"},
        Refusal{"scalar", "policies: fcfs\n", "c.yaml:1:11", "expected a list of policies"},
        Refusal{"null", "policies:\n", "c.yaml:1:1", "expected a list of policies"},
        Refusal{"map", "policies: {name: fcfs}\n", "c.yaml:1:11", "found a map"},
        Refusal{"unknown", "policies: [{name: min-slowdwn}]\n", "c.yaml:1:19",
                "unknown policy 'min-slowdwn': did you mean 'min-slowdown'? known: fcfs, random, "
                "min-slowdown, max-packing"},
        Refusal{"unknown_short", "policies:\n  - fcsf\n", "c.yaml:2:5", "did you mean 'fcfs'?"},
        Refusal{"nameless", "policies:\n  - {epsilon: 0.5}\n", "c.yaml:2:5", "found no 'name'"},
        Refusal{"list_entry", "policies: [[fcfs]]\n", "c.yaml:1:12", "policies[0]: found a list"},
        Refusal{"empty_entry", "policies:\n  -\n", "c.yaml:2:3", "policies[0]: found nothing"},
        Refusal{"list_name", "policies: [{name: [a]}]\n", "c.yaml:1:19", "policies[0].name"},
        Refusal{"null_name", "policies: [{name: }]\n", "c.yaml:1:13", "policies[0].name"},
        Refusal{"unknown_parameter", "policies: [{name: min-slowdown, epsilo: 0}]\n", "c.yaml:1:33",
                "unknown parameter 'epsilo' of policy 'min-slowdown': did you mean 'epsilon'?"},
        Refusal{"no_parameters", "policies: [{name: fcfs, epsilon: 0}]\n", "c.yaml:1:25",
                "known: name, label"},
        Refusal{"range", "policies: [{name: min-slowdown, epsilon: 1.5}]\n", "c.yaml:1:42",
                "policies[0].epsilon: found '1.5', expected a number from 0 to 1"},
        Refusal{"not_finite", "policies: [{name: min-slowdown, epsilon: .nan}]\n", "c.yaml:1:42",
                "must be finite"},
        Refusal{"null_number", "policies: [{name: min-slowdown, epsilon: null}]", "c.yaml:1:42",
                "found nothing"},
        Refusal{"whole", "policies: [fcfs, {name: min-slowdown, bin_max: 1.5}]\n", "c.yaml:1:48",
                "policies[1].bin_max: found '1.5', expected a whole number from 1"},
        Refusal{"too_small", "policies: [{name: min-slowdown, bin_max: 0}]\n", "c.yaml:1:42",
                "or null"},
        Refusal{"choice", "policies: [{name: min-slowdown, pairing: match}]\n", "c.yaml:1:42",
                "did you mean 'matching'?"},
        Refusal{"pairs", "policies: [{name: min-slowdown, order: 1-1}]\n", "c.yaml:1:40",
                "such as [[1, 1], [0, 2]]"},
        Refusal{"pair_of_three", "policies: [{name: min-slowdown, order: [[1, 1], [0, 1, 2]]}]\n",
                "c.yaml:1:49", "policies[0].order[1]: found a list of 3"},
        Refusal{"pair_of_words", "policies: [{name: min-slowdown, order: [[1, a]]}]\n",
                "c.yaml:1:45", "policies[0].order[0][1]: found 'a'"},
        Refusal{"flat_pairs", "policies: [{name: min-slowdown, order: [1, 1]}]\n", "c.yaml:1:41",
                "a pair of clusters"},
        Refusal{"negative_cluster", "policies: [{name: min-slowdown, order: [[-1, 1]]}]\n",
                "c.yaml:1:42", "from 0"},
        Refusal{"jobs", "policies: [{name: min-slowdown, bin: J7}]\n", "c.yaml:1:38",
                "a list of job names"},
        Refusal{"job_twice", "policies: [{name: min-slowdown, bin: [J7, J5, J7]}]\n", "c.yaml:1:47",
                "each job once"},
        Refusal{"job_map", "policies: [{name: min-slowdown, bin: [{a: b}]}]\n", "c.yaml:1:39",
                "the name of a job"},
        Refusal{"label", "policies: [{name: fcfs, label: [a]}]\n", "c.yaml:1:32",
                "policies[0].label: found a list"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Preemption, RefusedPolicy,
    testing::Values(
        Refusal{"save_negative", "preemption: {save_s: -1}", "c.yaml:1:22", "a number from 0"},
        Refusal{"lost_twice", "preemption: {lost_work: 2}", "c.yaml:1:25", "from 0 to 1"},
        Refusal{"steps_alone", "policies: [{name: max-packing, steps: 3}]", "c.yaml:1:39",
                "expected a list of numbers"},
        Refusal{"steps_too_far", "policies: [{name: max-packing, steps: [3, 10]}]", "c.yaml:1:43",
                "policies[0].steps[1]: found '10', expected a number from 0 to 9"},
        Refusal{"command_alone", "policies: [{name: max-packing, command: run}]", "c.yaml:1:41",
                "expected a list of texts"},
        Refusal{"command_of_lists", "policies: [{name: max-packing, command: [[a]]}]",
                "c.yaml:1:42", "expected text"}),
    named);

/// Without `policies` a configuration runs these: they must exist.
TEST(PolicyCatalog, HasThePoliciesOfTheDefaultComparison) {
  const Config config = default_config();
  EXPECT_EQ(config.policies.size(), 9U);
  for (const PolicyConfig& p : config.policies) EXPECT_NE(find_policy(p.name), nullptr) << p.name;
}

}  // namespace
}  // namespace corun::policy_reader_test
