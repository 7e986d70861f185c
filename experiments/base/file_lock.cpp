#include "experiments/base/file_lock.hpp"

#include <cerrno>

#include <sys/file.h>

namespace corun {

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

}  // namespace corun
