#include <csignal>
#include <filesystem>
#include <string>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "processes/process_tree.hpp"
#include "tests/live/run/live_program.hpp"

/// However corun ends, it leaves nothing behind: no process, no MPS daemon, no directory.
namespace corun::test::live_kill_test {
namespace {

class LiveKill : public LiveProgram {
 protected:
  /// Installs an MPS daemon that only makes its control pipe and waits.
  void install_mps() {
    std::filesystem::create_directory(box() + "/bin");
    const std::string program = box() + "/bin/nvidia-cuda-mps-control";
    folder.write("box/bin/nvidia-cuda-mps-control",
                 "#!/bin/sh\n[ \"$1\" = -f ] || exit 9\n"
                 "echo $$ >>" +
                     box() +
                     "/mps-daemons\n"
                     "touch \"$CUDA_MPS_PIPE_DIRECTORY/control\"\n"
                     "trap '' TERM\nwhile :; do sleep 0.05; done\n");
    chmod(program.c_str(), 0755);
    setenv("PATH", (box() + "/bin:" + path_).c_str(), 1);
  }
  ~LiveKill() override { setenv("PATH", path_.c_str(), 1); }

  void killed_when(const std::vector<std::string>& words, const std::function<bool()>& phase) {
    Background corun(live(words), folder.path());
    ASSERT_TRUE(eventually([&] { return phase() || !corun.running(); }));
    ASSERT_TRUE(corun.running()) << corun.err();
    corun.kill(SIGKILL);
    EXPECT_TRUE(eventually([&] { return nothing_left(); }))
        << processes_of(box()) << " processes are left";
  }

  // Jobs that ignore SIGTERM and leave a process behind, in a session of its own, that ignores it as well.
  const std::string stubborn = "60 50 100 10 0 daemon hang";
  const std::string quick = "0.02 50 100 10 0";

 private:
  const std::string path_ = std::getenv("PATH");
};

TEST_F(LiveKill, WhileItProfiles) {
  killed_when(
      {"profile", "--", CORUN_FAKE_WORKLOAD, box(), "60", "50", "100", "10", "0", "daemon", "hang"},
      [&] { return on_gpu() == 2; });
}

TEST_F(LiveKill, WhileItMeasuresAlone) {
  const std::string file = config({{"a", stubborn}});
  killed_when({"solo", file}, [&] { return on_gpu() == 2; });
}

TEST_F(LiveKill, WhileItMeasuresTogether) {
  const std::string clingy = "0.2 50 100 10 0 clingy";
  const std::string file = config({{"a", clingy}, {"b", clingy}});
  killed_when({"corun", file, "--warm-up", "0", "--repeats", "1"}, [&] { return on_gpu() == 2; });
}

TEST_F(LiveKill, WhileAQueueRuns) {
  const std::string file = config({{"a", stubborn}}, "queue: [a, a]\npolicies: [{name: fcfs}]\n");
  std::filesystem::create_directory(folder.path("out"));
  folder.write("out/solo.csv", "job,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct\na,1,50,1,10\n");
  killed_when({"run", file}, [&] { return on_gpu() == 4; });
}

TEST_F(LiveKill, WhileItsMpsDaemonRuns) {
  install_mps();
  const std::string file = config({{"a", stubborn}}, "cluster: {sharing: mps}\n");
  killed_when({"solo", file}, [&] { return on_gpu() == 2; });
  EXPECT_TRUE(std::filesystem::exists(box() + "/mps-daemons"));
}

TEST_F(LiveKill, WhileAGuardIsStopped) {
  Background corun(live({"profile", "--", CORUN_FAKE_WORKLOAD, box(), "60", "50", "100", "10", "0",
                         "daemon", "hang"}),
                   folder.path());
  ASSERT_TRUE(eventually([&] { return on_gpu() == 2 || !corun.running(); })) << corun.err();
  const pid_t job = fake_uses(box(), 0).front().pid;
  pid_t guard = 0;
  for (const ProcessInfo& p : all_processes()) {
    if (p.pid == job) guard = p.parent;
  }
  ASSERT_GT(guard, 1);
  corun.signal(SIGSTOP);  // else it would see that its guard is stopped
  kill(guard, SIGSTOP);
  corun.kill(SIGKILL);
  EXPECT_TRUE(eventually([&] { return nothing_left(); }));
}

TEST_F(LiveKill, BeforeAnythingRuns) {
  const std::string file = config({{"a", quick}});
  for (int i = 0; i < 5; ++i) {
    killed_when({"solo", file, "--repeats", "1000"},
                [&] { return !std::filesystem::is_empty(folder.path("tmp")); });
  }
}

TEST_F(LiveKill, TheMpsDaemonEndsWithTheSession) {
  install_mps();
  const std::string file = config({{"a", quick}}, "cluster: {sharing: mps}\n");
  const Outcome outcome = run({"solo", file, "--repeats", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(box() + "/mps-daemons"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(LiveKill, CtrlCStopsAllAndKeepsWhatIsDone) {
  const std::string file = config({{"a", quick}, {"b", stubborn}},
                                  "queue: [a, b]\npolicies: [{name: exclusive}, {name: fcfs}]\n");
  std::filesystem::create_directory(folder.path("out"));
  folder.write("out/solo.csv",
               "job,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct\na,1,50,1,10\nb,1,50,1,10\n");
  Background corun(live({"run", file}), folder.path());
  ASSERT_TRUE(eventually([&] { return on_gpu() == 2 || !corun.running(); })) << corun.err();
  corun.signal(SIGINT);
  EXPECT_EQ(corun.wait(), 130) << corun.err();
  EXPECT_TRUE(nothing_left());
  EXPECT_NE(result("exclusive.jobs.csv").find("\na,a,0,0,0,finished,"), std::string::npos)
      << result("exclusive.jobs.csv");
  EXPECT_NE(result("exclusive.jobs.csv").find("\nb,b,0,1,0,stopped,"), std::string::npos);
  EXPECT_FALSE(has_result("fcfs.jobs.csv"));
}

TEST_F(LiveKill, ADirectoryThatAKilledJanitorLeftIsRemovedByTheNext) {
  std::filesystem::create_directory(folder.path("tmp/corun-live-stale1"));
  folder.write("tmp/corun-live-stale1/lock", "");
  std::filesystem::create_directory(folder.path("tmp/corun-live-stale1/0-mps"));
  EXPECT_EQ(run({"solo", config({{"a", quick}}), "--repeats", "1"}).code, 0);
  EXPECT_TRUE(nothing_left());
}

}  // namespace
}  // namespace corun::test::live_kill_test
