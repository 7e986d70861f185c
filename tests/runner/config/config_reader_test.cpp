#include "runner/config/config_reader.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "support/yaml_tree.hpp"
#include "tests/runner/config/config_test_support.hpp"

namespace corun::config_reader_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

class RefusedValue : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedValue, NamesPlaceAndHintOnOneLine) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedValue,
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
    Types, RefusedValue,
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
    Numbers, RefusedValue,
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
    Choices, RefusedValue,
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

TEST(ConfigYaml, ReadsEveryKey) {
  const Config c = parse(kFull);
  EXPECT_EQ(c.workload.source, "csv");
  EXPECT_EQ(c.workload.path, "data/jobs '1' ä.csv");
  EXPECT_EQ(c.workload.order, QueueOrder::kTrace);
  EXPECT_EQ(c.workload.load, 0.1);
  EXPECT_EQ(c.workload.profiles, MissingProfiles::kJrs);
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
  EXPECT_EQ(p.settings.at("pairing"), ParameterValue(std::string("given")));
  EXPECT_EQ(p.settings.at("epsilon"), ParameterValue(0.1));
  EXPECT_EQ(p.settings.at("order"),
            ParameterValue(std::vector<std::pair<int, int>>{{1, 1}, {0, 2}}));
  EXPECT_EQ(p.settings.at("bin"), ParameterValue(Strings{"J7-205", "12", "a, b"}));
  EXPECT_EQ(p.settings.at("bin_max"), ParameterValue(std::int64_t{4}));
  EXPECT_EQ(c.policies[2].settings.at("bin_max"), ParameterValue(std::monostate{}));
  EXPECT_EQ(c.policies[2].settings.at("threshold"), ParameterValue(-1.5));
  EXPECT_EQ(c.policies[2].settings.at("steps"), ParameterValue(std::vector<double>{2, 0.5}));
  EXPECT_EQ(c.policies[2].settings.at("command"),
            ParameterValue(Strings{"python3", "-c", "7", "a b"}));
  EXPECT_EQ(c.preemption.save_s, 1.5);
  EXPECT_EQ(c.preemption.restore_s, 2);
  EXPECT_EQ(c.preemption.lost_work, 0.25);
  EXPECT_FALSE(c.policies[2].settings.contains("pairing"));
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
  EXPECT_EQ(parse("seed: 1").place("replications"), "the default of replications");
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

class ConfigFile : public testing::Test {
 public:
  ConfigFile() {
    // Cases may run at the same time in separate processes.
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
  const Config c = read_config(path, parse_overrides(Strings{"replications=2"}), kPolicies);
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

}  // namespace
}  // namespace corun::config_reader_test
