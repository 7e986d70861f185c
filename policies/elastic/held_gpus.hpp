#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/allocation_belief.hpp"
#include "sim/policy.hpp"

/// The jobs in the system and the GPUs that each holds: what policies that resize jobs keep from pass to pass.
namespace corun::inline policies {

/// GPUs by node; empty: none.
using GpusByNode = std::vector<std::uint16_t>;

class HeldGpus {
 public:
  // Events of Policy.
  void arrived(JobId job);
  void departed(JobId job, LogKind how);

  /// In the order of their arrival.
  std::span<const JobId> jobs() const { return jobs_; }
  bool any_of(JobId job) const { return !held_.at(job).empty(); }
  /// Whether some job has GPUs.
  bool any() const;
  /// With a number for each node of the cluster; all 0 for a job without GPUs.
  GpusByNode by_node(const ClusterView& view, JobId job) const;

  /// This many of the free GPUs for a job, as `free` has them by node, which lose them: those that it has, else on the node
  /// with the fewest that suffice, else on the first nodes. Empty if there are too few on which it may run.
  GpusByNode take_room(const ClusterView& view, JobId job, int gpus, GpusByNode& free) const;

  /// Tells the belief of each job that works on its GPUs, which it does once a start's cost is behind it.
  void observe(const ClusterView& view, AllocationBelief& belief) const;

  /// Gives each of jobs() what `wanted` says, in the same order. A job whose numbers are those that it has keeps its GPUs;
  /// the others are preempted and, where they get some, started. On each node a job gets GPUs that it had, then the lowest
  /// free ones, or none if too few are free. `wanted` must fit into the cluster, with GPUs of others than jobs() left out.
  void carry_out(const ClusterView& view, std::span<const GpusByNode> wanted,
                 std::vector<Decision>& out);

 private:
  std::vector<JobId> jobs_;
  std::unordered_map<JobId, std::vector<GpuId>> held_;  ///< of the same jobs
};

/// When a policy with a period decides: at the first pass with a job, then at the first pass after each period.
class Period {
 public:
  explicit Period(Duration period) : period_(period) {}

  /// Whether to decide now; from then on the next period counts.
  bool is_due(const ClusterView& view);
  /// Asks for a pass at the next time. Not to be asked if jobs wait and the policy, which has just decided, has given GPUs to
  /// none: time alone would change nothing.
  void ask(const ClusterView& view, std::vector<Decision>& out) const;

 private:
  Duration period_;
  Time next_{0};
};

}  // namespace corun::inline policies
