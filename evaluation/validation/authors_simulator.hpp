#pragma once

#include <vector>

#include "traces/round_runs/round_run.hpp"
#include "traces/round_runs/round_workload.hpp"

/// The simulator that the authors of Shockwave (Zheng et al., NSDI 2023) published beside their real runs,
/// given each round's allocations: its rules, written anew from their description, so that its error stands
/// beside ours. Times in seconds; work in whole steps.
///
/// A round starts when the one before has ended. A job runs min(floor(120 v), steps left) steps at v =
/// rate alone at its batch size. A job that did not run in the round before loses 20 s of its work, not of the
/// clock, if it would run for more than 115 s. A job is done when its steps are, or when its run time
/// exceeds floor(limit * declared run time). A due change of batch size is made after the next round in which
/// the job runs. It counts begun epochs as done, and so may leave no step to do: such a job holds its GPUs and is given
/// up in its fifth round without a step.
namespace corun::inline evaluation {

/// A job at the start of a round.
struct AuthorsState {
  double steps_left = 0;   ///< at the present batch size
  double steps_per_s = 0;  ///< as declared
  double run_s = 0;        ///< run time in this round; 0 if it does not run
};

struct AuthorsRun {
  std::vector<double> finish_s;     ///< by job; NaN for a job that its rounds do not finish
  std::vector<double> round_end_s;  ///< by round
  std::vector<std::vector<AuthorsState>> states;  ///< by round and job
};

AuthorsRun simulate_as_authors(const RoundWorkload& workload, const std::vector<Round>& rounds,
                               double limit = 1.0);

}  // namespace corun::inline evaluation
