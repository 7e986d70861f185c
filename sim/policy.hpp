#pragma once

#include <optional>
#include <span>
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

/// Ask to be called again at this time, which must be later than now.
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

class Policy {
 public:
  virtual ~Policy() = default;

  /// Called in every scheduling pass, and again within it as long as the last call has started or preempted
  /// somebody and somebody waits; a call that adds nothing, or WakeAt alone, ends the pass. The view is up
  /// to date at each call. The control loop checks every decision (control_loop.hpp lists the rules).
  virtual void decide(const ClusterView& view, std::vector<Decision>& out) = 0;

  /// A job has left its GPUs; `how` is what the event log says of it. Called before the pass of that
  /// instant, in the order in which they left; where the policy itself preempted it, at once.
  virtual void left(JobId job, LogKind how) {
    (void)job;
    (void)how;
  }

  /// A co-run has ended. Called before the pass of that instant.
  virtual void observe(const EpisodeOutcome&) {}

  /// True: jobs are probed before the policy is offered them, where the configuration asks for it.
  virtual bool needs_probes() const { return false; }

  /// Two jobs to run together for a short while, with at least one of `unprobed` (not empty, in order
  /// of arrival) and else of `waiting`; nothing where no pair would teach anything. What is answered is
  /// done. Jobs of both lists want one GPU each.
  virtual std::optional<std::pair<JobId, JobId>> choose_probe(std::span<const JobId> unprobed,
                                                              std::span<const JobId> waiting) {
    (void)unprobed;
    (void)waiting;
    return std::nullopt;
  }

  /// A probe has ended. Called before the pass of that instant.
  virtual void observe_probe(const ProbeOutcome&) {}

  /// Of the plan behind the last decide(); nothing where it is the best by construction, or where the
  /// policy knows of no bound.
  virtual std::optional<PlanBound> bound() const { return std::nullopt; }

  /// True: asked also when nobody waits, as long as somebody runs: it moves running jobs.
  virtual bool rearranges() const { return false; }

  /// True: jobs are profiled before the policy sees them, where the configuration says how.
  virtual bool needs_profile() const { return false; }

  /// True: places jobs beside running ones whatever `control.start` says (kube-default: per pod).
  virtual bool joins_always() const { return false; }
};

}  // namespace corun
