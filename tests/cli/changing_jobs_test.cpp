#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/json.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Jobs that change, as users run them.
namespace corun::changing_jobs_command_test {
namespace {

class ChangingJobsCommand : public testing::Test {
 protected:
  test::Outcome replay(std::vector<std::string> settings) const {
    std::vector<std::string> arguments{"replay", jobs_, "-q", "--set", "world.model=none"};
    for (std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(std::move(setting));
    }
    return test::run_corun(arguments, folder_.path());
  }

  test::TemporaryDirectory folder_;
  std::string jobs_ = folder_.write(
      "jobs.csv", "job,submit_s,solo_s,gpus,gpus_min,gpus_max,parallel_share\na,0,100,2,1,2,0.8\n");
  std::string phases_ = folder_.write("phases.csv", "job,share,gpu_util_pct\na,0.3,20\na,0.7,80\n");
};

TEST_F(ChangingJobsCommand, PhasesAreEventsOfTheTimeline) {
  const test::Outcome run = test::run_corun(
      {"replay", jobs_, "-q", "--set", "world.model=none", "--set", "workload.phases=phases.csv",
       "--set", "policies=[fifo]", "--set", "replications=1", "--gpus", "2", "--timeline", "t"},
      folder_.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(test::read_file(folder_.path("t/fifo.csv")).find("30000000000,phase,a,"),
            std::string::npos);
}

TEST_F(ChangingJobsCommand, TheNetworkSlowsAGang) {
  const auto jct = [&](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"policies=[{name: fifo, placement: anywhere}]",
                                     "replications=1", "cluster.gpus_per_node=1"});
    std::vector<std::string> arguments{"replay",           jobs_,      "-q",  "--set",
                                       "world.model=none", "--format", "json"};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    const test::Outcome run = test::run_corun(arguments, folder_.path());
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["policies"][0]["metrics"]["jct_s"]["mean"].get<double>();
  };
  EXPECT_DOUBLE_EQ(jct({}), 100);
  EXPECT_DOUBLE_EQ(jct({"world.across_nodes=0.5"}), 200);
  EXPECT_DOUBLE_EQ(
      jct({"world.across_nodes=0.5", "world.across_switches=0.25", "cluster.nodes_per_switch=1"}),
      400);
}

/// 1000 steps of 0.1 s, which exchange 100 MiB = 0.8388608 Gbit: over a ring of two GPUs in 0.1 s at 8.388608 Gbit/s.
TEST_F(ChangingJobsCommand, AStepExchangesItsMessageOverTheSlowestLink) {
  const auto jct = [&](const std::string& run_nodes, const std::vector<std::string>& settings) {
    folder_.write("gang.csv",
                  "job,submit_s,solo_s,gpus,steps,message_mib,run_nodes\na,0,100,2,1000,100," +
                      run_nodes + "\n");
    std::vector<std::string> arguments{"replay", "gang.csv", "-q", "--format", "json"};
    for (const char* usual :
         {"world.model=none", "policies=[{name: fifo, placement: anywhere}]", "replications=1"}) {
      arguments.insert(arguments.end(), {"--set", usual});
    }
    for (const std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", setting});
    const test::Outcome run = test::run_corun(arguments, folder_.path());
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out)["policies"][0]["metrics"]["jct_s"]["mean"].get<double>();
  };
  const std::string apart = "cluster.gpus_per_node=1";
  const std::string beside = "cluster.gpus_per_node=2";
  constexpr double kRounding = 1e-6;  // [s]: a job ends at a whole nanosecond
  EXPECT_NEAR(jct("", {apart}), 100, kRounding);
  EXPECT_NEAR(jct("", {apart, "world.gbps_across_nodes=8.388608"}), 200, kRounding);
  EXPECT_NEAR(jct("", {beside, "world.gbps_across_nodes=8.388608"}), 100, kRounding);
  const std::string in_node = "world.gbps_in_node=83.88608";
  EXPECT_NEAR(jct("", {apart, in_node, "world.gbps_across_nodes=8.388608"}), 190, kRounding);
  EXPECT_NEAR(jct("", {apart, "world.gbps_across_nodes=8.388608",
                       "world.gbps_across_switches=4.194304", "cluster.nodes_per_switch=1"}),
              300, kRounding);
  // Measured on two nodes, it is faster on one.
  EXPECT_NEAR(jct("2", {beside, "world.gbps_across_nodes=16.777216"}), 50, kRounding);
  EXPECT_NEAR(jct("2", {apart, "world.gbps_across_nodes=16.777216"}), 100, kRounding);
  EXPECT_NEAR(jct("2", {beside, "world.across_nodes=0.5"}), 50, kRounding);
  EXPECT_NEAR(jct("2", {apart, "world.across_nodes=0.5"}), 100, kRounding);

  const test::Outcome longer = test::run_corun(
      {"replay", "gang.csv", "-q", "--set", "world.gbps_across_nodes=8"}, folder_.path());
  EXPECT_EQ(longer.code, 2);
  EXPECT_NE(longer.err.find("job 'a' exchanges 100 MiB in 0.105 s"), std::string::npos)
      << longer.err;
  folder_.write("gang.csv", "job,submit_s,solo_s,gpus,message_mib\na,0,100,2,100\n");
  const test::Outcome bare = test::run_corun({"replay", "gang.csv", "-q"}, folder_.path());
  EXPECT_EQ(bare.code, 2);
  EXPECT_NE(bare.err.find("gang.csv:2:11: "), std::string::npos) << bare.err;
}

TEST_F(ChangingJobsCommand, AProgramResizesAJob) {
  folder_.write("resizer.py", R"(import json, sys
def tell(what):
    print(json.dumps(what), flush=True)
hello = json.loads(sys.stdin.readline())
tell({"protocol": "corun-policy", "version": 1})
started = None
for line in sys.stdin:
    q = json.loads(line)
    if "time_ns" not in q:
        continue
    decisions = []
    if q["waiting"]:
        decisions.append({"event": "start", "jobs": q["waiting"][:1], "gpus": [0, 1]})
        decisions.append({"event": "wake", "time_ns": 30 * 10**9})
        started = q["waiting"][0]
    elif q["time_ns"] == 30 * 10**9 and started is not None:
        decisions.append({"event": "resize", "jobs": [started], "gpus": [2]})
        started = None
    tell({"decisions": decisions})
)");
  const std::string policy =
      "policies=[{name: external, asked: running, command: [python3, resizer.py]}]";
  const test::Outcome run =
      test::run_corun({"replay", jobs_, "-q", "--set", "world.model=none", "--set", policy, "--set",
                       "replications=1", "--gpus", "3", "--timeline", "t"},
                      folder_.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string events = test::read_file(folder_.path("t/external.csv"));
  EXPECT_NE(events.find("30000000000,resize,a,"), std::string::npos) << events;
  EXPECT_NE(events.find("30000000000,start,a,2"), std::string::npos) << events;
  EXPECT_NE(events.find("146666666667,finish,a,"), std::string::npos) << events;
  EXPECT_NE(run.out.find("restarts\nexternal             -          -             -      1.00"),
            std::string::npos)
      << run.out;
}

TEST_F(ChangingJobsCommand, WhatIsRefused) {
  const std::string phases = "workload.phases=phases.csv";
  const std::string rounds = "control={mode: rounds, round_s: 60}";
  folder_.write("rigid.csv", "job,submit_s,solo_s,gpus\na,0,100,2\n");
  for (const auto& [settings, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{phases, "control.tick_s=1"}, "phases of jobs are for jobs without clock ticks"},
           {{phases, rounds, "policies=[fifo]"}, "phases of jobs are for control.mode: events"},
           {{rounds, "policies=[fifo]"}, "elastic jobs are for control.mode: events"},
           {{"workload.phases=none.csv"}, "none.csv"},
           {{"world.across_nodes=1.5"}, "world.across_nodes"},
           {{"world.gbps_across_nodes=0"}, "world.gbps_across_nodes"},
           {{"world.gbps_in_node=100", "workload.path=rigid.csv", rounds, "policies=[fifo]"},
            "speeds across nodes are for control.mode: events"},
           {{"cluster.nodes_per_switch=0"}, "cluster.nodes_per_switch"}}) {
    const test::Outcome run = replay(settings);
    EXPECT_EQ(run.code, 2) << message;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  }
  const test::Outcome run = test::run_corun({"replay", "--set", "workload.phases=phases.csv"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("workload.phases is for sources that read jobs"), std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace corun::changing_jobs_command_test
