#include "tests/helpers/run_tables.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// One run, one answer, for whole experiments: virtual clusters, profiling, probes, ticks, rounds and preemption as a
/// configuration sets them. tests/engine/run_tables_test.cpp has many more runs of one cluster.
namespace corun::runner_run_tables_test {
namespace {

constexpr DetailLimits kAll{1'000'000, 1'000'000, true};

/// Jobs of three teams, with memory that does not always fit and gangs of two.
std::string random_jobs(Rng& rng) {
  std::string csv =
      "job,submit_s,solo_s,gpus,virtual_cluster,gpu_util_pct,mem_alloc_pct,mem_time_pct,"
      "mem_used_mib,packing_label\n";
  for (int j = 0; j < 12; ++j) {
    csv += fmt::format("j{},{},{},{},{},{},{},{},{},{}\n", j, rng.below(60), 1 + rng.below(120),
                       1 + rng.below(4) / 3, "abc"[rng.below(3)], rng.below(101), rng.below(101),
                       rng.below(101), 1000 * (1 + rng.below(14)), rng.below(3));
  }
  return csv;
}

std::vector<std::string> random_settings(Rng& rng, const std::string& policy) {
  const PolicyTraits traits = find_policy(policy)->traits;
  std::vector<std::string> all{"workload={source: csv, path: jobs.csv}",
                               "cluster={nodes: 6, gpus_per_node: 2, oom: {ramp_s: 3, retries: 2}}",
                               "world={model: contention}", "estimates.duration=exact",
                               fmt::format("policies=[{{name: {}}}]", policy)};
  if (rng.below(2) == 0) all.emplace_back("cluster.virtual_clusters=teams.csv");
  if (rng.below(3) == 0 && !traits.always_colocates && !traits.measures_profiles) {
    all.push_back(fmt::format("control={{mode: rounds, round_s: {}}}", 5 + rng.below(60)));
    return all;
  }
  if (rng.below(2) == 0 || traits.measures_profiles) {
    all.push_back(fmt::format("profiling={{mode: minute, keeps_progress: {}}}",
                              rng.below(2) == 0 ? "true" : "false"));
  }
  if (rng.below(3) == 0) all.push_back(fmt::format("control.tick_s={}", 1 + rng.below(5)));
  if (traits.preempts) all.emplace_back("preemption={save_s: 1, restore_s: 1, lost_work: 0.1}");
  return all;
}

TEST(ExperimentTables, AgreeWhateverTheConfiguration) {
  const test::TemporaryDirectory directory;
  directory.write("teams.csv", "vc,nodes\na,2\nb,1\nc,3\n");
  std::map<std::string, int> seen;
  std::vector<std::string> policies;
  for (const PolicyEntry& entry : policy_catalog()) {
    if (!entry.name.starts_with("external")) policies.emplace_back(entry.name);
  }
  for (std::uint64_t seed = 0; seed < test::random_runs(400U); ++seed) {
    Rng rng(seed, Stream::kTest, 60);
    directory.write("jobs.csv", random_jobs(rng));
    const std::string& policy = policies[seed % policies.size()];
    std::vector<std::string> settings = random_settings(rng, policy);
    for (std::string& setting : settings) {  // paths count from the working directory
      for (const char* name : {"jobs.csv", "teams.csv"}) {
        const std::size_t at = setting.find(name);
        if (at != std::string::npos) setting.insert(at, directory.path() + "/");
      }
    }
    const Experiment experiment(default_config_with(parse_overrides(settings), policy_catalog()),
                                "");
    const auto trace = experiment.make_trace(0);
    EventLog log;
    RunObservation observation;
    observation.log = &log;
    observation.details = kAll;
    const PolicyRun run =
        experiment.run_policy(*trace, 0, experiment.policies().front(), observation);
    std::string text;
    for (const std::string& setting : settings) text += setting + "\n";
    ASSERT_EQ(run.failure, "") << "seed " << seed << "\n" << text;
    const std::vector<JobId> arrivals = experiment.arrivals(*trace, 0);
    const std::vector<std::string> wrong = test::contradictions(
        {workload_of(*trace, arrivals), experiment.cluster(), run.record, log, run.details});
    ASSERT_TRUE(wrong.empty()) << wrong.front() << "\nseed " << seed << "\n" << text;
    for (const LogEntry& e : log) ++seen[std::string(name_of(e.kind))];
  }
  for (const char* kind : {"oom", "profiled", "preempt", "finish"})
    EXPECT_GT(seen[kind], 0) << kind;
}

}  // namespace
}  // namespace corun::runner_run_tables_test
