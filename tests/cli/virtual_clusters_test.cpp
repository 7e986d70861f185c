#include "runner/inputs/virtual_clusters.hpp"

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/error.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/job_csv.hpp"

namespace corun::virtual_clusters_test {
namespace {

class VirtualClusters : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(directory_.path(name)) << text;
    return directory_.path(name);
  }
  std::string refusal(const std::string& text) {
    try {
      read_virtual_clusters(file("vc.csv", text));
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  }
  test::TemporaryDirectory directory_;
};

TEST_F(VirtualClusters, AreReadWithOrWithoutANameOfTheirColumn) {
  for (const char* header : {",num\n", "vc,nodes\n"}) {
    const auto read = read_virtual_clusters(file("vc.csv", std::string(header) + "a,9\nb,1\n"));
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].name, "a");
    EXPECT_EQ(read[0].nodes, 9);
    EXPECT_EQ(read[1].name, "b");
  }
  EXPECT_NE(refusal("vc,nodes\na,0\n").find("vc.csv:2:3"), std::string::npos);
  EXPECT_NE(refusal("vc,nodes\na,1\na,2\n").find("names that differ"), std::string::npos);
  EXPECT_NE(refusal("vc,nodes\n").find("no virtual cluster"), std::string::npos);
  EXPECT_NE(refusal("vc,num,nodes,x\n").find(":1:"), std::string::npos);
}

// Three jobs of 10 s on one GPU each: in one cluster of two nodes the third waits for either of the
// others; in two virtual clusters the second job of `a` waits for the first of `a` while `b` is
// idle.
TEST_F(VirtualClusters, MeasurementsOfJobsFollowThem) {
  std::istringstream in(
      "submit_s,solo_s,virtual_cluster,solo_s@T4,mem_used_mib@T4\n"
      "0,1,a,10,\n0,1,b,20,200\n0,1,a,30,300\n");
  WorkloadKeys keys;
  Trace trace = read_job_csv(in, "jobs", keys);
  trace.reference_type = "V100";
  const std::vector<VirtualCluster> clusters{{"b", 1}, {"a", 1}};
  const std::vector<TracePart> parts =
      split_by_virtual_cluster(trace, by_submit_time(trace), clusters);
  ASSERT_EQ(parts.size(), 2U);
  for (const TracePart& part : parts) {
    EXPECT_EQ(part.trace.reference_type, "V100");
    EXPECT_EQ(part.trace.source, "jobs");
    ASSERT_EQ(part.trace.measured_types.size(), 1U);
    EXPECT_EQ(part.trace.measured_types[0].name, "T4");
    EXPECT_EQ(part.trace.jobs.size(), part.jobs.size());
    EXPECT_EQ(part.arrivals.size(), part.jobs.size());
  }
  EXPECT_EQ(test::solo_s_on(parts[0].trace, 0), std::vector<double>{20});
  EXPECT_EQ(test::memory_mib_on(parts[0].trace, 0), std::vector<double>{200});
  EXPECT_EQ(test::solo_s_on(parts[1].trace, 0), (std::vector<double>{10, 30}));
}

// Co-runs 0 (of three jobs: two rows) and 1 of each part, which alternate in time.
TEST_F(VirtualClusters, CoRunsAreNumberedByTheirStart) {
  const auto row = [](std::uint32_t co_run, std::int64_t start_s) {
    CoRunRecord c;
    c.co_run = co_run;
    c.start = Time{std::chrono::seconds(start_s)};
    c.pair = {JobId{0}, JobId{1}};
    return c;
  };
  const TracePart first{.trace = {}, .arrivals = {}, .jobs = {JobId{0}, JobId{3}}};
  const TracePart second{.trace = {}, .arrivals = {}, .jobs = {JobId{1}, JobId{2}}};
  RunDetails whole;
  add_details(whole, {{row(0, 10), row(0, 10), row(1, 30)}, {}, {}}, first, 0);
  add_details(whole, {{row(0, 5), row(1, 20)}, {}, {}}, second, 4);
  sort_details(whole, {100, 100, false});
  std::vector<std::uint32_t> numbers;
  for (const CoRunRecord& c : whole.co_runs) numbers.push_back(c.co_run);
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 1, 2, 3}));
  EXPECT_EQ(whole.co_runs[0].gpu, GpuId{4});
  EXPECT_EQ(whole.co_runs[0].pair, (std::array{JobId{1}, JobId{2}}));
  EXPECT_EQ(whole.co_runs[1].pair, (std::array{JobId{0}, JobId{3}}));
}

TEST_F(VirtualClusters, ShareNothing) {
  const std::string jobs = file("jobs.csv",
                                "job_id,vc,gpu_num,submit_time,duration\n"
                                "1,a,1,0,10\n2,a,1,0,10\n3,b,1,0,4\n");
  const auto mean_jct = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"replay",
                                       "--set",
                                       "workload.source=lucid",
                                       "--set",
                                       "workload.path=" + jobs,
                                       "--set",
                                       "world.model=none",
                                       "--set",
                                       "policies=[{name: exclusive}]",
                                       "--set",
                                       "replications=1",
                                       "--format",
                                       "json",
                                       "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = test::run_corun(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    return json["policies"][0]["metrics"]["jct_s"]["mean"].get<double>();
  };
  EXPECT_EQ(mean_jct({"--set", "cluster.nodes=2"}), (10 + 10 + 14) / 3.0);
  const std::string vcs = file("vc.csv", "vc,nodes\nb,1\na,1\n");
  EXPECT_EQ(mean_jct({"--set", "cluster.virtual_clusters=" + vcs}), (10 + 20 + 4) / 3.0);
}

TEST_F(VirtualClusters, EveryJobNeedsNodes) {
  const std::string jobs =
      file("jobs.csv", "job_id,vc,gpu_num,submit_time,duration\n1,a,1,0,10\n2,c,2,0,10\n");
  const auto run = [&](const std::string& vcs) {
    return test::run_corun({"replay", "--set", "workload.source=lucid", "--set",
                            "workload.path=" + jobs, "--set", "world.model=none", "--set",
                            "cluster.virtual_clusters=" + vcs});
  };
  const auto without = run(file("one.csv", "vc,nodes\na,1\n"));
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("virtual cluster 'c'"), std::string::npos) << without.err;
  const auto small = run(file("two.csv", "vc,nodes\na,4\nc,1\n"));
  EXPECT_EQ(small.code, 2);
  EXPECT_NE(small.err.find("virtual cluster c has 1"), std::string::npos) << small.err;
}

}  // namespace
}  // namespace corun::virtual_clusters_test
