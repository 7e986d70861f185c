#include "processes/guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processes/command_process.hpp"
#include "processes/monotonic_clock.hpp"
#include "processes/process_tree.hpp"

namespace corun::inline processes {

namespace {

/// Interval between checks of time and disk.
constexpr Duration kLookEvery = std::chrono::milliseconds{200};
/// Interval between counts of processes; the cost of a count grows with their number.
constexpr Duration kCountEvery = std::chrono::seconds{1};
/// Interval between reads of the machine's number of threads; a large increase causes a count at once.
constexpr Duration kGlanceEvery = std::chrono::milliseconds{50};
/// Longest grace of processes that a command leaves behind.
constexpr Duration kStragglerGrace = std::chrono::seconds{1};

/// One stream of the command on its way to a file.
struct Stream {
  int from = -1;
  int to = -1;
  std::uint64_t bytes = 0;

  /// Copies the available bytes, as far as the first `keep` of the stream; closes at its end.
  void pump(std::uint64_t keep) {
    std::array<char, 65536> buffer;
    while (from >= 0) {
      const ssize_t got = read(from, buffer.data(), buffer.size());
      if (got < 0) return;
      if (got == 0) {
        close(from);
        from = -1;
        return;
      }
      const std::uint64_t room = keep - std::min(keep, bytes);
      const auto kept = std::min<std::uint64_t>(room, static_cast<std::uint64_t>(got));
      // A full disk only loses output here: the limit on free space stops the job.
      if (kept > 0) [[maybe_unused]]
        const ssize_t put = write(to, buffer.data(), kept);
      bytes += static_cast<std::uint64_t>(got);
    }
  }
};

class Guard {
 public:
  explicit Guard(const GuardTask& task) : task_(task) {}

  [[noreturn]] void run() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signals_ = take_signals();
    char word = 0;
    ssize_t got = 0;
    do {
      got = recv(task_.socket, &word, 1, 0);
    } while (got < 0 && errno == EINTR);
    if (got != 1) _exit(0);
    if (word == kGuardStop) {
      ending_.stopped = Stopped::kAsked;
      say_over();
    }
    spawn();
    while (!over()) turn();
    // The pipes may hold the last output; no process is left that could write more.
    out_.pump(task_.limits.output_bytes);
    err_.pump(task_.limits.output_bytes);
    say_over();
  }

