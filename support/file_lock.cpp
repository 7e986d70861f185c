#include "support/file_lock.hpp"

#include <cerrno>

#include <sys/file.h>
#include <sys/stat.h>

namespace corun::inline support {

LockOutcome try_lock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return LockOutcome::kHeld;
  return errno == EWOULDBLOCK ? LockOutcome::kTaken : LockOutcome::kUnavailable;
}

LockOutcome wait_for_lock(int descriptor) {
  while (::flock(descriptor, LOCK_EX) != 0) {
    if (errno != EINTR) return LockOutcome::kUnavailable;
  }
  return LockOutcome::kHeld;
}

bool is_named(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace corun::inline support
