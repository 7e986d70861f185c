#include "experiments/live/processes/supervisor.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "experiments/live/processes/process_tree.hpp"
#include "experiments/live/processes/session.hpp"
#include "sim/error.hpp"
#include "tests/experiments/live/run/live_box.hpp"
#include "tests/support/program.hpp"

namespace corun::live::supervisor_test {
namespace {

using test::eventually;
using test::LiveBox;

class Supervisor : public ::testing::Test {
 protected:
  Command shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.environment = {"PATH=/usr/bin:/bin"};
    command.directory = folder.path();
    command.out_path = folder.path("out");
    command.err_path = folder.path("err");
    command.limits.disk_free_bytes = 0;
    return command;
  }
  Ending run(const Command& command) {
    SupervisedProcess process(command, session.lifeline(), "test");
    process.start();
    EXPECT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
    return process.ending();
  }
  test::TemporaryDirectory folder;
  Session session{folder.path()};
};

TEST_F(Supervisor, TellsHowACommandEnded) {
  const Ending well = run(shell("echo to out; echo to err >&2"));
  EXPECT_TRUE(well.exited_well()) << describe(well);
  EXPECT_EQ(test::read_file(folder.path("out")), "to out\n");
  EXPECT_EQ(test::read_file(folder.path("err")), "to err\n");
  EXPECT_EQ(well.out_bytes, 7U);
  EXPECT_GE(well.exit, well.start);

  EXPECT_EQ(describe(run(shell("exit 3"))), "exit code 3");
  EXPECT_EQ(describe(run(shell("kill -SEGV $$"))), "killed by signal 11 (Segmentation fault)");
}

TEST_F(Supervisor, TimeIsFromStartToExit) {
  const Ending ending = run(shell("sleep 0.2"));
  EXPECT_GE(to_seconds(ending.exit - ending.start), 0.2);
  EXPECT_LT(to_seconds(ending.exit - ending.start), 20);
}

TEST_F(Supervisor, StartsNothingBeforeItIsTold) {
  SupervisedProcess process(shell("touch begun"), session.lifeline(), "test");
  // No event shows that nothing starts, so wait ten times as long as `touch` takes.
  EXPECT_FALSE(process.wait_until(monotonic_now() + std::chrono::milliseconds{50}));
  EXPECT_FALSE(std::filesystem::exists(folder.path("begun")));
  process.start();
  EXPECT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
  EXPECT_TRUE(std::filesystem::exists(folder.path("begun")));
}

TEST_F(Supervisor, PassesTheListedEnvironmentAndNoDescriptor) {
  Command command = shell("env | sort; ls /proc/self/fd | wc -l");
  command.environment = {"PATH=/usr/bin:/bin", "ONE=1 2"};
  ASSERT_TRUE(run(command).exited_well());
  // 0, 1, 2 and the one with which ls reads the list. The shell sets PWD.
  EXPECT_EQ(test::read_file(folder.path("out")),
            "ONE=1 2\nPATH=/usr/bin:/bin\nPWD=" + folder.path() + "\n4\n");
}

TEST_F(Supervisor, WordsAreNotShellText) {
  Command command = shell("");
  command.argv = {"echo", "$HOME", ";", "exit 3", "*"};
  ASSERT_TRUE(run(command).exited_well());
  EXPECT_EQ(test::read_file(folder.path("out")), "$HOME ; exit 3 *\n");
}

TEST_F(Supervisor, AProgramThatIsNotThereIsTheUsersMistake) {
  Command command = shell("");
  command.argv = {"no-such-program"};
  try {
    run(command);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "test: no program 'no-such-program' in PATH (/usr/bin:/bin); install it, or give "
                 "its path");
  }
  command = shell("");
  command.directory = folder.path("nowhere");
  EXPECT_THROW(run(command), InputError);
}

TEST_F(Supervisor, WhatIsNoProgramCouldNotBeStarted) {
  folder.write("text", "no program");
  chmod(folder.path("text").c_str(), 0755);
  Command command = shell("");
  command.argv = {folder.path("text")};
  const Ending ending = run(command);
  EXPECT_FALSE(ending.ran);
  EXPECT_EQ(ending.error, ENOEXEC);
}

