#include "processes/process_tree.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/helpers/eventually.hpp"

namespace corun::test::process_tree_test {
namespace {

std::vector<pid_t> pids_of(const PageVector<ProcessInfo>& processes) {
  std::vector<pid_t> pids;
  for (const auto& p : processes) pids.push_back(p.pid);
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// A waiting child; its child, forked by a second thread; and one in another session whose parent has ended.
/// The root reports after it has reaped that parent: before, three processes need not be these three.
TEST(ProcessTree, AGlanceSeesAllOfATree) {
  std::array<int, 2> said{};
  ASSERT_EQ(pipe(said.data()), 0);
  const pid_t root = fork();
  if (root == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child == 0) {
      std::thread([] {
        if (fork() == 0) {
          for (;;) pause();
        }
        for (;;) pause();
      }).join();
    }
    const pid_t middle = fork();
    if (middle == 0) {
      if (fork() != 0) _exit(0);
      setsid();
      for (;;) pause();
    }
    waitpid(middle, nullptr, 0);
    if (write(said[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(said[1]);
  char byte = 1;
  ASSERT_EQ(read(said[0], &byte, 1), 1);
  close(said[0]);
  EXPECT_TRUE(
      eventually([&] { return descendants(root).size() == 3 && glance_below(root).size() == 3; }));
  const auto below = pids_of(glance_below(root));
  EXPECT_EQ(below, pids_of(descendants(root)));
  for (const pid_t pid : below) {
    EXPECT_TRUE(is_below(pid, root));
    EXPECT_TRUE(is_below(pid, getpid()));
    EXPECT_FALSE(is_below(root, pid));
  }
  for (const auto& p : glance_below(root)) EXPECT_GE(p.threads, 1);
  kill_descendants(root);
  kill(root, SIGKILL);
  waitpid(root, nullptr, 0);
  EXPECT_TRUE(glance_below(root).empty());
  EXPECT_FALSE(is_below(root, getpid()));
}

TEST(ProcessTree, TheMachineHasThreads) { EXPECT_GE(ThreadCount().now(), 1); }

}  // namespace
}  // namespace corun::test::process_tree_test
