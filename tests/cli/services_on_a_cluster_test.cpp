#include <fstream>
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
    for (const char* setting :
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

// M/M/1: 99 % are within ln(100) / (m - l) for m = 100 / f per second at stretch f and l = 50 per second. At the goal of
// 250 ms f is 100 / (50 + ln(100) / 0.25) = 1.4615.
TEST_F(ServicesOnACluster, AreRecommendedJobsByTheirQueue) {
  const auto recommended = [&](const std::string& goal_ms, const std::string& workload,
                               const std::vector<std::string>& more = {}) {
    folder_.write("services.csv",
                  "name,times,model,end_s,goal_ms,rate_per_s,variation,gpu_util_pct,workload\n"
                  "s,times.csv,m,20000," +
                      goal_ms + ",50,exponential,40," + workload + "\n");
    std::vector<std::string> arguments{"recommend", jobs_,       "-q",     "--format",
                                       "json",      "--service", services_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::Outcome run = test::run_corun(arguments, folder_.path());
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["services"][0];
  };
  folder_.write("jobs.csv",
                "job,submit_s,solo_s,gpus,gpu_util_pct\nbusy,0,1000,1,90\ngang,0,9,2,5\n"
                "idle,0,1000,1,5\n");
  const Json service = recommended("250", "");
  EXPECT_NEAR(service["most_isd"].get<double>(), 0.4615, 0.005);
  ASSERT_EQ(service["jobs"].size(), 3);
  EXPECT_EQ(service["jobs"][0]["job"], "idle");
  const double probability = service["jobs"][0]["probability"].get<double>();
  EXPECT_GT(probability, service["jobs"][1]["probability"].get<double>());
  EXPECT_EQ(service["jobs"][0]["may_share"].get<bool>(), probability >= 0.95);
  // A job is slowed in the share of time in which the replica works.
  EXPECT_LT(service["jobs"][1]["job_isd"].get<double>(), service["jobs"][1]["isd"].get<double>());
  EXPECT_TRUE(service["jobs"][2]["probability"].is_null());
  EXPECT_FALSE(service["jobs"][2]["may_share"].get<bool>());
  EXPECT_TRUE(recommended("250", "", {"--sure", "0"})["jobs"][1]["may_share"].get<bool>());
  EXPECT_EQ(service, recommended("250", "of-a-secret-model"));
  // ln(100) / 50 per s are 92 ms without co-runners.
  const Json missed = recommended("90", "");
  EXPECT_TRUE(missed["most_isd"].is_null());
  EXPECT_FALSE(missed["jobs"][0]["may_share"].get<bool>());
}

// A job comes at 200 s. The service works in half of the time: stretched by f its latency is that of M/M/1, times f 0.5 / (1 -
// 0.5 f). An ISD of 0 keeps the goal, one of 100 % makes it impossible to serve the load.
TEST_F(ServicesOnACluster, AreJoinedWhereTheGoalIsBelievedToBeKept) {
  const auto kb = [&](double isd) {
    std::string text =
        "kind: corun knowledge base\nversion: 1\n"
        "features: [gpu_util_pct, mem_alloc_pct, mem_time_pct]\ncentres: [[50, 50, 50]]\nisd:\n"
        "  - {cluster: 0, partner: 0, count: 40, mean: " +
        std::to_string(isd) +
        ", variance: 0.0001}\n"
        "ps:\n  - {cluster: 0, partner: 0, count: 20, mean: 0.3, variance: 0.0001}\ncomplete: "
        "true\n";
    return folder_.write("kb.yaml", text);
  };
  folder_.write("jobs.csv", "job,submit_s,solo_s,gpu_util_pct\na,200,300,60\n");
  const auto jct_s = [&](const std::string& policy, double isd, double goal_ms) {
    folder_.write("services.csv",
                  "name,times,model,start_s,end_s,goal_ms,rate_per_s,gpu_util_pct\n"
                  "s,times.csv,m,0,700," +
                      std::to_string(goal_ms) + ",50,40\n");
    const test::Outcome run =
        replay({"policies=[" + policy + "]", "control.start=join", "cluster.nodes=1",
                "belief.initial=" + kb(isd), "estimates.duration=exact", "replications=1"});
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["policies"][0]["metrics"]["jct_s"]["mean"].get<double>();
  };
  for (const std::string policy : {"min-slowdown", "balance", "max-packing", "srsf-packed"}) {
    EXPECT_DOUBLE_EQ(jct_s(policy, 0.02, 200), 300) << policy;
    EXPECT_DOUBLE_EQ(jct_s(policy, 0.02, 11), 800) << policy << ": it misses its goal alone";
    if (policy != "srsf-packed") EXPECT_DOUBLE_EQ(jct_s(policy, 1.1, 200), 800) << policy;
  }
}

TEST_F(ServicesOnACluster, AreSeenByProgramsAsTheirLastMinute) {
  folder_.write("jobs.csv", "job,submit_s,solo_s,gpu_util_pct\na,0,20,60\nb,130,20,60\n");
  folder_.write("services.csv",
                "name,times,model,end_s,goal_ms,percentile,rate_per_s,gpu_util_pct\n"
                "s,times.csv,m,600,50,95,50,40\n");
  folder_.write("policy.py", R"(import json, sys
sys.stdin.readline()
print('{"protocol": "corun-policy", "version": 1}', flush=True)
seen, replicas = [], {}
for line in sys.stdin:
    view = json.loads(line)
    for event in view["events"]:
        if event["event"] == "arrive":
            replicas[event["job"]] = event["asks"].get("service")
    seen.append({"time_ns": view["time_ns"], "services": view["services"], "replicas": list(replicas.values())})
    with open("seen.json", "w") as file:
        json.dump(seen, file)
    free = view["free"]
    starts = [{"event": "start", "jobs": [job], "gpus": [gpu]} for job, gpu in zip(view["waiting"], free)]
    print(json.dumps({"decisions": starts}), flush=True)
)");
  const test::Outcome run = replay({"policies=[{name: external, command: [python3, policy.py]}]",
                                    "cluster.nodes=2", "replications=1"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json seen = Json::parse(std::ifstream(folder_.path("seen.json")));
  const Json& first = seen.front()["services"][0];
  EXPECT_DOUBLE_EQ(first["goal_s"].get<double>(), 0.05);
  EXPECT_DOUBLE_EQ(first["share"].get<double>(), 0.95);
  EXPECT_EQ(first["intervals"], 0);
  const Json& last = seen.back();
  EXPECT_EQ(last["time_ns"], 130'000'000'000);
  const Json& observed = last["services"][0];
  EXPECT_EQ(observed["intervals"], 2);
  EXPECT_NEAR(observed["load_per_s"].get<double>(), 50, 5);
  EXPECT_NEAR(observed["busy"].get<double>(), 0.5, 0.05);
  EXPECT_GE(observed["latency_s"].get<double>(), 0.0099);
  EXPECT_LT(observed["latency_s"].get<double>(), 0.1);
  EXPECT_DOUBLE_EQ(observed["replicas"].get<double>(), 1);
  int replicas = 0;
  for (const Json& service : last["replicas"]) replicas += service.is_null() ? 0 : 1;
  EXPECT_EQ(replicas, 1);
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
