#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

/// Processes as /proc shows them.
namespace corun::live {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = 0;              ///< as in proc(5); 'Z' has ended and waits to be reaped
  std::int64_t cpu_ticks = 0;  ///< user and system time, of it and of the children it has reaped
  std::int64_t threads = 0;
  std::int64_t resident_pages = 0;
};

/// All processes that can be seen, in no order.
std::vector<ProcessInfo> all_processes();

/// The processes below `root`, `root` itself left out; those that have ended are not among them. A process
/// is below its subreaper (prctl(2)) however it was started, by double fork or in a session of its own.
std::vector<ProcessInfo> descendants(pid_t root);
std::vector<ProcessInfo> descendants(pid_t root, std::vector<ProcessInfo> all);

/// Kills everything below `root` with SIGKILL, also those who fork meanwhile. What was killed still has to
/// be reaped. `root` must not be in a process group with what is below it, unless it is the caller.
void kill_descendants(pid_t root);

/// Sends a signal to everything below `root`; how many processes got it.
int signal_descendants(pid_t root, int signal);

/// Threads of the whole machine; 0 where it does not tell. Much cheaper than to look at each of them.
std::int64_t system_threads();

}  // namespace corun::live
