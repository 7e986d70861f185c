#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "sim/reason.hpp"
#include "sim/records/event_log.hpp"

/// The interface of a scheduling policy: it gets a read-only view and returns decisions. A policy
/// has no access to the engine, so the same object can drive a simulated and a live cluster.
namespace corun::inline sim {

/// Start these jobs, all at once, on these GPUs. Every job must want exactly gpus.size() GPUs, or permit so many
/// (may_have()), and becomes resident on each of them. Their memory is admitted in this order.
struct StartGroup {
  std::vector<JobId> jobs;
  std::vector<GpuId> gpus;
  std::optional<Reason> reason = std::nullopt;  ///< of each job; for the event log
};

/// Ask to be called again at this time, which must be later than now. Asking again for the same
/// time changes nothing; ClusterView::next_wake() is the earliest pending one.
struct WakeAt {
  Time at{0};
};

/// Take these running jobs off their GPUs, now. They go to the end of the queue and keep their
/// progress, at the cost that the configuration names.
struct Preempt {
  std::vector<JobId> jobs;
  std::optional<Reason> reason = std::nullopt;  ///< of each job; for the event log
};

/// Let this running job go on on these GPUs, now: as if it were preempted and started there, with the same cost, but
/// without a place in the queue. The GPUs may have those that it has.
struct Resize {
  JobId job = kNoJob;
  std::vector<GpuId> gpus;
  std::optional<Reason> reason = std::nullopt;
};

using Decision = std::variant<StartGroup, Preempt, Resize, WakeAt>;

/// A bound on the cost of a plan, by the costs that its policy believes.
struct PlanBound {
  double cost = 0;   ///< of all pairs of the plan together, in the objective's unit
  double least = 0;  ///< no plan of pairs of the same jobs costs less
};

/// Properties of a policy that do not depend on a run. They are in the policy's catalogue entry, so
/// that a configuration under which the policy cannot run is refused before the policy is made.
struct PolicyTraits {
  /// It places jobs beside running ones with any `control.start` (kube-default: per pod).
  bool always_colocates = false;
  /// It plans no groups, and places jobs beside running ones where `control.start` lets it.
  bool joins_if_told = false;
  /// It moves running jobs: it is called also when no job waits, as long as a job runs.
  bool moves_running_jobs = false;
  /// It places each job on one node, as what it asks of it permits: a gang that no node can hold is refused.
  bool one_node = false;
  /// It keeps the GPUs of a gang on as few nodes as can be, or lets the gang wait.
  bool consolidates = false;
  /// It chooses GPUs by the switches of their nodes.
  bool reads_switches = false;
  bool shares = true;         ///< it may place several jobs on a GPU
  bool preempts = false;      ///< it may take running jobs off their GPUs
  bool plans_groups = false;  ///< it plans groups: `control.start` and `control.plan` hold for it
  bool takes_probes = false;  ///< it has a planner of probes, with a belief that learns from them
  bool sees_all = false;      ///< any part of the view may change its decisions: a user's program
  bool needs_estimates = false;  ///< it needs run times: `estimates.duration` must not be none
  bool reads_estimates = false;  ///< JobView::estimate, where it is granted; it does without, too
  bool reads_speeds_on_types = false;  ///< JobView::on_types, where run times are estimated
  bool reads_expected_starts = false;  ///< JobView::expected_start_cost
  bool reads_memory = false;       ///< Profile::mem_used_mib, or the memory in JobView::on_types
  bool reads_requests = false;     ///< parts of GPUs, CPU and memory of the node that jobs ask for
  bool reads_utilisation = false;  ///< Profile::gpu_util_pct, beside what a belief reads of it
  /// It goes by profiles that were measured: `profiling.mode` must let jobs run alone first.
  bool measures_profiles = false;
  bool needs_labels = false;  ///< it needs a packing label of every job
  /// Jobs that its belief by clusters finds alike it groups in the order of the trace, as fcfs.
  bool groups_alike_in_order = false;
};

/// Chooses pairs of jobs for short trial co-runs.
class ProbePlanner {
 public:
  virtual ~ProbePlanner() = default;

  /// Two jobs to probe: at least one of `unprobed` (not empty, in order of arrival), the other also
  /// from there or from `waiting`. Nothing if no pair would teach anything. The control loop starts
  /// the returned probe. Jobs of both lists want one GPU each.
  virtual std::optional<std::pair<JobId, JobId>> choose(std::span<const JobId> unprobed,
                                                        std::span<const JobId> waiting) = 0;
};

/// One decision function, five events, three optional services. By default all but decide() do
/// nothing or return that there is no such service.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Called in every scheduling pass, and again within it as long as the last call has started or
  /// preempted a job and a job waits. A call that adds nothing, or only WakeAt, ends the pass. The
  /// view is up to date at each call. The control loop checks every decision (control_loop.hpp
  /// lists the rules).
  virtual void decide(const ClusterView& view, std::vector<Decision>& out) = 0;

  // Events, each called before the pass of its instant.

  /// The job has joined the end of the waiting queue: it is new, or comes back after it ran out of
  /// memory, was preempted (JobView counts both), profiled or probed. Called in the order of the
  /// queue.
  virtual void arrived(const JobView& job, Time now) {
    (void)job;
    (void)now;
  }
  /// A job has left its GPUs; `how` is the event of the event log. Called in the order of
  /// departures; for a job that the policy itself preempts, immediately.
  virtual void departed(JobId job, LogKind how, Time now) {
    (void)job;
    (void)how;
    (void)now;
  }
  /// The job, on its GPUs or back in the queue, is in another phase: its profile has changed.
  virtual void changed(const JobView& job, Time now) {
    (void)job;
    (void)now;
  }
  virtual void corun_ended(const EpisodeOutcome&) {}
  /// A probe has ended, or a job has finished beside a replica of a service.
  virtual void probe_ended(const ProbeOutcome&) {}

  // Services.

  /// The policy's belief about co-run costs; nullptr if it decides without one. If the belief uses
  /// profiles (Belief::needs_profile()), jobs are profiled before the policy sees them.
  virtual const Belief* belief() const { return nullptr; }
  /// Plans probes; nullptr if the policy would learn nothing from them. The policy owns the object.
  virtual ProbePlanner* probe_planner() { return nullptr; }
  /// Bound of the plan behind the last decide(); nothing if the plan is optimal by construction, or
  /// if the policy has no bound.
  virtual std::optional<PlanBound> plan_quality() const { return std::nullopt; }
};

/// A policy with its name for errors and its traits.
struct LabelledPolicy {
  Policy& policy;
  std::string label;
  PolicyTraits traits = {};
};

}  // namespace corun::inline sim
