#pragma once

#include <string>

#include <sys/types.h>

#include "experiments/live/processes/command.hpp"
#include "experiments/live/processes/monotonic_clock.hpp"
#include "sim/time.hpp"

/// User commands as child processes of which nothing is left behind.
///
/// Between corun and each command stands a guard, a small process of its own:
///
///   corun --(socket)-- guard --- the command --- what it starts --- ...
///
/// The guard is a subreaper (prctl(2)): whatever the command starts, in a session of its own or by double
/// fork, stays below it. It ends only when nobody lives below it any more. It stops the command when asked,
/// at its time-out and at its limits, by SIGTERM to all of the tree and after a grace by SIGKILL. When the
/// socket closes, because corun has ended in whatever way, it kills all of the tree at once. When the guard
/// itself is killed, the command dies with it (PR_SET_PDEATHSIG), and what the command started falls to
/// corun, which is a subreaper too (Session). Only when both are killed at one stroke can what a command
/// started by itself outlive them.
namespace corun::live {

/// One command under its guard. Not started before start(), so that several can begin at one instant.
class SupervisedProcess {
 public:
  /// `keep_open` is a descriptor that the guard holds until nothing lives below it, or -1 (session.hpp).
  /// InputError where the command or its files are not to be found; DeviceError where there is no process
  /// to be had.
  SupervisedProcess(const Command& command, int keep_open, const std::string& place);
  /// Kills what still runs and waits until it is gone.
  ~SupervisedProcess();
  SupervisedProcess(const SupervisedProcess&) = delete;
  SupervisedProcess& operator=(const SupervisedProcess&) = delete;

  void start();
  /// Asks the guard to stop it; returns at once.
  void stop();

  /// Readable when poll() may have news.
  int descriptor() const { return socket_; }
  /// Takes what the guard has said, without waiting; true when it is over.
  bool poll();
  /// Waits until it is over or until `deadline`; true when it is over.
  bool wait_until(Time deadline = kNever);

  pid_t guard() const { return guard_; }
  /// Of the command; 0 before it has started.
  pid_t pid() const { return pid_; }
  bool started() const { return pid_ != 0; }
  Time start_time() const { return start_; }
  /// Valid once it is over.
  const Ending& ending() const { return ending_; }

 private:
  int socket_ = -1;
  pid_t guard_ = 0;
  pid_t pid_ = 0;
  Time start_{0};
  bool over_ = false;
  Ending ending_;
};

}  // namespace corun::live
