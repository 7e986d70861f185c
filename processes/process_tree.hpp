#pragma once

#include <cstdint>

#include <sys/types.h>

#include "processes/page_memory.hpp"
#include "processes/proc_file.hpp"

/// Processes as /proc shows them. All functions may be called after a fork (page_memory.hpp).
namespace corun::inline processes {

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

/// All visible processes, in no order.
PageVector<ProcessInfo> all_processes();

/// The processes below `root`, without `root` and without ended ones. A process stays below its subreaper
/// (prctl(2)) even after a double fork or in a session of its own.
PageVector<ProcessInfo> descendants(pid_t root);
PageVector<ProcessInfo> descendants(pid_t root, PageVector<ProcessInfo> all);

/// As descendants(), by the kernel's lists of children: its cost grows with the tree, not with the machine.
/// A process that moves to another parent meanwhile may be missed: good enough for observation, not for
/// killing. If the kernel has no such lists (CONFIG_PROC_CHILDREN), it is descendants().
PageVector<ProcessInfo> glance_below(pid_t root);

/// Whether `pid` is below `root`.
bool is_below(pid_t pid, pid_t root);

/// Kills all processes below `root` with SIGKILL, including those forked meanwhile, and does not reap them.
/// `root` must not share a process group with processes below it, unless it is the caller.
void kill_descendants(pid_t root);

/// Sends a signal to all processes below `root`; returns how many got it.
int signal_descendants(pid_t root, int signal);

/// Number of threads of the whole machine, without a look at each.
class ThreadCount {
 public:
  /// 0: not reported.
  std::int64_t now();

 private:
  ProcFile loadavg_{"/proc/loadavg"};
};

}  // namespace corun::inline processes
