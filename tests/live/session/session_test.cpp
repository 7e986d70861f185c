#include "live/session/session.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "processes/process_tree.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// The directory of a session, however the session ends.
namespace corun::test::session_test {
namespace {

using live::Session;

TEST(LiveSession, ClearsUpAfterItself) {
  const TemporaryDirectory folder;
  std::string directory;
  {
    Session session(folder.path());
    directory = session.directory();
    EXPECT_TRUE(std::filesystem::is_directory(session.make_directory("job")));
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST(LiveSession, EndsThoughItsJanitorIsStopped) {
  const TemporaryDirectory folder;
  {
    const Session session(folder.path());
    for (const ProcessInfo& child : descendants(getpid())) {
      if (child.parent == getpid()) kill(child.pid, SIGSTOP);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LiveSession, ClearsUpThoughItsJanitorIsKilled) {
  const TemporaryDirectory folder;
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
  const TemporaryDirectory folder;
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
  const TemporaryDirectory folder;
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
  const TemporaryDirectory folder;
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
}  // namespace corun::test::session_test
