#include "processes/supervisor.hpp"

#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "live/session/session.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "tests/live/run/live_box.hpp"

namespace corun::test::supervisor_test {
namespace {

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
    EXPECT_TRUE(process.wait_until(monotonic_now() + kPatience));
    return process.ending();
  }
  TemporaryDirectory folder;
  live::Session session{folder.path()};
};

TEST_F(Supervisor, TellsHowACommandEnded) {
  const Ending well = run(shell("echo to out; echo to err >&2"));
  EXPECT_TRUE(well.exited_well()) << describe(well);
  EXPECT_EQ(read_file(folder.path("out")), "to out\n");
  EXPECT_EQ(read_file(folder.path("err")), "to err\n");
  EXPECT_EQ(well.out_bytes, 7U);
  EXPECT_GE(well.exit, well.start);

  EXPECT_EQ(describe(run(shell("exit 3"))), "exit code 3");
  EXPECT_EQ(describe(run(shell("kill -SEGV $$"))), "killed by signal 11 (Segmentation fault)");
}

/// An earlier job could point the output of the next one at a file of its user.
TEST_F(Supervisor, WritesNoOutputThroughALinkOrIntoAPipe) {
  const std::string mine = folder.write("mine", "precious");
  const std::string out = folder.path("out");
  const auto refused = [&] {
    try {
      SupervisedProcess process(shell("true"), session.lifeline(), "test");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  const std::string expected =
      "test: cannot write '" + out + "': it is a link or a pipe; remove it";
  ASSERT_EQ(symlink(mine.c_str(), out.c_str()), 0);
  EXPECT_EQ(refused(), expected);
  EXPECT_EQ(read_file(mine), "precious");
  ASSERT_EQ(unlink(out.c_str()), 0);
  ASSERT_EQ(mkfifo(out.c_str(), 0600), 0);
  EXPECT_EQ(refused(), expected);
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
  EXPECT_TRUE(process.wait_until(monotonic_now() + kPatience));
  EXPECT_TRUE(std::filesystem::exists(folder.path("begun")));
}

TEST_F(Supervisor, PassesTheListedEnvironmentAndNoDescriptor) {
  Command command = shell("env | sort; ls /proc/self/fd | wc -l");
  command.environment = {"PATH=/usr/bin:/bin", "ONE=1 2"};
  ASSERT_TRUE(run(command).exited_well());
  // 0, 1, 2 and the one with which ls reads the list. The shell sets PWD.
  EXPECT_EQ(read_file(folder.path("out")),
            "ONE=1 2\nPATH=/usr/bin:/bin\nPWD=" + folder.path() + "\n4\n");
}

TEST_F(Supervisor, WordsAreNotShellText) {
  Command command = shell("");
  command.argv = {"echo", "$HOME", ";", "exit 3", "*"};
  ASSERT_TRUE(run(command).exited_well());
  EXPECT_EQ(read_file(folder.path("out")), "$HOME ; exit 3 *\n");
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
  EXPECT_EQ(read_file(folder.path("out")).size(), 1000U);
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
  command.limits.grace = kPatience;
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(eventually([&] { return read_file(folder.path("out")) == "ready\n"; }));
  process.stop();
  ASSERT_TRUE(process.wait_until(monotonic_now() + kPatience));
  EXPECT_EQ(process.ending().stopped, Stopped::kAsked);
  EXPECT_EQ(read_file(folder.path("out")), "ready\ntidy\n");
}

TEST_F(Supervisor, AForkBombEndsAtTheProcessLimit) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("60 50 100 10 0", "fork-bomb");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  command.limits.processes = 20;
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(process.wait_until(monotonic_now() + kPatience));
  EXPECT_EQ(process.ending().stopped, Stopped::kProcesses);
  EXPECT_EQ(processes_of(box.path()), 0);
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
  EXPECT_EQ(processes_of(box.path()), 0);
}

TEST_F(Supervisor, EndsWithItsObject) {
  const LiveBox box;
  {
    Command command = shell("");
    command.argv = box.workload("60 50 100 10 0", "daemon", "hang");
    command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
    SupervisedProcess process(command, session.lifeline(), "test");
    process.start();
    ASSERT_TRUE(eventually([&] { return fake_uses(box.path(), 0).size() == 2; }));
  }
  EXPECT_EQ(processes_of(box.path()), 0);
}

TEST_F(Supervisor, TheLossOfItsGuardLosesNothing) {
  const LiveBox box;
  Command command = shell("");
  command.argv = box.workload("60 50 100 10 0", "daemon");
  command.environment = {"CUDA_VISIBLE_DEVICES=GPU-fake-0"};
  SupervisedProcess process(command, session.lifeline(), "test");
  process.start();
  ASSERT_TRUE(eventually([&] { return fake_uses(box.path(), 0).size() == 2; }));
  kill(process.guard(), SIGKILL);
  ASSERT_TRUE(process.wait_until(monotonic_now() + kPatience));
  EXPECT_TRUE(process.ending().guard_lost);
  EXPECT_EQ(processes_of(box.path()), 0);
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
  const pid_t stray = std::stoi(read_file(folder.path("pid")));
  kill(process.guard(), SIGKILL);
  ASSERT_TRUE(process.wait_until(monotonic_now() + kPatience));
  EXPECT_FALSE(is_alive(stray));
  kill(stray, SIGKILL);
}

TEST_F(Supervisor, AJobThatStopsItsGuardIsEnded) {
  const Ending ending =
      run(shell("setsid sleep 1000 & echo $! >pid; kill -STOP $PPID; while :; do :; done"));
  EXPECT_EQ(describe(ending), "stopped: a signal had stopped its guard process");
  EXPECT_FALSE(ending.exited_well());
  EXPECT_FALSE(is_alive(std::stoi(read_file(folder.path("pid")))));
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
    left = std::stoi(read_file(folder.path("pid")));
  }
  EXPECT_FALSE(is_alive(left));
}

}  // namespace
}  // namespace corun::test::supervisor_test
