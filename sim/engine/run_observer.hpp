#pragma once

#include <span>

#include "sim/belief.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/records/event_log.hpp"

/// Watches a run as the control loop drives it, for records beyond the event log. It changes nothing.
namespace corun::inline sim {

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// An event of the event log, in its order. `gpus`: where a job goes; empty for jobs that leave.
  virtual void event(Time at, LogKind kind, JobId job, std::span<const GpuId> gpus) = 0;
  /// An episode that policies are told of has ended on this GPU; called after the policy was told.
  virtual void episode_ended(GpuId gpu, const EpisodeOutcome& outcome) = 0;
  /// All events at this time have been shown. Jobs that leave their GPUs later are off them already, if the cluster has
  /// reported all of them at once (Report::left).
  virtual void instant_over(Time at, const ClusterBackend& backend) = 0;
};

}  // namespace corun::inline sim
