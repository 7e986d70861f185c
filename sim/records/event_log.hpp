#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ids.hpp"
#include "sim/reason.hpp"
#include "sim/time.hpp"

/// The event timeline of a run as CSV: written, read back, compared.
///
///   time_ns,event,job,gpus
///   0,arrive,J7-205,
///   0,start,J7-205,0
///   281400000000,finish,J7-205,
///
/// If the policy states reasons (reason.hpp), each line has four more fields: `why`, the word of Why; `beside`, a
/// job; `speed` and `delay_s`, the shortest decimals that read back to the same numbers. Each is empty where
/// there is nothing to state.
///
///   time_ns,event,job,gpus,why,beside,speed,delay_s
///   0,start,J7-205,0,alone,,1,0
namespace corun::inline sim {

enum class LogKind : std::uint8_t {
  kArrive,    ///< submitted
  kProfile,   ///< profiling segment starts
  kProfiled,  ///< profiling segment ends
  kStart,     ///< starts (or joins) on its GPUs
  kFinish,    ///< work done
  kOom,       ///< ran out of memory, returned to the queue
  kFail,      ///< given up: out of memory once too often, or it failed on a live cluster
  kProbe,     ///< starts a probe
  kProbed,    ///< its probe ends, returned to the queue
  kPreempt,   ///< taken off its GPUs, returned to the queue
  kPhase,     ///< its next phase begins, on the same GPUs
  kResize,    ///< leaves its GPUs for those of its start at the same time
};

inline constexpr std::size_t kLogKinds = 12;
/// "arrive", "profile", ... as in the CSV.
std::string_view name_of(LogKind kind);

struct LogEntry {
  Time at{0};
  LogKind kind = LogKind::kArrive;
  JobId job{};
  std::vector<GpuId> gpus;
  std::optional<Reason> reason = std::nullopt;  ///< of a start or preemption

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
  /// Equal but for the reason.
  bool is_same_event(const LogEntry& other) const {
    return at == other.at && kind == other.kind && job == other.job && gpus == other.gpus;
  }
};

using EventLog = std::vector<LogEntry>;
using JobNamer = std::function<std::string(JobId)>;
using JobFinder = std::function<std::optional<JobId>(const std::string&)>;

/// Writes job names from `name`, quoted where CSV needs it; they must not have line breaks. Without
/// `name` a job is written as its number.
void write_event_log(std::ostream& out, const EventLog& log, const JobNamer& name = {});

/// The first line of an event log; where the policy gives reasons, their columns follow.
inline constexpr std::string_view kEventLogHeader = "time_ns,event,job,gpus";

/// Reads what write_event_log() writes. Without `find`, jobs are numbers. Throws InputError
/// "place:line: found, expected" for anything else, and for an empty file.
EventLog read_event_log(std::istream& in, const std::string& place, const JobFinder& find = {});

/// The same, entry by entry, for logs that should not be in memory: calls `take` with each entry and the number of
/// its line.
void read_event_log(std::istream& in, const std::string& place, const JobFinder& find,
                    const std::function<void(LogEntry&&, std::size_t line)>& take);

}  // namespace corun::inline sim
