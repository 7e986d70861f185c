#pragma once

#include <cstdint>

#include <sys/types.h>

#include "experiments/live/processes/guard.hpp"

/// How a child of a guard becomes the user's command.
namespace corun::live {

/// What a command says to its guard: when, just before execve; and why, where that fails.
struct CommandReport {
  std::int64_t at_ns = 0;
  int error = 0;
};

/// In the new process. `out` and `err` become its stdout and stderr; its reports go to `report`.
[[noreturn]] void become_command(const GuardTask& task, pid_t guard, int out, int err, int report);

}  // namespace corun::live
