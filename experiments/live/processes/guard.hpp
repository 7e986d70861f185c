#pragma once

#include <cstdint>

#include <sys/types.h>

#include "experiments/live/processes/command.hpp"

/// The process between corun and a command (supervisor.hpp): what runs in it, and what the two say to each
/// other through its socket.
namespace corun::live {

/// What corun says to a guard, one byte each.
inline constexpr char kGuardStart = 'S';
inline constexpr char kGuardStop = 'T';

/// What a guard says to corun, one datagram each.
struct GuardMessage {
  enum class Kind : std::uint8_t { kStarted, kOver };
  Kind kind = Kind::kStarted;
  pid_t pid = 0;
  Ending ending;
};

/// What a guard needs, laid out before the fork: it takes no more memory than a few bytes of /proc.
struct GuardTask {
  int socket;
  int keep_open;
  int out_file;
  int err_file;
  const char* program;
  char* const* argv;
  char* const* environment;
  const char* directory;
  Limits limits;
};

/// In the new process: leaves everything of corun's behind but what the task names.
/// It starts the command when it is told to, and ends with the last process below it.
[[noreturn]] void become_guard(GuardTask task);

}  // namespace corun::live
