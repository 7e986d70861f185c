#include "experiments/config/config_yaml.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "experiments/config/yaml_tree.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {
namespace {

using Strings = std::vector<std::string>;

// A catalogue with a parameter of each kind, so that this test needs no policy.
const std::array<ParameterSpec, 8> kParameters = {{
    {"pairing",
     "how",
     ParameterKind::kChoice,
     std::string("matching"),
     0,
     0,
     {"matching", "greedy-rank", "given"}},
    {"epsilon", "share of random choices", ParameterKind::kNumber, 0.0, 0, 1, {}},
    {"order", "pairs of clusters", ParameterKind::kClusterPairs, std::monostate{}, 0, 0, {}},
    {"bin", "jobs", ParameterKind::kJobs, std::monostate{}, 0, 0, {}},
    {"bin_max",
     "jobs in a bin",
     ParameterKind::kInteger,
     std::monostate{},
     1,
     std::numeric_limits<double>::infinity(),
     {}},
    {"threshold",
     "any number or none",
     ParameterKind::kNumber,
     std::monostate{},
     -std::numeric_limits<double>::infinity(),
     std::numeric_limits<double>::infinity(),
     {}},
    {"steps", "some numbers", ParameterKind::kNumbers, std::vector<double>{1}, 0, 9, {}},
    {"command", "some words", ParameterKind::kTexts, std::monostate{}, 0, 0, {}},
}};

const std::array<PolicyEntry, 4> kPolicies = {{
    {"fcfs", "oldest two", PolicyNeeds::kNothing, {}, nullptr},
    {"random", "any two", PolicyNeeds::kNothing, {}, nullptr},
    {"min-slowdown", "the least slowdown", PolicyNeeds::kBelief, kParameters, nullptr},
    {"max-packing", "fullest", PolicyNeeds::kBelief, kParameters, nullptr},
}};

// Names all four, for overrides of the default list, which names policies that are not here.
std::vector<PolicyEntry> with_defaults() {
  std::vector<PolicyEntry> entries(kPolicies.begin(), kPolicies.end());
  for (const std::string_view name :
       {"kube-default", "balance", "opposites", "exclusive", "oracle"}) {
    entries.push_back({name, "", PolicyNeeds::kNothing, kParameters, nullptr});
  }
  return entries;
}

Config parse(std::string_view text, const Strings& overrides = {}) {
  return parse_config(text, "c.yaml", overrides, kPolicies);
}

/// The text of the InputError, or "accepted".
std::string error_of(std::string_view text, const Strings& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

struct Refusal {
  const char* name;
  std::string text;
  const char* place;  // what the error begins with
  const char* hint;   // what it holds
};

void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, NamesPlaceAndHintOnOneLine) {
  const std::string error = error_of(GetParam().text);
  EXPECT_EQ(error.substr(0, std::string(GetParam().place).size() + 2),
            std::string(GetParam().place) + ": ")
      << error;
  EXPECT_NE(error.find(GetParam().hint), std::string::npos) << error;
  EXPECT_EQ(error.find_first_of("\n\r\t"), std::string::npos) << error;
}

std::string named(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

std::string nested(std::size_t depth) {
  return "seed: " + std::string(depth, '[') + std::string(depth, ']');
}

INSTANTIATE_TEST_SUITE_P(
    Keys, Refused,
    testing::Values(
        Refusal{"unknown", "clutser: {nodes: 1}\n", "c.yaml:1:1", "did you mean 'cluster'? known:"},
        Refusal{"unknown_inner", "cluster:\n  nodes: 1\n  node: 2\n", "c.yaml:3:3",
                "unknown key 'node' in 'cluster': did you mean 'nodes'?"},
        Refusal{"unknown_flow", "cluster: {oom: {ramp: 3}}", "c.yaml:1:17",
                "did you mean 'ramp_s'?"},
        Refusal{"wrong_section", "nodes: 2\n", "c.yaml:1:1", "did you mean 'cluster.nodes'?"},
        Refusal{"far_from_all", "zzzzzz: 2\n", "c.yaml:1:1",
                "unknown key 'zzzzzz': known: workload"},
        Refusal{"duplicate", "seed: 1\nseed: 2\n", "c.yaml:2:1", "duplicate key 'seed'"},
        Refusal{"duplicate_says_where", "seed: 1\nseed: 2\n", "c.yaml:2:1", "also at c.yaml:1:1"},
        Refusal{"duplicate_inner", "world: {noise: true, path: a.csv, noise: false}", "c.yaml:1:35",
                "duplicate key 'noise'"},
        Refusal{"duplicate_quoted", "seed: 1\n'seed': 2\n", "c.yaml:2:1", "remove one"},
        Refusal{"list_as_key", "[a, b]: 2\n", "c.yaml:1:1", "found a list as a key"},
        Refusal{"map_as_key", "seed: 1\n{a: b}: 2\n", "c.yaml:2:1", "found a map as a key"},
        Refusal{"null_as_key", "~: 2\n", "c.yaml:1:1", "expected a plain word"},
        Refusal{"hostile_key", "\"a b\x01\": 2", "c.yaml:1:5", "0x01"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Types, Refused,
    testing::Values(
        Refusal{"word_for_number", "cluster: {nodes: many}\n", "c.yaml:1:18",
                "cluster.nodes: found 'many', expected a whole number from 1 to 1000000"},
        Refusal{"list_for_number", "seed: [1]\n", "c.yaml:1:7", "found a list, expected a whole"},
        Refusal{"map_for_number", "seed: {a: 1}\n", "c.yaml:1:7", "found a map"},
        Refusal{"null_for_number", "seed: null\n", "c.yaml:1:7", "found nothing (null)"},
        Refusal{"no_value", "seed:\nreplications: 3\n", "c.yaml:1:1", "seed: found nothing"},
        Refusal{"number_for_section", "cluster: 4\n", "c.yaml:1:10",
                "expected a map of keys; known:"},
        Refusal{"null_for_section", "seed: 1\ncluster:\n", "c.yaml:2:1", "found nothing (null)"},
        Refusal{"list_for_root", "- seed: 1\n", "c.yaml:1:1",
                "found a list, expected a map of keys"},
        Refusal{"word_for_root", "seed:1\n", "c.yaml:1:1", "found 'seed:1', expected a map"},
        Refusal{"number_for_text", "workload: {source: 12}\n", "c.yaml:1:20", "put it in quotes"},
        Refusal{"flag_for_text", "workload: {path: true}\n", "c.yaml:1:18", "text or null"},
        Refusal{"empty_text", "workload: {source: ''}\n", "c.yaml:1:20", "text that is not empty"},
        Refusal{"null_for_text", "workload: {source: ~}\n", "c.yaml:1:20", "expected text"},
        Refusal{"word_for_flag", "world: {noise: maybe}\n", "c.yaml:1:16",
                "expected true or false"},
        Refusal{"yes_for_flag", "world: {noise: yes}\n", "c.yaml:1:16", "; write true"},
        Refusal{"quoted_flag", "world: {noise: 'true'}\n", "c.yaml:1:16", "the quoted text 'true'"},
        Refusal{"break_in_text", "workload: {source: \"a\\nb\"}\n", "c.yaml:1:20",
                "one line of text"},
        Refusal{"nul_in_text", "workload: {source: \"a\\0b\"}\n", "c.yaml:1:20", "a\\x00b"},
        Refusal{"columns_are_characters", "workload: {path: äöü, jobs: x}\n", "c.yaml:1:29",
                "'x'"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Numbers, Refused,
    testing::Values(
        Refusal{"negative", "replications: -3\n", "c.yaml:1:15", "found '-3'"},
        Refusal{"zero", "cluster: {nodes: 0}\n", "c.yaml:1:18", "from 1 to"},
        Refusal{"zero_gpus", "cluster: {gpus_per_node: 0}\n", "c.yaml:1:26", "from 1 to"},
        Refusal{"zero_jobs", "workload: {jobs: 0}\n", "c.yaml:1:18", "from 1 to"},
        Refusal{"zero_jobs_per_gpu", "cluster: {max_jobs_per_gpu: 0}\n", "c.yaml:1:29", "or null"},
        Refusal{"too_many_replications", "replications: 10000001\n", "c.yaml:1:15", "to 10000000"},
        Refusal{"too_many_gpus", "cluster: {gpus_per_node: 1001, nodes: 1000}\n", "c.yaml:1:39",
                "expected at most 1000000 GPUs in all"},
        Refusal{"huge", "replications: 99999999999999999999\n", "c.yaml:1:15", "it does not fit"},
        Refusal{"huge_seed", "seed: 18446744073709551616\n", "c.yaml:1:7", "it does not fit"},
        Refusal{"negative_seed", "seed: -1\n", "c.yaml:1:7", "from 0 to 18446744073709551615"},
        Refusal{"negative_retries", "cluster: {oom: {retries: -1}}\n", "c.yaml:1:26", "from 0"},
        Refusal{"negative_duration", "cluster: {oom: {ramp_s: -0.5}}\n", "c.yaml:1:25", "from 0"},
        Refusal{"zero_round", "control: {round_s: 0}\n", "c.yaml:1:20",
                "control.round_s: found '0'"},
        Refusal{"zero_tick", "control: {tick_s: 0.0}\n", "c.yaml:1:19", "control.tick_s"},
        Refusal{"progress_without_ticks", "control: {tick_rule: progress}\n", "c.yaml:1:22",
                "control.tick_s"},
        Refusal{"no_job_measured", "measure: {skip_first: 0.5, skip_last: 0.5}\n", "c.yaml:1:23",
                "leave no job"},
        Refusal{"costs_in_rounds",
                "control: {mode: rounds, round_s: 60}\npreemption: {save_s: 1}\n", "c.yaml:2:22",
                "preemption.save_s"},
        Refusal{"zero_load", "workload: {load: 0}\n", "c.yaml:1:18", "workload.load"},
        Refusal{"zero_speed", "cluster: {gpu_speed: 0}\n", "c.yaml:1:22", "cluster.gpu_speed"},
        Refusal{"zero_memory", "cluster: {gpu_memory_mib: 0}\n", "c.yaml:1:27", "gpu_memory_mib"},
        Refusal{"negative_sigma", "estimates: {sigma: -1}\n", "c.yaml:1:20", "estimates.sigma"},
        Refusal{"not_a_number", "estimates: {sigma: .nan}\n", "c.yaml:1:20", "must be finite"},
        Refusal{"infinite", "control: {round_s: .inf}\n", "c.yaml:1:20", "must be finite"},
        Refusal{"minus_infinite", "control: {round_s: -.Inf}\n", "c.yaml:1:20", "must be finite"},
        Refusal{"double_overflow", "control: {round_s: 1e999}\n", "c.yaml:1:20", "does not fit"},
        Refusal{"decimals", "replications: 3.0\n", "c.yaml:1:15", "without decimals"},
        Refusal{"exponent", "replications: 1e3\n", "c.yaml:1:15", "without decimals and exponent"},
        Refusal{"leading_zero", "seed: 010\n", "c.yaml:1:7", "without leading zeros"},
        Refusal{"leading_zero_decimal", "control: {tick_s: 00.5}", "c.yaml:1:19", "leading zeros"},
        Refusal{"octal", "seed: 0o10\n", "c.yaml:1:7", "in decimal"},
        Refusal{"octal_junk", "seed: 010x\n", "c.yaml:1:7", "found '010x'"},
        Refusal{"hex", "seed: 0x10\n", "c.yaml:1:7", "in decimal"},
        Refusal{"underscores", "seed: 1_000\n", "c.yaml:1:7", "without underscores"},
        Refusal{"plus", "seed: +1\n", "c.yaml:1:7", "without '+'"},
        Refusal{"quoted_decimal", "control: {tick_s: '1'}\n", "c.yaml:1:19", "without quotes"},
        Refusal{"thousands", "seed: 1,000\n", "c.yaml:1:7", "nothing between thousands"},
        Refusal{"unit", "cluster:\n  oom:\n    ramp_s: 30s\n", "c.yaml:3:13", "its unit"},
        Refusal{"bare_point", "control: {tick_s: .5}\n", "c.yaml:1:19", "both sides of the point"},
        Refusal{"quoted_whole", "seed: \"1\"\n", "c.yaml:1:7", "write the number without quotes"},
        Refusal{"two_numbers", "seed: 1 2\n", "c.yaml:1:7", "found '1 2'"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Choices, Refused,
    testing::Values(
        Refusal{"order", "workload: {order: shufled}", "c.yaml:1:19",
                "expected one of shuffled, trace, or null; did you mean 'shuffled'?"},
        Refusal{"start", "control: {start: groups}", "c.yaml:1:18", "did you mean 'group'?"},
        Refusal{"plan", "control: {plan: offline}", "c.yaml:1:17", "did you mean 'online'?"},
        Refusal{"duration", "estimates: {duration: exactly}", "c.yaml:1:23", "mean 'exact'?"},
        Refusal{"mode", "profiling: {mode: epochs}", "c.yaml:1:19", "did you mean 'epoch'?"},
        Refusal{"belief", "belief: {model: cluster}", "c.yaml:1:17", "mean 'cluster-mean'?"},
        Refusal{"world", "world: {model: messured}", "c.yaml:1:16", "mean 'measured'?"},
        Refusal{"fallback", "world: {fallback: measured}", "c.yaml:1:19",
                "expected one of ensemble, factors, gp"},
        Refusal{"sharing", "cluster: {sharing: MPS}", "c.yaml:1:20", "did you mean 'mps'?"},
        Refusal{"list_for_choice", "cluster: {sharing: [mps]}", "c.yaml:1:20", "found a list"},
        Refusal{"reallocate", "control: {reallocate_s: 0}", "c.yaml:1:25", "a number from"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Rounds, Refused,
    testing::Values(
        Refusal{"rounds_of_no_length", "control: {mode: rounds}", "c.yaml:1:17",
                "found control.round_s: null, expected their length"},
        Refusal{"rounds_too_short", "control: {mode: rounds, round_s: 1e-4}", "c.yaml:1:34",
                "found control.round_s: 0.0001, expected their length, 0.001 or more"},
        Refusal{"rounds_join", "control: {mode: rounds, round_s: 60, start: join}", "c.yaml:1:45",
                "control.start: found join, expected group with control.mode: rounds"},
        Refusal{"rounds_tick", "control: {mode: rounds, round_s: 60, tick_s: 5}", "c.yaml:1:46",
                "control.tick_s: found 5, expected null"},
        Refusal{"rounds_profiling",
                "control: {mode: rounds, round_s: 60}\nprofiling: {mode: minute}\n", "c.yaml:2:19",
                "profiling.mode: found minute, expected none or predictor"},
        Refusal{"rounds_probing", "control: {mode: rounds, round_s: 60}\nprobing: {probes: 2}\n",
                "c.yaml:2:19", "probing.probes: found 2, expected 0"},
        Refusal{"mode_unknown", "control: {mode: round}", "c.yaml:1:17", "did you mean 'rounds'?"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Probing, Refused,
    testing::Values(
        Refusal{"probes_negative", "probing: {probes: -1}", "c.yaml:1:19", "from 0 to 1000"},
        Refusal{"probes_of_no_length", "probing: {seconds: 0}", "c.yaml:1:20", "a number from"},
        Refusal{"probes_join", "probing: {probes: 1}\ncontrol: {start: join}", "c.yaml:1:19",
                "found control.start: join, expected group"},
        Refusal{"probes_once", "control: {plan: once}\nprobing:\n  probes: 1\n", "c.yaml:3:11",
                "found control.plan: once, expected online"},
        Refusal{"probes_single", "probing: {probes: 1}\ncluster: {max_jobs_per_gpu: 1}",
                "c.yaml:1:19", "found cluster.max_jobs_per_gpu: 1"}),
    named);

INSTANTIATE_TEST_SUITE_P(
    Preemption, Refused,
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

INSTANTIATE_TEST_SUITE_P(
    Policies, Refused,
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
    Text, Refused,
    testing::Values(
        Refusal{"empty", "", "c.yaml:1:1", "nothing but space and comments"},
        Refusal{"blank", "\n\n  \n", "c.yaml:1:1", "nothing but"},
        Refusal{"comments", "# seed: 1\n# none\n", "c.yaml:1:1", "nothing but"},
        Refusal{"empty_document", "---\n", "c.yaml:1:1", "nothing but"},
        Refusal{"binary", std::string("\x00\x01\x02\xff", 4), "c.yaml:1:1", "0x00"},
        Refusal{"nul", std::string("seed: 1\nse\0ed", 13), "c.yaml:2:3", "a binary file?"},
        Refusal{"not_utf8", "seed: 1 # \xff\n", "c.yaml:1:11", "0xff"},
        Refusal{"overlong_utf8", "# \xc0\xaf\n", "c.yaml:1:3", "UTF-8"},
        Refusal{"surrogate", "# \xed\xa0\x80\n", "c.yaml:1:3", "UTF-8"},
        Refusal{"cut_utf8", "seed: 1 # \xe2\x82", "c.yaml:1:11", "UTF-8"},
        Refusal{"utf16", std::string("\xff\xfes\0e\0", 6), "c.yaml:1:1", "0xff"},
        Refusal{"end_of_transmission", "seed: 1\n\x04nodes: 2\n", "c.yaml:2:1", "0x04"},
        Refusal{"lone_return", "seed: 1\rreplications: 2\n", "c.yaml:1:8", "0x0d"},
        Refusal{"line_separator", "seed: 1 # \xe2\x80\xa8\n", "c.yaml:1:11", "control"},
        Refusal{"tab", "cluster:\n\tnodes: 1\n", "c.yaml:2:1", "found a tab as indentation"},
        Refusal{"tab_after_spaces", "cluster:\n  \tnodes: 1\n", "c.yaml:2:3", "expected spaces"},
        Refusal{"anchor", "seed: &x 1\n", "c.yaml:1:7", "found an anchor"},
        Refusal{"anchor_of_nothing", "seed: &x\n", "c.yaml:1:7", "found an anchor"},
        Refusal{"anchor_of_map", "cluster: &x\n  nodes: 1\n", "c.yaml:1:10", "write it out"},
        Refusal{"alias", "seed: 1\nreplications: *x\n", "c.yaml:2:15", "anchor is not defined"},
        Refusal{"merge", "cluster:\n  <<: {nodes: 1}\n", "c.yaml:2:3", "found a merge key"},
        Refusal{"tag", "seed: !!int 1\n", "c.yaml:1:7", "leave the tag out"},
        Refusal{"local_tag", "seed: !x 1\n", "c.yaml:1:7", "found a tag"},
        Refusal{"bare_tag", "seed: ! 1\n", "c.yaml:1:7", "found a tag"},
        Refusal{"tagged_map", "cluster: !!map {nodes: 1}\n", "c.yaml:1:10", "found a tag"},
        Refusal{"two_documents", "seed: 1\n---\nseed: 2\n", "c.yaml:2:1", "a second document"},
        Refusal{"document_mark_after", "seed: 1\n---\n", "c.yaml:2:1", "a second document"},
        Refusal{"after_end", "seed: 1\n...\nseed: 2\n", "c.yaml:3:1", "more text after the end"},
        Refusal{"two_maps", "{seed: 1} {seed: 2}\n", "c.yaml:1:11", "more text after the end"},
        Refusal{"list_and_map", "- a\nseed: 1\n", "c.yaml:2:1", "check indentation"},
        Refusal{"unterminated", "workload: {source: 'jrs-queue\n", "c.yaml:1:20",
                "unterminated text, expected a closing '"},
        Refusal{"unterminated_block", "workload:\n  source: 'jrs-queue\n", "c.yaml:2:11",
                "unterminated"},
        Refusal{"unterminated_double", "workload:\n  source: \"jrs-queue\n", "c.yaml:2:11",
                "closing \""},
        Refusal{"unterminated_escape", "workload:\n  source: \"jrs\\\"\n", "c.yaml:2:11",
                "unterminated"},
        Refusal{"unterminated_twin", "workload:\n  source: 'it''\n", "c.yaml:2:11", "unterminated"},
        Refusal{"unterminated_last_line", "workload: {source: 'jrs", "c.yaml:1:20", "unterminated"},
        Refusal{"unterminated_key", "'seed: 1\n", "c.yaml:1:1", "unterminated"},
        Refusal{"open_map", "cluster: {nodes: 1\n", "c.yaml:2:1", "not valid YAML"},
        Refusal{"open_list", "policies: [fcfs\n", "c.yaml:2:1", "brackets"},
        Refusal{"stray_bracket", "seed: 1\n]\n", "c.yaml:2:1", "not valid YAML"},
        Refusal{"indentation", "seed: 1\n  replications: 2\n", "c.yaml:2:15", "indentation"},
        Refusal{"two_colons", "seed: 1: 2\n", "c.yaml:1:8", "not valid YAML"},
        Refusal{"bad_escape", "workload: {source: \"\\q\"}\n", "c.yaml:1:23", "quotes"},
        Refusal{"too_deep", nested(40), "c.yaml:1:22", "nested more than 16 deep"},
        Refusal{"far_too_deep", nested(200000), "c.yaml:1:22", "nested more than 16 deep"},
        Refusal{"too_large", "seed: 1 #" + std::string(kYamlBytesMax, 'x'), "c.yaml:1:1",
                "larger than 1048576 bytes"}),
    named);

std::string repeated(std::string_view unit, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += unit;
  return out;
}

// These must also be answered in time linear in their size.
INSTANTIATE_TEST_SUITE_P(
    Large, Refused,
    testing::Values(
        Refusal{"long_name", "policies: [" + std::string(5000, 'x') + "]", "c.yaml:1:12",
                "xxx...'"},
        Refusal{"many_policies", "policies: [" + repeated("fcfs, ", 150000) + "fcfs]",
                "c.yaml:1:11", "found a list of 150001, expected at most 1000 policies"},
        Refusal{"many_lines", repeated("a\n", 500000), "c.yaml:1:1", "expected a map of keys"},
        Refusal{"many_nulls", repeated("-\n", 500000), "c.yaml:1:1", "expected a map of keys"},
        Refusal{"many_wide",
                "policies: [{name: max-packing, bin: [" + repeated("ä, ", 200000) + "]}]",
                "c.yaml:1:41", "each job once"}),
    named);

// ---- What is accepted ---------------------------------------------------------------------------

TEST(ConfigYaml, DefaultsAreThoseOfTheStructs) {
  Config expected;
  for (const char* name : {"fcfs", "random", "kube-default", "balance", "min-slowdown",
                           "max-packing", "opposites", "exclusive", "oracle"}) {
    expected.policies.emplace_back().name = name;
  }
  EXPECT_EQ(to_json(default_config()), to_json(expected));
  EXPECT_EQ(to_json(default_config_with({}, kPolicies)), to_json(expected));
  EXPECT_EQ(to_json(parse("seed: 1\n")), to_json(expected));
  EXPECT_TRUE(default_config().places.empty());
  EXPECT_EQ(default_config().place("world.path"), "the default of world.path");
}

TEST(ConfigYaml, JsonHasTheKeysThatScriptsRelyOn) {
  EXPECT_EQ(
      to_json(parse("policies: [{name: min-slowdown, epsilon: 1, order: [[0, 2]]}]")).dump(),
      R"({"workload":{"source":"jrs-queue","path":null,"labels":null,"order":null,"jobs":24,"load":null,)"
      R"("profiles":"none"},)"
      R"("cluster":{"path":null,"nodes":4,"gpus_per_node":1,"gpu_type":"V100-16GB",)"
      R"("gpu_memory_mib":null,)"
      R"("gpu_speed":1.0,"cpu_milli_per_node":32000,"memory_mib_per_node":131072,)"
      R"("sharing":"time-slicing","max_jobs_per_gpu":null,)"
      R"("virtual_clusters":null,"oom":{"ramp_s":30.0,"retries":3}},)"
      R"("world":{"model":"measured","fallback":"contention","path":null,"noise":true},)"
      R"("belief":{"model":"cluster-mean","initial":"jrs","known":1.0,"seed":1,"overrides":null},)"
      R"("estimates":{"duration":"none","sigma":0.5},)"
      R"("profiling":{"mode":"none","keeps_progress":false},)"
      R"("probing":{"probes":0,"seconds":120.0,"keeps_progress":false},)"
      R"("preemption":{"save_s":0.0,"restore_s":0.0,"lost_work":0.0},)"
      R"("control":{"mode":"events","start":"group","plan":"online","round_s":null,"reallocate_s":null,)"
      R"("tick_s":null,"tick_rule":"notice"},)"
      R"("measure":{"skip_first":0.0,"skip_last":0.0},)"
      R"("policies":[{"name":"min-slowdown","epsilon":1.0,"order":[[0,2]]}],)"
      R"("replications":200,"seed":1})");
}

// Every key with a value that is not its default, in block and flow style.
const std::string kFull = R"(# everything
workload:
  source: 'csv'      # quoted
  path: "data/jobs '1' \u00e4.csv"
  order: trace
  jobs: 7
  load: 0.1
  profiles: jrs
cluster: {path: nodes.csv, nodes: 3, gpus_per_node: 2, gpu_type: A100, gpu_memory_mib: 40960.5,
          gpu_speed: 2.5, cpu_milli_per_node: 1000, memory_mib_per_node: 2000, sharing: mps, max_jobs_per_gpu: 3,
          oom: {ramp_s: 0, retries: 0}}
world: {model: contention, fallback: cluster-mean, path: 'true', noise: false}
belief: {model: truth, initial: none}
estimates: {duration: lognormal, sigma: 0.30000000000000004}
profiling: {mode: minute, keeps_progress: true}
probing: {probes: 0, seconds: 0.5, keeps_progress: true}
preemption: {save_s: 1.5, restore_s: 2, lost_work: 0.25}
control: {start: join, plan: once, round_s: 1.5e2, reallocate_s: 1920, tick_s: 5}
policies:
  - fcfs
  - {name: min-slowdown, label: '1e3', pairing: given, epsilon: 0.1,
     order: [[1, 1], [0, 2]], bin: [J7-205, 12, 'a, b'], bin_max: 4}
  - name: max-packing
    bin_max: null
    threshold: -1.5
    epsilon: -0
    steps: [2, 0.5]
    command: [python3, '-c', 7, 'a b']
replications: 9
seed: 18446744073709551615
)";

TEST(ConfigYaml, ReadsEveryKey) {
  const Config c = parse(kFull);
  EXPECT_EQ(c.workload.source, "csv");
  EXPECT_EQ(c.workload.path, "data/jobs '1' ä.csv");
  EXPECT_EQ(c.workload.order, "trace");
  EXPECT_EQ(c.workload.load, 0.1);
  EXPECT_EQ(c.workload.profiles, "jrs");
  EXPECT_EQ(c.cluster.path, "nodes.csv");
  EXPECT_EQ(c.cluster.nodes, 3);
  EXPECT_EQ(c.cluster.gpu_memory_mib, 40960.5);
  EXPECT_EQ(c.cluster.oom.ramp_s, 0);
  EXPECT_EQ(c.cluster.max_jobs_per_gpu, 3);
  EXPECT_EQ(c.world.path, "true");
  EXPECT_FALSE(c.world.noise);
  EXPECT_EQ(c.control.round_s, 150.0);
  EXPECT_EQ(c.control.reallocate_s, 1920.0);
  EXPECT_EQ(c.seed, std::numeric_limits<std::uint64_t>::max());
  ASSERT_EQ(c.policies.size(), 3U);
  EXPECT_EQ(c.policies[0].name, "fcfs");
  EXPECT_EQ(c.policies[0].label, std::nullopt);
  const PolicyConfig& p = c.policies[1];
  EXPECT_EQ(p.label, "1e3");
  EXPECT_EQ(p.settings.at("pairing"), PolicySetting(std::string("given")));
  EXPECT_EQ(p.settings.at("epsilon"), PolicySetting(0.1));
  EXPECT_EQ(p.settings.at("order"),
            PolicySetting(std::vector<std::pair<int, int>>{{1, 1}, {0, 2}}));
  EXPECT_EQ(p.settings.at("bin"), PolicySetting(Strings{"J7-205", "12", "a, b"}));
  EXPECT_EQ(p.settings.at("bin_max"), PolicySetting(std::int64_t{4}));
  EXPECT_EQ(c.policies[2].settings.at("bin_max"), PolicySetting(std::monostate{}));
  EXPECT_EQ(c.policies[2].settings.at("threshold"), PolicySetting(-1.5));
  EXPECT_EQ(c.policies[2].settings.at("steps"), PolicySetting(std::vector<double>{2, 0.5}));
  EXPECT_EQ(c.policies[2].settings.at("command"),
            PolicySetting(Strings{"python3", "-c", "7", "a b"}));
  EXPECT_EQ(c.preemption.save_s, 1.5);
  EXPECT_EQ(c.preemption.restore_s, 2);
  EXPECT_EQ(c.preemption.lost_work, 0.25);
  EXPECT_FALSE(c.policies[2].settings.contains("pairing"));
}

TEST(ConfigYaml, RoundTrip) {
  for (const std::string& text : {kFull, std::string("seed: 2\n")}) {
    const Config first = parse_config(text, "c.yaml", {}, with_defaults());
    const std::string dump = dump_yaml(first);
    const Config second = parse_config(dump, "dump.yaml", {}, with_defaults());
    EXPECT_EQ(dump_yaml(second), dump);
    EXPECT_EQ(to_json(second), to_json(first)) << dump;
    ASSERT_EQ(second.policies.size(), first.policies.size());
    for (std::size_t i = 0; i < first.policies.size(); ++i) {
      EXPECT_EQ(second.policies[i].settings, first.policies[i].settings) << dump;
    }
  }
}

TEST(ConfigYaml, TextSurvivesTheRoundTrip) {
  for (const char* text :
       {"null", "~",  "No", "1e3", "012", "a: b", "a #b", "#",  "it's",  "'",   "\"",   "- x",
        "[a]",  "{a", "&a", "*a",  "!a",  "%a",   "@a",   "`a", " a ",   "ä/ö", "|",    ">",
        "a,b",  "?",  ":",  "-",   "...", "---",  ".inf", "<<", "12:30", "\\n", "C:\\x"}) {
    Config c = default_config();
    c.workload.path = text;
    c.policies = {{"min-slowdown", text, {{"bin", Strings{text}}}}};
    const std::string dump = dump_yaml(c);
    EXPECT_EQ(to_json(parse(dump)), to_json(c)) << dump;
  }
}

TEST(ConfigYaml, RemembersPlacesOfValues) {
  const Config c = parse(kFull);
  EXPECT_EQ(c.place("workload.source"), "c.yaml:3:11");
  EXPECT_EQ(c.place("cluster.oom.retries"), "c.yaml:11:37");
  EXPECT_EQ(c.place("control.reallocate_s"), "c.yaml:18:66");
  EXPECT_EQ(c.place("policies"), "c.yaml:20:3");
  EXPECT_EQ(c.place("policies[0]"), "c.yaml:20:5");
  EXPECT_EQ(c.place("policies[1]"), "c.yaml:21:12");
  EXPECT_EQ(c.place("policies[1].epsilon"), "c.yaml:21:65");
  EXPECT_EQ(c.place("policies[2]"), "c.yaml:23:11");
  EXPECT_EQ(c.place("policies[2].threshold"), "c.yaml:25:16");
  EXPECT_EQ(c.place("seed"), "c.yaml:30:7");
  EXPECT_FALSE(parse("seed: 1").places.contains("replications"));
}

TEST(ConfigYaml, AcceptsOtherWaysToWriteTheSame) {
  EXPECT_EQ(parse("\xEF\xBB\xBFseed: 3\r\nworld:\r\n  noise: false\r\n").seed, 3U);
  EXPECT_EQ(parse("\xEF\xBB\xBFseed: 3").place("seed"), "c.yaml:1:7");
  EXPECT_EQ(parse("--- # start\nseed: 3\n...\n").seed, 3U);
  EXPECT_EQ(parse("{seed: 3}").seed, 3U);
  EXPECT_EQ(parse("? seed\n: 3\n").seed, 3U);
  EXPECT_EQ(parse("seed: 3\t# tabs may end a line\n\t# or begin a comment\n").seed, 3U);
  EXPECT_EQ(parse("policies: [name: fcfs]").policies.at(0).name, "fcfs");
}

// ---- Overrides ----------------------------------------------------------------------------------

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
  EXPECT_EQ(c.policies[0].settings.at("epsilon"), PolicySetting(0.5));
  EXPECT_EQ(c.policies[0].label, "greedy");
  EXPECT_EQ(c.policies[1].settings.at("order"),
            PolicySetting(std::vector<std::pair<int, int>>{{1, 3}}));
  EXPECT_EQ(c.place("policies[0]"), "c.yaml:2:5");
  EXPECT_EQ(c.place("policies[0].epsilon"), "--set policies[0].epsilon=0.5");
}

TEST(Overrides, ReachIntoTheDefaultPolicies) {
  const Strings overrides = {"policies[4].epsilon=0.5", "policies[0]=random"};
  const Config c = default_config_with(overrides, with_defaults());
  ASSERT_EQ(c.policies.size(), 9U);
  EXPECT_EQ(c.policies[4].name, "min-slowdown");
  EXPECT_EQ(c.policies[4].settings.at("epsilon"), PolicySetting(0.5));
  EXPECT_EQ(c.policies[0].name, "random");
  EXPECT_FALSE(c.places.contains("policies"));
  EXPECT_FALSE(c.places.contains("policies[4]"));
  EXPECT_EQ(c.place("policies[4].epsilon"), "--set policies[4].epsilon=0.5");
  EXPECT_EQ(c.place("policies[0]"), "--set policies[0]=random");
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

// ---- Files --------------------------------------------------------------------------------------

class ConfigFile : public testing::Test {
 public:
  ConfigFile() {
    // Cases may run at the same time as processes of their own.
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) /
                 (std::string("corun_config_yaml_test_") + test->name());
    std::filesystem::create_directories(directory_);
  }
  ~ConfigFile() override { std::filesystem::remove_all(directory_); }

  std::string error(const std::string& path) {
    try {
      read_config(path, {}, kPolicies);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  }

  std::filesystem::path directory_;
};

TEST_F(ConfigFile, KnowsItsDirectory) {
  const std::string path = (directory_ / "c.yaml").string();
  std::ofstream(path) << "seed: 5\n";
  const Config c = read_config(path, Strings{"replications=2"}, kPolicies);
  EXPECT_EQ(c.seed, 5U);
  EXPECT_EQ(c.replications, 2);
  EXPECT_EQ(c.directory, directory_.string());
  EXPECT_EQ(c.place("seed"), path + ":1:7");
}

TEST_F(ConfigFile, ThatCannotBeRead) {
  const std::string missing = (directory_ / "missing.yaml").string();
  EXPECT_EQ(
      error(missing),
      missing +
          ": cannot be read (No such file or directory), expected a YAML file; check the path");
  EXPECT_EQ(error(directory_.string()),
            directory_.string() +
                ": cannot be read (it is a directory), expected a YAML file; check the path");
  EXPECT_NE(error("").find("cannot be read"), std::string::npos);
  EXPECT_NE(error(std::string("a\0b", 3)).find("a\\x00b: cannot be read"), std::string::npos);
  EXPECT_NE(error("no\nsuch").find("no\\x0asuch: cannot be read"), std::string::npos);
}

TEST_F(ConfigFile, TooLargeOrWithoutEnd) {
  const std::string path = (directory_ / "large.yaml").string();
  std::ofstream(path) << "seed: 1 #" << std::string(kYamlBytesMax, ' ');
  EXPECT_EQ(error(path).substr(0, path.size() + 20), path + ":1:1: larger than 10");
  if (std::filesystem::exists("/dev/zero")) {
    EXPECT_EQ(error("/dev/zero").substr(0, 15), "/dev/zero:1:1: ");
  }
}

// ---- Hostile bytes ------------------------------------------------------------------------------

/// Parsing must end in a Config or in an InputError with place; anything else is a failure.
void expect_answer(const std::string& text) {
  try {
    const Config c = parse(text);
    const std::string dump = dump_yaml(c);
    EXPECT_EQ(dump_yaml(parse(dump)), dump) << "from: " << text;
  } catch (const InputError& e) {
    const std::string error = e.what();
    EXPECT_EQ(error.substr(0, 7), "c.yaml:") << error;
    // Two numbers from 1 follow, then ": " and a message.
    std::size_t line_end = 0;
    std::size_t column_end = 0;
    EXPECT_GE(std::stoi(error.substr(7), &line_end), 1) << error;
    EXPECT_GE(std::stoi(error.substr(8 + line_end), &column_end), 1) << error;
    EXPECT_EQ(error.substr(8 + line_end + column_end, 2), ": ") << error;
    EXPECT_EQ(error.find_first_of("\n\r\t"), std::string::npos) << error;
  }
}

TEST(Fuzz, EveryPrefix) {
  for (std::size_t n = 0; n <= kFull.size(); ++n) expect_answer(kFull.substr(0, n));
}

TEST(Fuzz, EveryByteReplaced) {
  const std::string hostile = std::string(1, '\0') + "\xff\n\t '\"{],:-#&*";
  for (std::size_t i = 0; i < kFull.size(); ++i) {
    for (const char c : hostile) {
      std::string text = kFull;
      text[i] = c;
      expect_answer(text);
    }
  }
}

TEST(Fuzz, EveryByteLeftOutOrDoubled) {
  for (std::size_t i = 0; i < kFull.size(); ++i) {
    expect_answer(std::string(kFull).erase(i, 1));
    expect_answer(std::string(kFull).insert(i, 1, kFull[i]));
  }
}

/// All texts of `length` characters of `alphabet`: the corners of the grammar, nothing around them.
void expect_answers_to_all(std::string_view alphabet, std::size_t length) {
  std::size_t count = 1;
  for (std::size_t k = 0; k < length; ++k) count *= alphabet.size();
  for (std::size_t number = 0; number < count; ++number) {
    std::string text;
    for (std::size_t k = 0, rest = number; k < length; ++k, rest /= alphabet.size()) {
      text += alphabet[rest % alphabet.size()];
    }
    expect_answer(text);
  }
}

TEST(Fuzz, ShortTextsOfYamlCharacters) {
  for (std::size_t length = 1; length <= 3; ++length) {
    expect_answers_to_all("a1:-?[]{},&*!|>'\"#%\n ~", length);
  }
  expect_answers_to_all("a:-?[]{},\n ", 4);
}

// ---- The nearest name ---------------------------------------------------------------------------

}  // namespace
}  // namespace corun
