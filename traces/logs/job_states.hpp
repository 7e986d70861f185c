#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The state of a job in a log, in the words of Slurm (sacct's State, its short forms and the numbers of the
/// accounting database), AcmeTrace and Helios, Kubernetes (openb's pod_phase), Philly and PAI.
namespace corun::inline traces {

enum class JobState : std::uint8_t {
  kCompleted,    ///< COMPLETED, CD, 3, Succeeded, Pass, Terminated
  kFailed,       ///< FAILED, F, 5, BOOT_FAIL, DEADLINE
  kCancelled,    ///< CANCELLED, "CANCELLED by 1000", CA, 4, Killed, STOPPED
  kTimeout,      ///< TIMEOUT, TO, 6
  kNodeFail,     ///< NODE_FAIL, NF, 7
  kOutOfMemory,  ///< OUT_OF_MEMORY, OOM, 11
  kPreempted,    ///< PREEMPTED, PR, 8, Evicted
  kRunning,      ///< RUNNING, R, 1, SUSPENDED, COMPLETING, REQUEUED
  kPending,      ///< PENDING, PD, 0, Waiting, QUEUED
};
inline constexpr int kJobStates = 9;

/// "completed", "node-fail": as --states takes it.
std::string_view name_of(JobState state);
/// Whether a job in this state has ended: all but running and pending.
bool has_ended(JobState state);
/// The state that a cell of a log says; nothing for other words.
std::optional<JobState> parse_job_state(std::string_view text);

/// Which states count as jobs.
struct ChosenStates {
  std::uint32_t bits = 0;  ///< 1 << state; 0: those that have ended
  bool has(JobState state) const {
    return bits == 0 ? has_ended(state) : (bits >> static_cast<unsigned>(state) & 1U) != 0;
  }
  bool operator==(const ChosenStates&) const = default;
};

/// "completed,failed" of --states. InputError at `place` for another text.
ChosenStates parse_chosen_states(const std::string& text, const std::string& place);

}  // namespace corun::inline traces
