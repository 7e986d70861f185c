#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "sim/event_log.hpp"

/// The interface of a scheduling policy: what happened comes in as a read-only view, decisions go
/// out. A policy never touches the engine, so the same object drives a simulation and a GPU box.
namespace corun {

/// Start these jobs, all at once, on these GPUs. Every job must want exactly gpus.size() GPUs and
/// becomes resident on each of them. Members are taken in this order where order matters (memory).
struct StartGroup {
  std::vector<JobId> jobs;
  std::vector<GpuId> gpus;
};

/// Ask to be called again at this time, which must be later than now. Asking twice for the same time is
/// asking once; ClusterView::next_wake() tells what has been asked for.
struct WakeAt {
  Time at{0};
};

/// Take these running jobs off their GPUs, now. They go to the end of the queue and keep their progress,
/// at the cost that the configuration names.
struct Preempt {
  std::vector<JobId> jobs;
};

using Decision = std::variant<StartGroup, Preempt, WakeAt>;

/// How good a plan is known to be, by what its policy believes.
struct PlanBound {
  double cost = 0;   ///< of all pairs of the plan together, in the objective's unit
  double least = 0;  ///< no plan of pairs of the same jobs costs less
};

/// What a policy is, whatever happens in a run. It stands in the policy's catalogue entry, so that a
/// configuration under which the policy cannot run is refused before the policy is made.
struct PolicyTraits {
  /// It places jobs beside running ones whatever `control.start` says (kube-default: per pod).
  bool always_colocates = false;
  /// It moves running jobs: it is asked also when no job waits, as long as one runs.
  bool moves_running_jobs = false;
  /// It places each job on one node: a gang that no node can hold is refused.
  bool one_node = false;
  bool needs_estimates = false;   ///< of run times: `estimates.duration` must not be none
  bool heeds_gpu_models = false;  ///< it starts jobs only on the GPU models that they name
};

/// Chooses which jobs to run together for a short while, to learn what sharing costs them.
class ProbePlanner {
 public:
  virtual ~ProbePlanner() = default;

  /// Two jobs to probe, with at least one of `unprobed` (not empty, in order of arrival) and else of
  /// `waiting`; nothing where no pair would teach anything. What is answered is done. Jobs of both lists
  /// want one GPU each.
  virtual std::optional<std::pair<JobId, JobId>> choose(std::span<const JobId> unprobed,
                                                        std::span<const JobId> waiting) = 0;
};

/// One decision function, four events, and three optional services. All functions but decide() do
/// nothing, or say that there is no such service, unless a policy overrides them.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Called in every scheduling pass, and again within it as long as the last call has started or preempted
  /// a job and a job waits; a call that adds nothing, or WakeAt alone, ends the pass. The view is up
  /// to date at each call. The control loop checks every decision (control_loop.hpp lists the rules).
  virtual void decide(const ClusterView& view, std::vector<Decision>& out) = 0;

  // Events, each called before the pass of its instant.

  /// The job has joined the end of the waiting queue: new, or back after it ran out of memory or was
  /// preempted (JobView counts both), profiled or probed. In the order of the queue.
  virtual void arrived(const JobView& job, Time now) {
    (void)job;
    (void)now;
  }
  /// A job has left its GPUs; `how` is what the event log says of it. In the order in which they left;
  /// where the policy itself preempted it, at once.
  virtual void departed(JobId job, LogKind how) {
    (void)job;
    (void)how;
  }
  virtual void corun_ended(const EpisodeOutcome&) {}
  virtual void probe_ended(const ProbeOutcome&) {}

  // Services.

  /// What the policy believes co-runs cost; nullptr where it decides without. Jobs are profiled before a
  /// policy sees them where its belief goes by profiles (Belief::needs_profile()).
  virtual const Belief* belief() const { return nullptr; }
  /// Plans probes; nullptr where the policy would learn nothing from them. The policy's own object.
  virtual ProbePlanner* probe_planner() { return nullptr; }
  /// Of the plan behind the last decide(); nothing where it is the best by construction, or where the
  /// policy knows of no bound.
  virtual std::optional<PlanBound> plan_quality() const { return std::nullopt; }
};

/// A policy as a control loop is given it. `label` names it in errors.
struct LabelledPolicy {
  Policy& policy;
  std::string label;
  PolicyTraits traits = {};
};

}  // namespace corun
