#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

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

struct Limits {
  Duration timeout = kNever;                 ///< from its start
  Duration grace = std::chrono::seconds{5};  ///< from SIGTERM to SIGKILL
  std::uint64_t output_bytes = 64ULL << 20;  ///< kept of stdout, and of stderr; the rest is dropped
  std::uint64_t file_bytes = 256ULL << 30;   ///< no file that it writes grows larger (RLIMIT_FSIZE)
  std::uint64_t disk_free_bytes = 1ULL
                                  << 30;  ///< it is stopped where the disk of `directory` has less
  int processes = 1024;                   ///< it is stopped when it has more at a time
};

struct Command {
  std::vector<std::string> argv;  ///< no shell; argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  ///< "NAME=value": this and nothing else
  std::string directory = ".";           ///< working directory
  std::string out_path = "/dev/null";    ///< for its stdout, written anew
  std::string err_path = "/dev/null";    ///< for its stderr
  Limits limits;
};

/// Why the guard stopped a command.
enum class Stopped : std::uint8_t { kNo, kAsked, kTimeout, kProcesses, kDisk };

/// How a command ended. Times are those of monotonic_now().
struct Ending {
  bool ran = false;  ///< false: it could not be started
  int error = 0;     ///< then: errno of execve
  int status = 0;    ///< as of waitpid(2)
  Time start{0};     ///< just before execve
  Time exit{0};      ///< when the command itself was gone; others of its tree may have been later
  Stopped stopped = Stopped::kNo;
  int left_behind = 0;          ///< processes that the command left running and that were killed
  std::uint64_t out_bytes = 0;  ///< that it wrote, kept or not
  std::uint64_t err_bytes = 0;
  double cpu_s = 0;         ///< user and system time of the whole tree
  double guard_cpu_s = 0;   ///< the same of the guard itself
  bool guard_lost = false;  ///< its guard was killed: status and times are not known

  bool exited_well() const { return ran && !guard_lost && stopped == Stopped::kNo && status == 0; }
};

/// "exit code 3", "killed by signal 11 (Segmentation fault)", "stopped at its time-out", ...
std::string describe(const Ending& ending);

/// The clock of all live times: CLOCK_MONOTONIC.
Time monotonic_now();

/// The file that `name` means in this PATH; `name` itself when it has a slash. InputError when there is
/// none that can be executed; `place` says where the name came from.
std::string find_program(const std::string& name, const std::vector<std::string>& environment,
                         const std::string& directory, const std::string& place);

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
