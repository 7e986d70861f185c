#include "support/atomic_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/helpers/temporary_directory.hpp"

namespace corun::atomic_file_test {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

/// Lets the process, for good, make no files without a name: as on a file system that has none.
bool forbid_unnamed_files() {
  constexpr unsigned kUnnamed = O_TMPFILE & ~O_DIRECTORY;
  std::array<sock_filter, 6> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUnnamed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// With files without a name (false) and without them.
class AtomicFile : public testing::TestWithParam<bool> {
 protected:
  pid_t begin(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child != 0) return child;
    if (GetParam() && !forbid_unnamed_files()) _exit(kSkipped);
    work();
    _exit(0);
  }
  /// The status of the process, which is killed after this time.
  static int end(pid_t child, std::chrono::microseconds after) {
    std::this_thread::sleep_for(after);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  static int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  test::TemporaryDirectory directory_;
  std::string file_ = directory_.path("f");
};

INSTANTIATE_TEST_SUITE_P(Files, AtomicFile, testing::Bool(), [](const auto& param) {
  return param.param ? std::string("Named") : std::string("Unnamed");
});

TEST_P(AtomicFile, WritesThroughNoLinkAndTakesNothingAwayThatIsThere) {
  directory_.write("f", "old");
  directory_.write("mine", "mine");
  fs::create_symlink("mine", file_ + ".corun-tmp-1");
  fs::create_directory(file_ + ".corun-tmp-2");
  fs::create_symlink("nothing", file_ + ".corun-tmp-3");
  const int status = wait(begin([&] {
    fs::create_symlink("mine", file_ + ".tmp-" + std::to_string(getpid()));
    write_file_atomically(file_, "new");
  }));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(test::read_file(file_), "new");
  EXPECT_EQ(test::read_file(directory_.path("mine")), "mine");
  EXPECT_FALSE(fs::exists(directory_.path("nothing")));
  EXPECT_FALSE(fs::is_symlink(file_));
  EXPECT_EQ(names().size(), 6U);
}

// Processes in other pid namespaces have the same number; so have threads.
TEST_P(AtomicFile, IsWholeHoweverManyWriteItAtOnce) {
  const int status = wait(begin([&] {
    std::atomic<bool> good{true};
    const auto write = [&](char letter) {
      try {
        for (int i = 0; i < 60; ++i) write_file_atomically(file_, std::string(50'000, letter));
      } catch (const std::exception&) {
        good = false;
      }
    };
    write('a');
    std::vector<std::thread> writers;
    for (char letter = 'a'; letter < 'i'; ++letter) writers.emplace_back(write, letter);
    for (int i = 0; i < 300; ++i) {
      const std::string now = test::read_file(file_);
      if (now != std::string(50'000, now.empty() ? '?' : now[0])) good = false;
    }
    for (std::thread& writer : writers) writer.join();
    _exit(good ? 0 : 1);
  }));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(names(), std::set<std::string>{"f"});
}

TEST_P(AtomicFile, WhatAKillLeavesIsRemovedByTheNextWriting) {
  std::mt19937 random(7);
  std::size_t left = 0;
  write_file_atomically(file_, std::string(200'000, 'x'));
  // On a busy machine more rounds, which are longer and longer, until a kill came while a file was written.
  for (unsigned round = 0; round < 40 || (GetParam() && left == 0 && round < 400); ++round) {
    const pid_t child = begin([&] {
      for (char letter = 'a';; letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1)) {
        write_file_atomically(file_, std::string(200'000, letter));
      }
    });
    const int status =
        end(child, std::chrono::microseconds(500 + random() % (6000 * (1 + round / 40))));
    if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no seccomp here";
    const std::string now = test::read_file(file_);
    ASSERT_EQ(now, std::string(200'000, now.empty() ? '?' : now[0]));
    left += names().size() - 1;
    ASSERT_LE(names().size(), 2U);
    write_file_atomically(file_, now);
    ASSERT_EQ(names(), std::set<std::string>{"f"});
  }
  if (GetParam()) EXPECT_GT(left, 0U) << "no kill came while a file was written";
}

}  // namespace
}  // namespace corun::atomic_file_test
