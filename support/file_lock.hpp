#pragma once

#include <cstdint>
#include <string>

/// Advisory locks of whole files and directories (flock): two corun processes exclude each other
/// with them. A lock ends with the last copy of its descriptor, however the process ends.
namespace corun::inline support {

enum class LockOutcome : std::uint8_t {
  kHeld,         ///< held until the descriptor is closed
  kTaken,        ///< another open of the file holds it
  kUnavailable,  ///< the file system has no locks, or the descriptor is bad; errno says which
};

/// Takes the exclusive lock of an open file or directory without waiting.
LockOutcome try_lock(int descriptor);

/// Takes it and waits as long as another open of the file holds it. Never returns kTaken.
LockOutcome wait_for_lock(int descriptor);

/// Whether the path names the open file or directory. A file may be removed or replaced between its
/// opening and its locking: a lock counts only if this is still true afterwards.
bool is_named(int descriptor, const std::string& path);

}  // namespace corun::inline support
