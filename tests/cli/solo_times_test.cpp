#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "tests/helpers/program.hpp"
#include "traces/measured/paper_tables.hpp"
#include "traces/workload_names.hpp"

/// workload.solo_times: measured solo times by GPU type for the jobs of any source.
namespace corun::solo_times_test {
namespace {

class SoloTimes : public testing::Test {
 private:
  const test::TemporaryDirectory folder_;

 protected:
  const std::string jobs_ = folder_.write("jobs.csv",
                                          "job,workload,submit_s,solo_s,solo_s@T4\n"
                                          "a,bert,0,100,\n"
                                          "b,bert,0,200,300\n"
                                          "c,gcn,0,100,\n"
                                          "d,unet,0,100,\n");
  const std::string times_ = folder_.write("times.csv",
                                           "workload,gpu_type,time_s,memory_mib\n"
                                           "bert,Tesla T4,4,900\n"
                                           "bert,v100,1,1000\n"
                                           "unet,v100,1,\n"
                                           "unet,Tesla T4,-,\n"
                                           "other,v100,1,\n");

  Experiment experiment(const std::vector<std::string>& more) const {
    std::vector<std::string> all{
        "workload={source: csv, path: '" + jobs_ + "', solo_times: '" + times_ + "'}",
        "world.model=none", "policies=[{name: fifo}]"};
    all.insert(all.end(), more.begin(), more.end());
    return Experiment(default_config_with(parse_overrides(all), policy_catalog()), "");
  }
  std::string refusal(const std::vector<std::string>& more) const {
    try {
      experiment(more);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(SoloTimes, FillWhatTheTraceDoesNotTell) {
  const auto trace = experiment({"cluster.machines=1x1:V100-16GB+1x1:T4"}).make_trace(0);
  ASSERT_EQ(trace->measured_types.size(), 2U);
  EXPECT_EQ(trace->measured_types[0].name, "T4");
  const auto on_t4 = [&](std::size_t j) { return on_type(trace->jobs[j], 0); };
  EXPECT_EQ(on_t4(0).solo_s, 400);
  EXPECT_EQ(on_t4(1).solo_s, 300) << "the trace's own";
  EXPECT_TRUE(std::isnan(on_t4(2).solo_s));
  EXPECT_TRUE(std::isinf(on_t4(3).solo_s));
  EXPECT_EQ(on_t4(0).memory_mib, 900);
  EXPECT_EQ(trace->jobs[3].spec.gpu_models, 1U) << "it runs on the V100 only";
  EXPECT_EQ(trace->jobs[2].spec.gpu_models, 0U);
}

TEST_F(SoloTimes, HoldForGeneratedJobs) {
  const test::TemporaryDirectory folder;
  const QueueJob& one = jrs_queue().front();
  const std::string name = workload_text(one.model, one.batch_size, one.epochs);
  const std::string times = folder.write(
      "t.csv", "workload,gpu_type,time_s\n" + name + ",V100-16GB,1\n" + name + ",P4,2\n");
  const std::vector<std::string> settings{"workload.solo_times=" + times,
                                          "cluster.machines=2x1:P4+2x1:V100-16GB"};
  const Experiment e(default_config_with(parse_overrides(settings), policy_catalog()), "");
  const auto trace = e.make_trace(0);
  int measured = 0;
  for (std::size_t j = 0; j < trace->jobs.size(); ++j) {
    if (std::isnan(on_type(trace->jobs[j], 1).solo_s)) continue;
    EXPECT_EQ(on_type(trace->jobs[j], 1).solo_s, 2 * to_seconds(trace->jobs[j].spec.work))
        << "the JRS jobs were measured on the V100-16GB, though P4 is the first machine";
    ++measured;
  }
  EXPECT_EQ(measured, 1);
}

TEST_F(SoloTimes, RefuseWhatDoesNotFit) {
  EXPECT_NE(refusal({}).find("the GPU type of the run times is not known, expected one of the "
                             "table's types Tesla T4, v100, from which the others follow; set "
                             "workload.gpu_type"),
            std::string::npos)
      << refusal({});
  EXPECT_EQ(refusal({"workload.gpu_type=T4"}).find("the run times"), std::string::npos);
  EXPECT_NE(refusal({"workload.gpu_type=K80"}).find("the run times are of GPU type 'K80'"),
            std::string::npos);
  EXPECT_NE(refusal({"cluster.gpu_type=T4", "workload.gpu_type=V100"})
                .find("job 'd' runs on no type of the cluster, the cluster has T4; add such nodes "
                      "or leave the job out"),
            std::string::npos)
      << refusal({"cluster.gpu_type=T4", "workload.gpu_type=V100"});
  const test::TemporaryDirectory folder;
  const std::string others = folder.write("o.csv", "workload,gpu_type,time_s\nz,V100,1\n");
  const std::string none = refusal({"workload.solo_times=" + others, "workload.gpu_type=V100"});
  EXPECT_NE(none.find("no job has a workload of o.csv, expected names such as 'z'"),
            std::string::npos)
      << none;
  EXPECT_NE(
      refusal({"workload.solo_times=" + jobs_}).find("is a job trace, expected a table of solo"),
      std::string::npos);
  EXPECT_NE(refusal({"workload.solo_times=none.csv"}).find("none.csv"), std::string::npos);
}

TEST_F(SoloTimes, ATypeUnderTwoNamesIsRefused) {
  const test::TemporaryDirectory folder;
  const std::string jobs =
      folder.write("twice.csv", "job,submit_s,solo_s,solo_s@T4,solo_s@Tesla T4\na,0,1,2,3\n");
  const test::Outcome outcome = test::run_corun({"replay", jobs});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("twice.csv:1:31: 'Tesla T4' and 'T4' (" + jobs +
                             ":1:21) are one GPU type, expected each type under one name"),
            std::string::npos)
      << outcome.err;
  const std::string times = folder.write(
      "s.csv", "workload,gpu_type,time_s\nbert,V100,10\nbert,V100-16GB,20\nbert,T4,30\n");
  const std::string of_table = refusal({"workload.solo_times=" + times, "workload.gpu_type=V100"});
  EXPECT_NE(of_table.find("s.csv:3:6: 'V100-16GB' and 'V100' (" + times + ":2:6) are one GPU type"),
            std::string::npos)
      << of_table;
}

TEST_F(SoloTimes, ATypeThatNobodyKnowsIsRefused) {
  const test::TemporaryDirectory folder;
  const auto jobs = [&](const std::string& columns, const std::string& values) {
    return "workload={source: csv, path: '" +
           folder.write("j.csv", "job,submit_s,solo_s," + columns + "\na,0,100," + values + "\n") +
           "'}";
  };
  const std::string types = folder.write("own.yaml", "- {name: T44, memory_mib: 16384}\n");
  const std::string machines = "cluster.machines=1x1:V100+1x1:T4";
  const std::string unknown =
      "unknown GPU type 'T44', expected one of the catalogue, of cluster.gpu_types or of the "
      "cluster; did you mean 'T4'?";
  for (const char* column : {"solo_s@T44", "mem_used_mib@T44"}) {
    const std::string found = refusal({jobs(column, "30"), machines});
    EXPECT_NE(found.find("j.csv:1:21: " + unknown), std::string::npos) << found;
    EXPECT_EQ(refusal({jobs(column, "30"), machines, "cluster.gpu_types=" + types}), "");
    EXPECT_EQ(refusal({jobs(column, "30"), "cluster.machines=1x1:V100+1x1:T44",
                       "cluster.gpu_memory_mib=16000"}),
              "");
  }
  const std::string renamed = refusal({jobs("t", "30"), machines, "workload.columns=t=solo_s@T44"});
  EXPECT_NE(renamed.find("j.csv:1:21: " + unknown), std::string::npos) << renamed;
  EXPECT_EQ(refusal({jobs("t", "30"), machines, "workload.columns=t=solo_s@T4"}), "");

  const std::string named = refusal({jobs("gpu_models", "T4|T44"), machines});
  EXPECT_NE(named.find("job 'a' of j.csv runs on an " + unknown), std::string::npos) << named;
  EXPECT_EQ(refusal({jobs("gpu_models", "T4|K80"), machines}), "");
  EXPECT_EQ(refusal({jobs("gpu_models", "T44")}), "") << "not read, and said so in a note";

  const std::string times =
      folder.write("s.csv", "workload,gpu_type,time_s\nbert,V100,10\nbert,K80,20\nbert,T44,30\n");
  const std::string of_table = refusal({"workload.solo_times=" + times, "workload.gpu_type=V100"});
  EXPECT_NE(of_table.find("s.csv:4:6: " + unknown), std::string::npos) << of_table;
  const std::string drawn = refusal({"workload={source: solo-table, path: '" + times + "'}"});
  EXPECT_NE(drawn.find("s.csv:4:6: " + unknown), std::string::npos) << drawn;
}

TEST_F(SoloTimes, TraceInfoShowsTheLoadByType) {
  const test::Outcome info = test::run_corun(
      {"trace", "info", jobs_, "--cluster", "1x2:V100+1x4:Tesla T4", "--format", "json"});
  ASSERT_EQ(info.code, 0) << info.err;
  const auto json = nlohmann::json::parse(info.out);
  ASSERT_EQ(json["gpu_types"].size(), 2U);
  const auto& t4 = json["gpu_types"][1];
  EXPECT_EQ(t4["name"], "T4");
  EXPECT_EQ(t4["jobs"], 4);
  EXPECT_EQ(t4["jobs_measured"], 1);
  EXPECT_DOUBLE_EQ(t4["gpu_hours"].get<double>(), (100 + 300 + 100 + 100) / 3600.0);
  EXPECT_EQ(t4["cluster_gpus"], 4);
  EXPECT_TRUE(t4["offered_load"].is_null()) << "all are submitted at once";
  EXPECT_EQ(test::run_corun({"trace", "info", jobs_, "--cluster", "1x1", "--gpus", "2"}).code, 2);
  EXPECT_EQ(test::run_corun({"trace", "info", jobs_, "--cluster", "1by1"}).code, 2);
}

}  // namespace
}  // namespace corun::solo_times_test