TEST_F(Supervisor, OutputIsKeptUpToItsLimit) {
  Command command = shell("head -c 300000 /dev/zero");
  command.limits.output_bytes = 1000;
  const Ending ending = run(command);
  EXPECT_TRUE(ending.exited_well());
  EXPECT_EQ(ending.out_bytes, 300000U);
  EXPECT_EQ(test::read_file(folder.path("out")).size(), 1000U);
}

TEST_F(Supervisor, StopsAtTheTimeOutWhoeverIgnoresSigterm) {
  Command command = shell("trap '' TERM; while :; do sleep 0.05; done");
  command.limits.timeout = std::chrono::milliseconds{100};
  command.limits.grace = std::chrono::milliseconds{100};
  const Ending ending = run(command);
  EXPECT_EQ(ending.stopped, Stopped::kTimeout);
  EXPECT_EQ(WTERMSIG(ending.status), SIGKILL);
}

TEST_F(Supervisor, LetsACommandTidyUpWithinItsGrace) {
  Command command =
      shell("trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
  command.limits.grace = test::kPatience;
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(eventually([&] { return test::read_file(folder.path("out")) == "ready\n"; }));
  process.stop();
  ASSERT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
  EXPECT_EQ(process.ending().stopped, Stopped::kAsked);
  EXPECT_EQ(test::read_file(folder.path("out")), "ready\ntidy\n");
}

TEST_F(Supervisor, AForkBombEndsAtTheProcessLimit) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("60 50 100 10 0", "fork-bomb");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  command.limits.processes = 20;
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
  EXPECT_EQ(process.ending().stopped, Stopped::kProcesses);
  EXPECT_EQ(test::processes_of(box.path()), 0);
}

TEST_F(Supervisor, AFileEndsAtItsLimit) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("60 50 100 10 0", "fill");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  command.limits.file_bytes = 5 << 20;
  const Ending ending = run(command);
  EXPECT_EQ(WTERMSIG(ending.status), SIGXFSZ);
  EXPECT_EQ(std::filesystem::file_size(folder.path("filled")), 5U << 20);
}

TEST_F(Supervisor, StopsWhereTooLittleDiskIsLeft) {
  Command command = shell("sleep 60");
  command.limits.disk_free_bytes = ~0ULL;
  EXPECT_EQ(run(command).stopped, Stopped::kDisk);
}

TEST_F(Supervisor, NothingThatACommandLeavesBehindLives) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("0.05 50 100 10 0", "daemon");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  command.limits.grace = std::chrono::milliseconds{50};
  const Ending ending = run(command);
  EXPECT_TRUE(ending.exited_well()) << describe(ending);
  EXPECT_EQ(ending.left_behind, 1);
  EXPECT_EQ(test::processes_of(box.path()), 0);
}

TEST_F(Supervisor, EndsWithItsObject) {
  const LiveBox box;
  {
    Command command = shell("");
    command.argv = box.workload("60 50 100 10 0", "daemon", "hang");
    command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
    SupervisedProcess process(command, session.lifeline(), "test");
    process.start();
    ASSERT_TRUE(eventually([&] { return test::fake_uses(box.path(), 0).size() == 2; }));
  }
  EXPECT_EQ(test::processes_of(box.path()), 0);
}

TEST_F(Supervisor, TheLossOfItsGuardLosesNothing) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("60 50 100 10 0", "daemon");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(eventually([&] { return test::fake_uses(box.path(), 0).size() == 2; }));
  kill(process.guard(), SIGKILL);
  ASSERT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
  EXPECT_TRUE(process.ending().guard_lost);
  EXPECT_TRUE(eventually([&] {
    session.clear_strays();
    return test::processes_of(box.path()) == 0;
  }));
}

// A job may take any name; only a process of corun's own is spared.
TEST_F(Supervisor, AStrayWithTheNameOfAGuardIsCleared) {
  SupervisedProcess process(shell("setsid sh -c 'printf corun-guard >/proc/$$/comm\n"
                                  "echo $$ >new && mv new pid\n"
                                  "trap \"\" TERM; while :; do sleep 0.05; done' &\n"
                                  "wait"),
                            session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path("pid")); }));
  const pid_t stray = std::stoi(test::read_file(folder.path("pid")));
  kill(process.guard(), SIGKILL);
  ASSERT_TRUE(process.wait_until(monotonic_now() + test::kPatience));
  EXPECT_GE(session.clear_strays(), 1);
  EXPECT_FALSE(test::is_alive(stray));
  kill(stray, SIGKILL);
}

