#pragma once

#include <array>
#include <cstdint>

#include <sys/types.h>

#include "processes/guard.hpp"

/// How a child of a guard becomes the user's command.
namespace corun::inline processes {

/// A report of a command to its guard: the time (monotonic_now()) just before execve; errno if it fails.
struct CommandReport {
  std::int64_t at_ns = 0;
  int error = 0;
};

/// Runs in the new process. The descriptors `streams` become its stdin (-1: empty), stdout and stderr; it
/// writes its reports (CommandReport) to `report`.
[[noreturn]] void become_command(const GuardTask& task, pid_t guard,
                                 const std::array<int, 3>& streams, int report);

}  // namespace corun::inline processes
