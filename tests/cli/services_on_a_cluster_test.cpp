#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/json.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Services beside training, as users run them.
namespace corun::services_on_a_cluster_test {
namespace {

class ServicesOnACluster : public testing::Test {
 protected:
  test::Outcome replay(const std::vector<std::string>& settings,
                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"replay", jobs_, "-q", "--format", "json"};
    for (const std::string& setting :
         {"world.model=none", "workload.services=services.csv", "replications=3"}) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_corun(arguments, folder_.path());
  }
  /// The only policy's results.
  Json result(const std::string& policy, const std::string& more = "seed=1") const {
    const test::Outcome run = replay({"policies=[" + policy + "]", more, "cluster.nodes=1"});
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["policies"][0];
  }

  test::TemporaryDirectory folder_;
  std::string jobs_ = folder_.write("jobs.csv", "job,submit_s,solo_s,gpu_util_pct\na,0,1000,60\n");
  std::string times_ = folder_.write("times.csv", "model,batch_size,latency_ms\nm,1,10\n");
  std::string services_ = folder_.write(
      "services.csv",
      "name,times,model,start_s,end_s,goal_ms,rate_per_s,gpu_util_pct\ns,times.csv,m,100,700,50,50,"
      "40\n");
};

// One GPU. The job has it from 0 s, the service is there from 100 s to 700 s.
TEST_F(ServicesOnACluster, WaitComeFirstOrShare) {
  const Json waits = result("fcfs");
  EXPECT_DOUBLE_EQ(waits["metrics"]["jct_s"]["mean"].get<double>(), 1000);
  EXPECT_DOUBLE_EQ(waits["services"][0]["within_goal"]["mean"].get<double>(), 0);
  const Json first = result("{name: priority, beside: none}");
  EXPECT_DOUBLE_EQ(first["metrics"]["jct_s"]["mean"].get<double>(), 1600);
  EXPECT_GT(first["services"][0]["within_goal"]["mean"].get<double>(), 0.99);
  const Json shares = result("kube-default");
  EXPECT_DOUBLE_EQ(shares["metrics"]["jct_s"]["mean"].get<double>(), 1000);
  EXPECT_GT(shares["services"][0]["within_goal"]["mean"].get<double>(), 0.99);
  EXPECT_DOUBLE_EQ(shares["metrics"]["jobs"]["mean"].get<double>(), 1);
}

// M/D/1 at utilisation 0.5: the mean is 1.5 service times.
TEST_F(ServicesOnACluster, HaveTheLatencyOfTheClosedForm) {
  const Json service = result("{name: priority, beside: none}")["services"][0];
  EXPECT_NEAR(service["mean_s"]["mean"].get<double>(), 0.015, 0.015 * 0.05);
  EXPECT_NEAR(service["requests"].get<double>(), 30'000, 500);
  EXPECT_NEAR(service["replicas"]["mean"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(service["busy"]["mean"].get<double>(), 0.5, 0.02);
  EXPECT_DOUBLE_EQ(service["methods"]["simulation"].get<double>(), 1);
}

TEST_F(ServicesOnACluster, ScaleWithTheirLoad) {
  folder_.write("services.csv",
                "name,times,model,start_s,end_s,goal_ms,rate_per_s,replicas,gpu_util_pct\n"
                "s,times.csv,m,0,3600,50,150,4,40\n");
  const auto replicas = [&](const std::string& scale) {
    const test::Outcome run = replay(
        {"policies=[{name: priority, beside: none, scale: " + scale + "}]", "cluster.nodes=6"});
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["policies"][0]["services"][0]["replicas"]["mean"].get<double>();
  };
  EXPECT_DOUBLE_EQ(replicas("none"), 4);
  // 150/s at 10 ms are 1.5 replicas' work, so 3 have a utilisation of 0.5, within the target of 0.6.
  EXPECT_NEAR(replicas("utilisation"), 3, 0.2);
}

TEST_F(ServicesOnACluster, GiveEqualBytesOnAnyNumberOfThreads) {
  const std::vector<std::string> settings{
      "policies=[fcfs, kube-default, {name: priority, beside: any}]"};
  EXPECT_EQ(replay(settings, {"--threads", "1"}).out, replay(settings, {"--threads", "2"}).out);
}

TEST_F(ServicesOnACluster, RefuseWhatDoesNotGoWithThem) {
  for (const char* setting : {"probing.probes=1", "profiling.mode=minute"}) {
    const test::Outcome run = replay({setting, "policies=[fcfs]"});
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("services do not go with"), std::string::npos) << run.err;
  }
  folder_.write("services.csv",
                "name,times,model,end_s,goal_ms,rate_per_s\ns,times.csv,other,700,50,50\n");
  const test::Outcome run = replay({"policies=[fcfs]"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("services.csv:2:3"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace corun::services_on_a_cluster_test
