#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

#include "experiments/live/processes/proc_file.hpp"

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

/// As descendants(), by the lists of children that the kernel keeps: its cost is that of the tree and not of
/// the machine. Whoever moves to another parent meanwhile may be missed, which is good enough to watch and
/// not to kill. Where the kernel keeps no such lists (CONFIG_PROC_CHILDREN), it is descendants().
std::vector<ProcessInfo> glance_below(pid_t root);

/// Whether `pid` is below `root`.
bool is_below(pid_t pid, pid_t root);

/// Kills everything below `root` with SIGKILL, also those who fork meanwhile. What was killed still has to
/// be reaped. `root` must not be in a process group with what is below it, unless it is the caller.
void kill_descendants(pid_t root);

/// Sends a signal to everything below `root`; how many processes got it.
int signal_descendants(pid_t root, int signal);

/// Threads of the whole machine. Much cheaper than to look at each of them.
class ThreadCount {
 public:
  /// 0 where the machine does not tell.
  std::int64_t now();

 private:
  ProcFile loadavg_{"/proc/loadavg"};
};

}  // namespace corun::live
