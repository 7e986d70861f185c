#pragma once

#include <cstdint>
#include <optional>

#include "sim/ids.hpp"

/// Why a policy started or preempted a job: for the reader of the event log. Nothing goes by it.
namespace corun::inline sim {

enum class Why : std::uint8_t {
  kAlone,  ///< a start on GPUs of its own
  kShares,  ///< a start beside running jobs: the GPUs do more work, and the delay is less than the wait
  kPart,  ///< a start in the part of a GPU that the job asks for
  kBackfills,  ///< a start on GPUs that are reserved for another job: it is expected to end before that starts
  kOverdue,  ///< a start before all others: the job has waited longer than the policy lets jobs wait
  kTail,     ///< a start before others: else the job would be the last to end
  kShorter,    ///< a start in the place of jobs that have more service left
  kMakesRoom,  ///< a preemption, for the job `beside`; for none if the job moves to idle GPUs
};

struct Reason {
  Why why = Why::kAlone;
  /// The job beside it, of several the one that is expected to slow it most; of a preemption the job that it makes
  /// room for.
  JobId beside = kNoJob;
  /// Of a start: expected speed there, solo time on the reference GPU type / time.
  std::optional<double> speed;
  /// Of a start: what it is expected to add to the completion times of the job and of those beside it, against
  /// an immediate start alone on the reference GPU type [job s]. Of a preemption: the cost [job s].
  std::optional<double> delay_s;

  friend bool operator==(const Reason&, const Reason&) = default;
};

}  // namespace corun::inline sim
