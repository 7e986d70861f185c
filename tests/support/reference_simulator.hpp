#pragma once

#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/cluster_view.hpp"
#include "sim/job.hpp"
#include "sim/policy.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// A naive simulator that the engine has to agree with: time goes forward in fixed steps, at each
/// step every resident does its bit of work, and everything is looked at again. No event queue, no
/// re-planning, no bookkeeping of usage; it shares only the data types and the policies with the
/// engine.
///
/// Knows: sharing, joining, gangs, GPU speeds, OOM with retries, learning from finished co-runs.
/// Knows not: profiling, probes (who is probed with whom is half of the control loop), rounds, ticks,
/// wake-ups (kube-default's back-off).
namespace corun::test {

struct ReferenceResult {
  std::vector<Time> finish;  ///< of the last attempt
  std::vector<int> ooms;
  /// Gaps between consecutive instants at which something happened: where one is only a few steps
  /// long, the order of the two things is not to be trusted.
  Duration smallest_gap = kNever;
};

/// Things that happen within a step happen at its end; `step` that divides everything is exact.
ReferenceResult simulate_in_steps(const ClusterSpec& spec, const Workload& workload,
                                  const World& world, Policy& policy, StartMode start,
                                  Duration step);

}  // namespace corun::test
