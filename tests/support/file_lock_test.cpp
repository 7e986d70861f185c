#include "support/file_lock.hpp"

#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/helpers/temporary_directory.hpp"

namespace corun::file_lock_test {
namespace {

TEST(FileLock, OneOpenAtATimeUntilItIsClosed) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("file", "");
  const int first = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  const int second = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(try_lock(first), LockOutcome::kHeld);
  EXPECT_EQ(try_lock(second), LockOutcome::kTaken);
  ::close(first);
  EXPECT_EQ(wait_for_lock(second), LockOutcome::kHeld);
  ::close(second);
}

TEST(FileLock, DirectoriesHaveLocksToo) {
  const test::TemporaryDirectory directory;
  const int first = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int second = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_EQ(try_lock(first), LockOutcome::kHeld);
  EXPECT_EQ(try_lock(second), LockOutcome::kTaken);
  ::close(first);
  ::close(second);
}

TEST(FileLock, ABadDescriptorHasNone) {
  EXPECT_EQ(try_lock(-1), LockOutcome::kUnavailable);
  EXPECT_EQ(wait_for_lock(-1), LockOutcome::kUnavailable);
}

}  // namespace
}  // namespace corun::file_lock_test
