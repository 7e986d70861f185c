#include "processes/strays.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "processes/process_tree.hpp"

namespace corun::inline processes {

void clear_strays() {
  // Processes that corun itself starts, such as guards, are in its session. No other process can join it: each
  // command begins a session of its own (setsid(2)).
  const pid_t session = getsid(0);
  for (int round = 0; round < 1000; ++round) {
    bool found = false;
    for (const ProcessInfo& p : all_processes()) {
      if (p.parent != getpid() || p.session == session) continue;
      found = true;
      kill_descendants(p.pid);
      kill(p.pid, SIGKILL);
      waitpid(p.pid, nullptr, WNOHANG);
    }
    if (!found) return;
    usleep(1000);  // killed processes are about to end
  }
}

}  // namespace corun::inline processes
