#pragma once

#include <cstdint>

/// Advisory locks of whole files and directories (flock): they keep two programs of ours apart and are
/// gone with the last copy of the descriptor, however a program ends.
namespace corun {

enum class LockOutcome : std::uint8_t {
  kHeld,         ///< ours, until the descriptor is closed
  kTaken,        ///< another open of the file holds it
  kUnavailable,  ///< the file system has no locks, or the descriptor is bad; errno says which
};

/// Takes the exclusive lock of an open file or directory, without waiting.
LockOutcome try_lock(int descriptor);

/// Takes it, waiting for as long as another open holds it. Never kTaken.
LockOutcome wait_for_lock(int descriptor);

}  // namespace corun
