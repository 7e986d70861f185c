#include "runner/config/config_writer.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/runner/config/config_test_support.hpp"

namespace corun::config_writer_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

TEST(ConfigYaml, DefaultsAreThoseOfTheStructs) {
  Config expected;
  for (const char* name : {"fcfs", "random", "kube-default", "balance", "min-slowdown",
                           "max-packing", "opposites", "exclusive", "oracle"}) {
    expected.policies.emplace_back().name = name;
  }
  EXPECT_EQ(to_json(default_config()), to_json(expected));
  EXPECT_EQ(to_json(default_config_with({}, kPolicies)), to_json(expected));
  EXPECT_EQ(to_json(parse("seed: 1\n")), to_json(expected));
  EXPECT_EQ(default_config().place("world.path"), "the default of world.path");
}

TEST(ConfigYaml, JsonHasTheKeysThatScriptsRelyOn) {
  EXPECT_EQ(
      to_json(parse("policies: [{name: min-slowdown, epsilon: 1, order: [[0, 2]]}]")).dump(),
      R"({"workload":{"source":"jrs-queue","path":null,"columns":null,"states":null,"strict":false,"labels":null,"gpu_type":null,"solo_times":null,"phases":null,"services":null,"part":null,"programs":"elastic/sia","adaptivity":"rigid","interference":0.0,"start_s":null,"expected_start_s":null,"refit_s":0.0,"largest_local_batch":null,"calibrated":false,"order":null,"jobs":24,"load":null,)"
      R"("profiles":"none"},)"
      R"("cluster":{"path":null,"machines":null,"nodes":4,"gpus_per_node":1,"nodes_per_switch":null,"gpu_type":"V100-16GB","gpu_types":null,)"
      R"("gpu_memory_mib":null,)"
      R"("gpu_speed":1.0,"cpu_milli_per_node":32000,"memory_mib_per_node":131072,)"
      R"("sharing":"time-slicing","max_jobs_per_gpu":null,)"
      R"("virtual_clusters":null,"oom":{"ramp_s":30.0,"retries":3},"start":{"cost_s":0.0,"costs":null,"sigma":0.0}},)"
      R"("world":{"model":"measured","fallback":"contention","path":null,"effort":1.0,"noise":true,"across_nodes":1.0,"across_switches":1.0,"gbps_in_node":null,"gbps_across_nodes":null,"gbps_across_switches":null,"job_sigma":0.0,"run_sigma":0.0,"stragglers":0.0,"straggler_speed":0.5},)"
      R"("belief":{"model":"cluster-mean","initial":"jrs","known":1.0,"seed":1,"effort":1.0,"overrides":null},)"
      R"("estimates":{"duration":"none","sigma":0.5,"memory":"exact","memory_sigma":0.1,)"
      R"("utilisation":"exact","utilisation_sigma":0.15},)"
      R"("profiling":{"mode":"none","keeps_progress":false},)"
      R"("probing":{"probes":0,"seconds":120.0,"keeps_progress":false},)"
      R"("preemption":{"save_s":0.0,"restore_s":0.0,"lost_work":0.0,"large_gang":null,"large_restore_s":0.0,"adds_up":false},)"
      R"("control":{"mode":"events","start":"group","plan":"online","round_s":null,"reallocate_s":null,)"
      R"("tick_s":null,"tick_rule":"notice","notice_s":0.0,"notice_sigma":0.0,"round_per_start_s":0.0,"round_sigma":0.0},)"
      R"("measure":{"skip_first":0.0,"skip_last":0.0,"details":true},)"
      R"("policies":[{"name":"min-slowdown","epsilon":1.0,"order":[[0,2]]}],)"
      R"("replications":200,"seed":1})");
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

}  // namespace
}  // namespace corun::config_writer_test