TEST_F(Supervisor, AJobThatStopsItsGuardIsEnded) {
  const Ending ending =
      run(shell("setsid sleep 1000 & echo $! >pid; kill -STOP $PPID; while :; do :; done"));
  EXPECT_EQ(describe(ending), "stopped: a signal had stopped its guard process");
  EXPECT_FALSE(ending.exited_well());
  EXPECT_FALSE(test::is_alive(std::stoi(test::read_file(folder.path("pid")))));
}

// The job stops its guard as soon as it continues.
TEST_F(Supervisor, EndsWithItsObjectThoughItsGuardIsStopped) {
  pid_t left = 0;
  {
    SupervisedProcess process(shell("setsid sleep 1000 & echo $! >new && mv new pid\n"
                                    "while :; do kill -STOP $PPID; done"),
                              session.lifeline(), "test");
    process.start();
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder.path("pid")); }));
    left = std::stoi(test::read_file(folder.path("pid")));
  }
  EXPECT_FALSE(test::is_alive(left));
}

TEST(LiveSession, ClearsUpAfterItself) {
  const test::TemporaryDirectory folder;
  std::string directory;
  {
    Session session(folder.path());
    directory = session.directory();
    EXPECT_TRUE(std::filesystem::is_directory(session.make_directory("job")));
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(LiveSession, EndsThoughItsJanitorIsStopped) {
  const test::TemporaryDirectory folder;
  {
    const Session session(folder.path());
    for (const ProcessInfo& child : descendants(getpid())) {
      if (child.parent == getpid()) kill(child.pid, SIGSTOP);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LiveSession, ClearsUpThoughItsJanitorIsKilled) {
  const test::TemporaryDirectory folder;
  {
    Session session(folder.path());
    session.make_directory("job");
    for (const ProcessInfo& child : descendants(getpid())) {
      if (child.parent == getpid()) kill(child.pid, SIGKILL);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Runs `work` in a process without root's rights, which may write to `folder`.
void as_nobody(const std::string& folder, const std::function<void()>& work) {
  constexpr uid_t kNobody = 65534;
  const bool root = getuid() == 0;
  if (root) ASSERT_EQ(chown(folder.c_str(), kNobody, kNobody), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (root &&
        (setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0)) {
      _exit(1);
    }
    work();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(LiveSession, RemovesFoldersThatAJobLocked) {
  const test::TemporaryDirectory folder;
  as_nobody(folder.path(), [&] {
    Session session(folder.path());
    const std::string job = session.make_directory("job");
    std::filesystem::create_directories(job + "/a/b");
    std::ofstream(job + "/a/b/file") << "text";
    for (const char* locked : {"/a/b", "/a", ""}) chmod((job + locked).c_str(), 0555);
    chmod((job + "/a").c_str(), 0);
    chmod(session.directory().c_str(), 0555);
  });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Another corun that starts at the same time looks for directories of ended sessions.
TEST(LiveSession, IsNotTakenForAnEndedOne) {
  const test::TemporaryDirectory folder;
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) Session::remove_stale(folder.path());
  }
  int lost = 0;
  for (int i = 0; i < 300; ++i) {
    Session session(folder.path());
    lost += std::filesystem::exists(session.directory() + "/lock") ? 0 : 1;
  }
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LiveSession, ADirectoryThatCannotBeMadeIsTold) {
  try {
    const Session session("/no/such/directory");
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(),
                 "no directory can be made in '/no/such/directory': No such file or directory; set "
                 "TMPDIR to one that can be written");
  }
}

TEST(LiveSession, RemovesWhatAKilledSessionLeftAndNothingElse) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path("corun-live-dead00"));
  folder.write("corun-live-dead00/lock", "");
  folder.write("corun-live-dead00/pipe", "");
  std::filesystem::create_directory(folder.path("corun-live-notours"));
  std::filesystem::create_directory(folder.path("other"));
  const Session living(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path("corun-live-dead00")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("corun-live-notours")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("other")));
  EXPECT_EQ(Session::remove_stale(folder.path()), 0);
  EXPECT_TRUE(std::filesystem::exists(living.directory()));
}

}  // namespace
}  // namespace corun::live::supervisor_test
