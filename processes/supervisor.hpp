#pragma once

#include <string>

#include <sys/types.h>

#include "processes/command.hpp"
#include "processes/monotonic_clock.hpp"
#include "sim/time.hpp"

/// User commands as child processes that leave nothing behind.
///
/// Each command has a guard, a small process between it and corun:
///
///   corun --(socket)-- guard --- the command --- its children --- ...
///
/// The guard is a subreaper (prctl(2)): all processes that the command starts stay below it, even in a
/// session of their own or after a double fork. It ends when no process is left below it. On request, at the
/// time-out and at a limit it stops the command: SIGTERM to the whole tree, and SIGKILL after a grace. When
/// the socket closes because corun has ended, it kills the whole tree at once. If the guard itself is killed,
/// the command is killed with it (PR_SET_PDEATHSIG), and the command's children become children of corun,
/// which is a subreaper too and kills them. Only if both are killed together can these children outlive them.
/// If the guard is stopped (SIGSTOP), corun kills the whole tree; when corun ends, the kernel makes a stopped
/// guard continue (PR_SET_PDEATHSIG).
namespace corun::inline processes {

/// One command under its guard. start() starts it, so that several can start together.
class SupervisedProcess {
 public:
  /// `keep_open` is a descriptor that the guard holds open until it ends, or -1 (session.hpp). Throws
  /// InputError at `place` if the program, the directory or an output file cannot be used, DeviceError if no
  /// process can be started.
  SupervisedProcess(const Command& command, int keep_open, const std::string& place);
  /// Kills all processes of the command that still run and waits for their end.
  ~SupervisedProcess();
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;

  void start();
  /// Asks the guard to stop the command; returns at once.
  void stop();

  /// Readable when poll() may have news.
  int descriptor() const { return socket_; }
  /// Reads the guard's messages without waiting; true when the command is over.
  bool poll();
  /// Waits until the command is over or until `deadline` (monotonic_now()); true when it is over.
  bool wait_until(Time deadline = kNever);

  /// 0 once it is reaped.
  pid_t guard() const { return guard_; }
  /// Of the command; 0 before it has started.
  pid_t pid() const { return pid_; }
  bool started() const { return pid_ != 0; }
  Time start_time() const { return start_; }
  /// Valid once it is over.
  const Ending& ending() const { return ending_; }

 private:
  void reap_guard();
  /// Does the work of a guard that was stopped: kills all processes below it. Then it lets the guard continue
  /// and report the end.
  void replace_stopped_guard();

  int socket_ = -1;
  pid_t guard_ = 0;
  pid_t pid_ = 0;
  Time start_{0};
  bool over_ = false;
  bool guard_was_stopped_ = false;
  Ending ending_;
};

}  // namespace corun::inline processes
