#pragma once

#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/cluster_view.hpp"
#include "sim/job.hpp"
#include "sim/policy.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"
#include "tests/helpers/owned_workload.hpp"

/// A naive simulator as a reference for the engine: time goes forward in fixed steps, and at each step
/// every resident does its share of work and everything is examined again. No event queue, no replanning,
/// no bookkeeping of usage; it shares only the data types and the policies with the engine.
///
/// Supports: sharing, joining, gangs, GPU speeds and memory demands by type and job, OOM with retries, learning from finished co-runs. Does
/// not support: profiling, probes (the choice of pairs is half of the control loop), rounds, ticks,
/// wake-ups (kube-default's back-off).
namespace corun::test {

struct ReferenceResult {
  std::vector<Time> finish;  ///< of the last attempt
  std::vector<int> ooms;
  std::vector<Duration> solo;  ///< J_a of the last attempt: on the slowest of its GPUs
  /// Gaps between consecutive instants with events: if a gap is only a few steps long, the order of the
  /// events is not reliable.
  Duration smallest_gap = kNever;
};

/// Events within a step happen at its end; a `step` that divides all times is exact.
ReferenceResult simulate_in_steps(const ClusterSpec& spec, const OwnedWorkload& workload,
                                  const World& world, Policy& policy, StartMode start,
                                  Duration step);

}  // namespace corun::test
