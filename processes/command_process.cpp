#include "processes/command_process.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "processes/monotonic_clock.hpp"
#include "processes/process_tree.hpp"

namespace corun::inline processes {

[[noreturn]] void become_command(const GuardTask& task, pid_t guard,
                                 const std::array<int, 3>& streams, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(127);  // the guard ended before the line above
  setsid();
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) {
    const int from = streams[static_cast<std::size_t>(stream)];
    dup2(from >= 0 ? from : null, stream);
  }
  const rlimit file_size{task.limits.file_bytes, task.limits.file_bytes};
  setrlimit(RLIMIT_FSIZE, &file_size);
  // The guard counts processes and kills. The kernel's limit counts all processes of the user and does not
  // bind root; it only stops commands that fork faster than the guard can count.
  const rlim_t most = static_cast<rlim_t>(ThreadCount().now() + 32LL * task.limits.processes);
  const rlimit processes{most, most};
  setrlimit(RLIMIT_NPROC, &processes);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  CommandReport said;
  if (chdir(task.directory) != 0) {
    said.error = errno;
  } else {
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    said.at_ns = monotonic_now().count();
    [[maybe_unused]] const ssize_t begun = write(report, &said, sizeof said);
    execve(task.program, task.argv, task.environment);
    said.error = errno;
  }
  [[maybe_unused]] const ssize_t failed = write(report, &said, sizeof said);
  _exit(127);
}

}  // namespace corun::inline processes
