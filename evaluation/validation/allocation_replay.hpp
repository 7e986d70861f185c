#pragma once

#include <vector>

#include "evaluation/validation/executing_job.hpp"

/// Finish times given who ran in each round: no decision is simulated.
namespace corun::inline evaluation {

struct AllocationReplay {
  /// The allocation says which round of a job was its last: the job ends when its work or its limit says so, but
  /// within that round.
  std::vector<double> finish_s;
  /// By work and limit alone: before the last round if the model is too fast; behind it, on the same GPUs without a
  /// break, if it is too slow.
  std::vector<double> own_finish_s;
  /// Rounds that the model needs, over those that the job got; above 1 if the model is too slow.
  std::vector<double> rounds_ratio;
};

/// Start of each round and end of the last. A round starts when the one before has ended, round 0 `first_delay_s`
/// after the last arrival in it, and none before its jobs have arrived.
std::vector<double> round_starts(const RoundWorkload& workload, const RoundRun& run, double round_s,
                                 RunDraw draw);

AllocationReplay replay_allocations(const RoundWorkload& workload, const RoundRun& run,
                                    const RunParameters& p, const RunDraw& draw, double limit);

}  // namespace corun::inline evaluation
