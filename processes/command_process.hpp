#pragma once

#include <cstdint>

#include <sys/types.h>

#include "processes/guard.hpp"

/// How a child of a guard becomes the user's command.
namespace corun {

/// A report of a command to its guard: the time (monotonic_now()) just before execve; errno if it fails.
struct CommandReport {
  std::int64_t at_ns = 0;
  int error = 0;
};

/// Runs in the new process. The descriptors `out` and `err` become its stdout and stderr; it writes its
/// reports (CommandReport) to `report`.
[[noreturn]] void become_command(const GuardTask& task, pid_t guard, int out, int err, int report);

}  // namespace corun
