#pragma once

#include <vector>

#include "evaluation/validation/executing_job.hpp"
#include "evaluation/validation/share_policy.hpp"

/// A run on the jobs of a workload given the policy alone: rounds in which corun decides who runs.
namespace corun::inline evaluation {

/// Rules of Gavel's scheduler on a real cluster, for GPUs of one type. The next round is decided in the middle of a
/// round. Jobs run by share over the fraction of time received, then by the time that they were owed, then by share;
/// who does not fit is passed over, and jobs without a share wait. Shares are computed anew when a job arrives or
/// ends; the times received begin anew with half a round at the first such moment after `reset_s`. A lease counts as
/// received when it ends, and the present one up to now. A job that ends in the second half of a round was already given
/// the next, and holds its GPUs. Programs see the rates that leases have taught (ExecutingJob::known_rate()).
struct RoundRules {
  int gpus = 1;
  double limit = 1;         ///< factor of the declared run time
  double reset_s = 1000;    ///< published setting of the runs
  double submission_s = 5;  ///< the driver looks for arrivals every 10 s
  double rate_weight =
      0.5;  ///< ExecutingJob::end_lease(); EMA_ALPHA of the runs' published scheduler
};

struct PolicyReplay {
  std::vector<double> finish_s;
  std::size_t rounds = 0;
};

PolicyReplay replay_policy(const RoundWorkload& workload, SharePolicy& policy,
                           const RunParameters& p, RunDraw draw, const RoundRules& rules);

}  // namespace corun::inline evaluation
