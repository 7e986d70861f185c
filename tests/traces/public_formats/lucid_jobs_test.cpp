#include "traces/public_formats/lucid_jobs.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/left_out.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/tables/lucid_pairs.hpp"

namespace corun::lucid_jobs_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHeader =
    "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,amp,"
    "speed,gpu_util,gmem_util,gmem\n";

Trace read(const std::string& rows, WorkloadKeys& keys) {
  std::istringstream in(std::string(kHeader) + rows);
  return read_lucid_jobs(in, "jobs.csv", keys);
}

std::string refusal(const std::string& rows) {
  WorkloadKeys keys;
  try {
    read(rows, keys);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(LucidJobs, ReadsJobsProfilesWorkloadsAndVirtualClusters) {
  WorkloadKeys keys;
  const Trace trace = read(
      "a,u,vc1,j,4,4,COMPLETED,7,9275,ShapeNet,PointNet,128,0,140.2,8.9,7.5,10474.0\n"
      "b,u,vc0,j,1,1,COMPLETED,3,10,CIFAR-10,VGG,32,1,1,28.8,7.3,2320.0\n",
      keys);
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(trace.virtual_clusters, (std::vector<std::string>{"vc1", "vc0"}));
  const JobSpec& a = trace.jobs[0].spec;
  EXPECT_EQ(a.submit, 7s);
  EXPECT_EQ(a.work, 9275s);
  EXPECT_EQ(a.gpus, 4);
  EXPECT_EQ(a.profile.gpu_util_pct, 8.9);
  EXPECT_EQ(a.profile.mem_time_pct, 7.5);
  EXPECT_EQ(a.profile.mem_used_mib, 10474);
  EXPECT_FALSE(a.profile.packing_label);
  EXPECT_EQ(trace.jobs[1].spec.virtual_cluster, 1U);
  EXPECT_EQ(keys.text(trace.jobs[1].key), "VGG|CIFAR-10|32|1");
  EXPECT_EQ(by_submit_time(trace), (std::vector{JobId{1}, JobId{0}}));
}

TEST(LucidJobs, CountsWhatItPassesOver) {
  WorkloadKeys keys;
  const Trace trace = read(
      "a,u,v,j,0,4,COMPLETED,7,9275,D,M,1,0,1,8,7,1\n"
      "b,u,v,j,1,1,COMPLETED,3,0,D,M,1,0,1,8,7,1\n"
      "c,u,v,j,1,1,COMPLETED,3,5,D,M,1,0,1,8,7,1\n",
      keys);
  EXPECT_EQ(names_of(trace), std::vector<std::string_view>{"c"});
  EXPECT_EQ(test::texts(trace), (std::vector<std::string>{"1 job without GPUs (on line 2)",
                                                          "1 job without run time (on line 3)"}));
}

TEST(LucidJobs, RefusesWithThePlace) {
  EXPECT_NE(
      refusal("a,u,v,j,1,1,C,-1,5,D,M,1,0,1,8,7,1\n").find("1 job without submit time (on line 2)"),
      std::string::npos)
      << refusal("a,u,v,j,1,1,C,-1,5,D,M,1,0,1,8,7,1\n");
  EXPECT_NE(refusal("a,u,v,j,1.5,1,C,1,5,D,M,1,0,1,8,7,1\n").find("'gpu_num' is '1.5'"),
            std::string::npos);
  EXPECT_NE(refusal("a,u,v,j,1,1,C,1,5,D,M,1,0,1,8,7,1\na,u,v,j,1,1,C,1,5,D,M,1,0,1,8,7,1\n")
                .find("names that differ"),
            std::string::npos);
  EXPECT_NE(refusal("a,u,v,j,1,1,C,1,5,D,M,1,0,1,8,7,1\nb,u,,j,1,1,C,1,5,D,M,1,0,1,8,7,1\n")
                .find("virtual cluster"),
            std::string::npos);
  EXPECT_NE(refusal("").find("no rows"), std::string::npos);
}

TEST(LucidJobs, LabelsComeByWorkload) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory.path("jobs.csv")) << kHeader << "a,u,v,j,1,1,C,1,5,D,M,1,0,1,8,7,1\n"
                                            << "b,u,v,j,1,1,C,1,5,D,N,1,0,1,8,7,1\n";
  std::ofstream(directory.path("labels.csv")) << "job,gpu_util,label\nM|D|1|0,3,2\n";
  WorkloadKeys keys;
  const Trace trace =
      read_lucid_jobs(directory.path("jobs.csv"), directory.path("labels.csv"), keys);
  EXPECT_EQ(trace.jobs[0].spec.profile.packing_label, 2);
  EXPECT_FALSE(trace.jobs[1].spec.profile.packing_label);
}

TEST(LucidRates, BothFormsGiveTheSameRows) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory.path("pairs.csv"))
      << "pair_id,job_a,norm_a,job_b,norm_b\n0,M|D|32|0,0.5,N|D|64|1,1.1\n";
  std::ofstream(directory.path("colocate.csv"))
      << ",model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,batchsize2,"
         "amp2,"
         "speed2,gpu_util,gmem_util,gmem\n"
      << "0,M,D,1,32,0,0.5,N,D,1,64,1,1.1,90,20,3000\n";
  WorkloadKeys keys;
  for (const char* file : {"pairs.csv", "colocate.csv"}) {
    const std::vector<LucidRates> rows = read_lucid_rates(directory.path(file), keys);
    ASSERT_EQ(rows.size(), 1U) << file;
    EXPECT_EQ(keys.text(rows[0].workloads[0]), "M|D|32|0") << file;
    EXPECT_EQ(keys.text(rows[0].workloads[1]), "N|D|64|1") << file;
    EXPECT_EQ(rows[0].speeds, (std::array{0.5, 1.1})) << file;
  }
  std::ofstream(directory.path("other.csv")) << "a,b\n1,2\n";
  EXPECT_THROW(read_lucid_rates(directory.path("other.csv"), keys), InputError);
}

}  // namespace
}  // namespace corun::lucid_jobs_test