 private:
  int take_signals() {
    // The guard does not keep corun's signal handlers: it reads signals from a descriptor, in order.
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, nullptr);
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT})
      sigaddset(&watched, signal);
    return signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  void spawn() {
    const bool talks = task_.dialogue >= 0;
    int out[2] = {-1, task_.dialogue};
    int err[2] = {-1, task_.err_file};
    int report[2];
    if ((!talks && (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)) ||
        pipe2(report, O_CLOEXEC) != 0) {
      ending_.error = errno;
      say_over();
    }
    const pid_t guard = getpid();
    main_ = fork();
    if (main_ < 0) {
      ending_.error = errno;
      say_over();
    }
    if (main_ == 0) become_command(task_, guard, {task_.dialogue, out[1], err[1]}, report[1]);
    close(out[1]);
    close(err[1]);
    close(report[1]);
    out_ = {out[0], task_.out_file};
    err_ = {err[0], task_.err_file};
    for (const int end : {out[0], err[0]}) {
      if (end >= 0) fcntl(end, F_SETFL, O_NONBLOCK);
    }
    CommandReport said;
    while (read(report[0], &said, sizeof said) == static_cast<ssize_t>(sizeof said)) {
    }
    close(report[0]);
    ending_.start = Time{said.at_ns};
    ending_.error = said.error;
    ending_.ran = said.error == 0 && said.at_ns != 0;
    if (!ending_.ran) {
      kill(main_, SIGKILL);
      return;  // it is reaped and reported like any other command
    }
    GuardMessage message;
    message.kind = GuardMessage::Kind::kStarted;
    message.pid = main_;
    message.ending.start = ending_.start;
    send(task_.socket, &message, sizeof message, MSG_NOSIGNAL);
  }

  bool over() const { return main_gone_ && nobody_left_; }

  void turn() {
    std::array<pollfd, 4> watched{{{corun_gone_ ? -1 : task_.socket, POLLIN, 0},
                                   {signals_, POLLIN, 0},
                                   {out_.from, POLLIN, 0},
                                   {err_.from, POLLIN, 0}}};
    poll(watched.data(), watched.size(), wait_ms());
    if (watched[0].revents != 0) listen();
    if (watched[1].revents != 0) read_signals();
    if (watched[2].revents != 0) out_.pump(task_.limits.output_bytes);
    if (watched[3].revents != 0) err_.pump(task_.limits.output_bytes);
    reap();
    const Time now = monotonic_now();
    if (now >= next_look_) {
      next_look_ = now + kLookEvery;
      look_at_time_and_disk(now);
    }
    const std::int64_t threads = threads_.now();
    if (now >= next_count_ || threads >= count_at_threads_) {
      next_count_ = now + kCountEvery;
      count_processes(threads);
    }
    if (stopping_ && now >= kill_at_) kill_descendants(getpid());
  }

  int wait_ms() const {
    if (stopping_ && monotonic_now() >= kill_at_)
      return 5;  // killed processes are about to be reaped
    const Duration left = std::clamp(next_look_ - monotonic_now(), Duration{0}, kGlanceEvery);
    return static_cast<int>(left / std::chrono::milliseconds{1}) + 1;
  }

  void listen() {
    char word = 0;
    const ssize_t got = recv(task_.socket, &word, 1, MSG_DONTWAIT);
    if (got == 1 && word == kGuardStop) {
      stop(Stopped::kAsked, task_.limits.grace);
    } else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
      corun_gone_ = true;
      stop(Stopped::kAsked, Duration::zero());
    }
  }

  void read_signals() {
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo != SIGCHLD) stop(Stopped::kAsked, task_.limits.grace);
    }
  }

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid == 0) return;
      if (pid < 0) {
        nobody_left_ = errno == ECHILD;
        return;
      }
      if (pid != main_) continue;
      main_gone_ = true;
      ending_.exit = monotonic_now();
      ending_.status = status;
      const bool was_stopping = stopping_;
      const auto left = descendants(getpid()).size();
      if (!was_stopping) ending_.left_behind = static_cast<int>(left);
      if (left > 0) stop(ending_.stopped, std::min(task_.limits.grace, kStragglerGrace));
    }
  }

  void count_processes(std::int64_t threads) {
    if (main_gone_ || stopping_) return;
    const auto processes = static_cast<std::int64_t>(glance_below(getpid()).size());
    if (processes > task_.limits.processes) stop(Stopped::kProcesses, Duration::zero());
    // The limit cannot be exceeded before the machine's threads have grown by the processes still allowed.
    count_at_threads_ = threads + task_.limits.processes - processes + 1;
  }

  void look_at_time_and_disk(Time now) {
    if (main_gone_ || stopping_) return;
    if (task_.limits.timeout != kNever && now - ending_.start >= task_.limits.timeout) {
      stop(Stopped::kTimeout, task_.limits.grace);
      return;
    }
    struct statvfs disk {};
    if (task_.limits.disk_free_bytes > 0 && statvfs(task_.directory, &disk) == 0 &&
        static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < task_.limits.disk_free_bytes) {
      stop(Stopped::kDisk, Duration::zero());
    }
  }

  /// The first reason is kept; a shorter grace replaces a longer one.
  void stop(Stopped why, Duration grace) {
    const Time due = grace >= kNever - monotonic_now() ? kNever : monotonic_now() + grace;
    if (!stopping_) {
      stopping_ = true;
      kill_at_ = due;
      if (ending_.stopped == Stopped::kNo) ending_.stopped = why;
      if (grace > Duration::zero()) signal_descendants(getpid(), SIGTERM);
    }
    kill_at_ = std::min(kill_at_, due);
  }

  [[noreturn]] void say_over() {
    const auto cpu_s = [](int who) {
      rusage used{};
      getrusage(who, &used);
      return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
             static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    };
    GuardMessage message;
    message.kind = GuardMessage::Kind::kOver;
    message.pid = main_;
    message.ending = ending_;
    message.ending.cpu_s = cpu_s(RUSAGE_CHILDREN);
    message.ending.guard_cpu_s = cpu_s(RUSAGE_SELF);
    message.ending.out_bytes = out_.bytes;
    message.ending.err_bytes = err_.bytes;
    send(task_.socket, &message, sizeof message, MSG_NOSIGNAL);
    _exit(0);
  }

  GuardTask task_;
  int signals_ = -1;
  pid_t main_ = 0;
  Stream out_;
  Stream err_;
  Ending ending_;
  bool main_gone_ = false;
  bool nobody_left_ = false;
  bool corun_gone_ = false;
  bool stopping_ = false;
  Time kill_at_ = kNever;
  Time next_look_{0};
  Time next_count_{0};
  ThreadCount threads_;
  std::int64_t count_at_threads_ = 0;
};

}  // namespace

[[noreturn]] void become_guard(GuardTask task) {
  prctl(PR_SET_NAME, "corun-guard");
  prctl(PR_SET_PDEATHSIG, SIGCONT);  // a stopped guard continues when corun ends
  setpgid(0, 0);  // Ctrl-C must not reach it; it stays in corun's session (strays.hpp)
  // Moves the descriptors to low numbers and closes all others: another guard's socket must not stay open.
  std::array<int*, 5> kept{&task.socket, &task.dialogue, &task.out_file, &task.err_file,
                           &task.keep_open};
  for (int* fd : kept) {
    if (*fd >= 0) *fd = fcntl(*fd, F_DUPFD_CLOEXEC, 100);
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  int next = 3;
  for (int* fd : kept) {
    if (*fd < 0) continue;
    dup3(*fd, next, O_CLOEXEC);
    *fd = next++;
  }
  close_range(static_cast<unsigned>(next), ~0U, 0);
  Guard(task).run();
}

}  // namespace corun::inline processes
