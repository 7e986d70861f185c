#pragma once

#include <cstdint>

#include <sys/types.h>

#include "processes/command.hpp"

/// The process between corun and a command (supervisor.hpp), and the messages between the two.
namespace corun::inline processes {

/// Messages from corun to a guard, one byte each.
inline constexpr char kGuardStart = 'S';
inline constexpr char kGuardStop = 'T';

/// A message from a guard to corun, one datagram.
struct GuardMessage {
  enum class Kind : std::uint8_t { kStarted, kOver };
  Kind kind = Kind::kStarted;
  pid_t pid = 0;
  Ending ending;
};

/// The input of a guard, prepared before the fork. The first five are descriptors; `keep_open` may be -1. With
/// a `dialogue` (command.hpp), else -1, there is no `out_file`, and the command writes to `err_file` itself.
struct GuardTask {
  int socket;
  int keep_open;
  int dialogue;
  int out_file;
  int err_file;
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* directory;
  Limits limits;
};

/// Runs in the new process. Closes all descriptors but those of the task, starts the command on kGuardStart,
/// and ends when no process is left below it.
[[noreturn]] void become_guard(GuardTask task);

}  // namespace corun::inline processes
