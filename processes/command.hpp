#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/time.hpp"

/// A user's command, its limits, and how it ended.
namespace corun::inline processes {

struct Limits {
  Duration timeout = kNever;                 ///< from its start
  Duration grace = std::chrono::seconds{5};  ///< from SIGTERM to SIGKILL
  std::uint64_t output_bytes = 64ULL << 20;  ///< kept of stdout, and of stderr; the rest is dropped
  std::uint64_t file_bytes = 256ULL << 30;   ///< no file that it writes grows larger (RLIMIT_FSIZE)
  std::uint64_t disk_free_bytes = 1ULL << 30;  ///< it is stopped if its disk has less
  int processes = 1024;                        ///< it is stopped if it has more at a time
};

struct Command {
  std::vector<std::string> argv;  ///< no shell; argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  ///< "NAME=value": the whole environment
  std::string directory = ".";           ///< working directory
  std::string out_path = "/dev/null";    ///< file for its stdout, overwritten
  std::string err_path = "/dev/null";    ///< file for its stderr, overwritten
  /// Not -1: a descriptor that becomes its stdin and stdout; its stderr is that of corun. Else stdin is empty.
  int dialogue = -1;
  Limits limits;
};

/// Why a command was stopped; kGuard: a signal stopped its guard.
enum class Stopped : std::uint8_t { kNo, kAsked, kTimeout, kProcesses, kDisk, kGuard };

/// How a command ended. Times are those of monotonic_now().
struct Ending {
  bool ran = false;  ///< false: it could not be started
  int error = 0;     ///< errno, if it could not be started
  int status = 0;    ///< wait status of waitpid(2)
  Time start{0};     ///< just before execve
  Time exit{0};      ///< when the command itself ended; other processes of its tree may end later
  Stopped stopped = Stopped::kNo;
  int left_behind = 0;          ///< processes that the command left running; they were stopped
  std::uint64_t out_bytes = 0;  ///< written to stdout, kept or not
  std::uint64_t err_bytes = 0;
  double cpu_s = 0;         ///< user and system time of the whole tree
  double guard_cpu_s = 0;   ///< the same of the guard
  bool guard_lost = false;  ///< its guard was killed: status and end are unknown

  bool exited_well() const { return ran && !guard_lost && stopped == Stopped::kNo && status == 0; }
};

/// "exit code 3", "killed by signal 11 (Segmentation fault)", "stopped at its time-out", ...
std::string describe(const Ending& ending);

/// The path of the running program.
std::string own_program();

/// PATH, HOME, USER, LANG and LC_ALL of this process: the first variables of every job's environment.
std::vector<std::string> basic_environment();

/// The absolute path of the program `name`: searched for in the PATH of `environment`, or relative to
/// `directory` if `name` has a slash. Throws InputError at `place` if there is no executable file.
std::string find_program(const std::string& name, const std::vector<std::string>& environment,
                         const std::string& directory, const std::string& place);

}  // namespace corun::inline processes
