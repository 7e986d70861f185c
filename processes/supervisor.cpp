#include "processes/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processes/guard.hpp"
#include "processes/process_tree.hpp"
#include "processes/strays.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline processes {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// An earlier job may have put a link or a pipe in the place of the file: the one would lead to a file of
/// others, at the other corun would wait for ever.
int open_output(const std::string& path, const std::string& place) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int file = open(path.c_str(), kFlags, 0666);
  const int reason = errno;
  struct stat found {};
  const bool known = file >= 0 && fstat(file, &found) == 0;
  if (known && (S_ISREG(found.st_mode) || S_ISCHR(found.st_mode))) return file;
  if (file >= 0) close(file);
  const bool other = file >= 0 || reason == ELOOP || reason == ENXIO;
  throw InputError(
      place, "cannot write '" + printable(path) +
                 "': " + (other ? "it is a link or a pipe; remove it" : std::strerror(reason)));
}

}  // namespace

SupervisedProcess::SupervisedProcess(const Command& command, int keep_open,
                                     const std::string& place) {
  if (command.argv.empty()) throw InputError(place, "a command without words, expected a program");
  std::error_code error;
  if (!std::filesystem::is_directory(command.directory, error)) {
    throw InputError(place, "'" + printable(command.directory) + "' is not a directory");
  }
  const std::string program =
      find_program(command.argv[0], command.environment, command.directory, place);
  const std::string directory = std::filesystem::absolute(command.directory).string();
  const std::vector<char*> argv = pointers(command.argv);
  const std::vector<char*> environment = pointers(command.environment);
  const bool talks = command.dialogue >= 0;
  const int out = talks ? -1 : open_output(command.out_path, place);
  int err = talks ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
  try {
    if (!talks) err = open_output(command.err_path, place);
  } catch (...) {
    close(out);
    throw;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
    // No signal handler of corun may run in the guard: signals are blocked until it sets its own mask.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    guard_ = fork();
    if (guard_ == 0) {
      become_guard({ends[1], keep_open, command.dialogue, out, err, program.c_str(), argv.data(),
                    environment.data(), directory.c_str(), command.limits});
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  const int why = errno;
  for (const int file : {out, err}) {
    if (file >= 0) close(file);
  }
  if (ends[1] >= 0) close(ends[1]);
  if (ends[0] < 0 || guard_ < 0) {
    if (ends[0] >= 0) close(ends[0]);
    throw DeviceError(std::string("no process can be started: ") + std::strerror(why));
  }
  socket_ = ends[0];
}

SupervisedProcess::~SupervisedProcess() {
  close(socket_);  // a guard that still runs kills its tree at once
  reap_guard();
  if (!over_) clear_strays();  // in case the guard was killed
}

void SupervisedProcess::reap_guard() {
  while (guard_ > 0) {
    int status = 0;
    const pid_t seen = waitpid(guard_, &status, WUNTRACED);
    if (seen < 0 && errno == EINTR) continue;
    if (seen > 0 && WIFSTOPPED(status)) {
      replace_stopped_guard();
    } else {
      guard_ = 0;
    }
  }
}

void SupervisedProcess::replace_stopped_guard() {
  guard_was_stopped_ = true;
  kill_descendants(guard_);
  kill(guard_, SIGCONT);
}

void SupervisedProcess::start() { send(socket_, &kGuardStart, 1, MSG_NOSIGNAL); }

void SupervisedProcess::stop() { send(socket_, &kGuardStop, 1, MSG_NOSIGNAL | MSG_DONTWAIT); }

bool SupervisedProcess::poll() {
  siginfo_t seen{};
  if (guard_ > 0 && waitid(P_PID, static_cast<id_t>(guard_), &seen, WSTOPPED | WNOHANG) == 0 &&
      seen.si_pid == guard_) {
    replace_stopped_guard();
  }
  while (!over_) {
    GuardMessage message;
    const ssize_t got = recv(socket_, &message, sizeof message, MSG_DONTWAIT);
    if (got == static_cast<ssize_t>(sizeof message)) {
      if (message.kind == GuardMessage::Kind::kStarted) {
        pid_ = message.pid;
        start_ = message.ending.start;
      } else {
        ending_ = message.ending;
        if (guard_was_stopped_ && ending_.stopped == Stopped::kNo)
          ending_.stopped = Stopped::kGuard;
        if (ending_.ran) pid_ = message.pid;
        over_ = true;
      }
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    // The guard is being killed. Once it is reaped, its children are corun's.
    reap_guard();
    clear_strays();
    ending_.ran = started();
    ending_.start = start_;
    ending_.exit = monotonic_now();
    ending_.guard_lost = true;
    over_ = true;
  }
  return true;
}

bool SupervisedProcess::wait_until(Time deadline) {
  while (!poll()) {
    const Time now = monotonic_now();
    if (now >= deadline) return false;
    pollfd watched{socket_, POLLIN, 0};
    const auto ms = std::min<std::int64_t>((deadline - now).count() / 1'000'000 + 1, 1000);
    ::poll(&watched, 1, static_cast<int>(ms));
  }
  return true;
}

}  // namespace corun::inline processes
