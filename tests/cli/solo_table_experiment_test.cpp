#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "tests/helpers/program.hpp"

/// Jobs drawn from a table of solo times by GPU type, through the whole program.
namespace corun::solo_table_experiment_test {
namespace {

const std::string kMiso =
    "slice,job,batch,median_step_s\n"
    "7g.40gb,gnn,64,0.01\n"
    "1g.5gb,gnn,64,0.03\n"
    "7g.40gb,bert,8,0.12\n";
const std::string kProfiles =
    "job,batch,peak_mem_mib,sm_util_pct,mem_util_pct\ngnn,64,2048,38,16\nbert,8,18635,89,68\n";

Experiment experiment_of(const std::string& table, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all{"workload={source: solo-table, path: '" + table + "', jobs: 12}",
                               "replications=2"};
  all.insert(all.end(), more.begin(), more.end());
  return Experiment(default_config_with(parse_overrides(all), policy_catalog()), "");
}

TEST(SoloTableExperiment, JobsCarryTheirMeasurements) {
  const test::TemporaryDirectory folder;
  const std::string table = folder.write("steps.csv", kMiso);
  folder.write("miso_a100_profile.csv", kProfiles);
  const Experiment e = experiment_of(table, {"workload.load=0.5"});
  const auto trace = e.make_trace(0);
  ASSERT_EQ(trace->jobs.size(), 12U);
  EXPECT_EQ(trace->reference_type, "7g.40gb");
  ASSERT_EQ(trace->measured_types.size(), 2U);
  std::set<std::string> workloads;
  for (std::size_t j = 0; j < trace->jobs.size(); ++j) {
    const bool is_gnn = trace->jobs[j].name.starts_with("gnn (batch size 64)#");
    workloads.insert(is_gnn ? "gnn" : "bert");
    EXPECT_EQ(trace->jobs[j].spec.profile.gpu_util_pct, is_gnn ? 38 : 89);
    EXPECT_EQ(on_type(trace->jobs[j], 0).memory_mib, is_gnn ? 2048 : 18635);
  }
  EXPECT_EQ(workloads.size(), 2U);
  EXPECT_NE(names_of(*trace), names_of(*e.make_trace(1))) << "each replication draws its own";
  EXPECT_EQ(names_of(*trace), names_of(*experiment_of(table, {"workload.load=0.5"}).make_trace(0)));
}

TEST(SoloTableExperiment, RunsAndNamesItsFiles) {
  const test::TemporaryDirectory folder;
  folder.write("steps.csv", kMiso);
  folder.write("miso_a100_profile.csv", kProfiles);
  const std::string config =
      folder.write("c.yaml",
                   "workload: {source: solo-table, path: steps.csv, jobs: 6}\n"
                   "cluster: {gpu_memory_mib: 40960}\n"
                   "policies: [{name: fcfs}]\nreplications: 2\n");
  const test::Outcome outcome = test::run_corun({"replay", config, "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("steps.csv"), std::string::npos);
  EXPECT_NE(outcome.out.find("miso_a100_profile.csv"), std::string::npos) << outcome.out;
}

TEST(SoloTableExperiment, RefusesOtherFiles) {
  const test::TemporaryDirectory folder;
  const auto error_of = [](const std::string& path) -> std::string {
    try {
      experiment_of(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string jobs = folder.write("jobs.csv", "submit_s,solo_s\n0,1\n");
  EXPECT_EQ(error_of(jobs), jobs +
                                ": is a job trace, expected a table of solo times by GPU type; "
                                "run it: corun replay " +
                                jobs);
  const std::string bad = folder.write("bad.csv", "workload,gpu_type,time_s\na,T4,0\n");
  EXPECT_TRUE(error_of(bad).starts_with(bad + ":2:6: column 'time_s' is '0', expected"))
      << error_of(bad);
  const std::string table = folder.write("steps.csv", kMiso);
  const test::Outcome outcome = test::run_corun({"replay", table});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("is a table of solo times by GPU type, expected a configuration; draw "
                             "jobs from it: corun replay --set workload.source=solo-table"),
            std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace corun::solo_table_experiment_test
