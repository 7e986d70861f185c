#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/ids.hpp"
#include "sim/pair_objective.hpp"
#include "sim/time.hpp"

/// Belief: the scheduler's estimate of co-run costs. It starts from `belief.initial` and learns
/// only from co-runs and probes that have ended (DESIGN 4.6).
namespace corun::inline sim {

/// A job of a finished co-run as the scheduler saw it: only the run that ended in the co-run,
/// without earlier preempted runs.
struct MemberOutcome {
  JobId job;
  Duration solo{0};   ///< J_a of the work that this run did, on this GPU type
  Duration corun{0};  ///< J_c of this run: finish - start
  double isd = 0;     ///< JRS eq. 1, a fraction
};

/// An ended episode of one GPU: all jobs linked by overlap.
struct EpisodeOutcome {
  std::span<const MemberOutcome> members;
  Duration length{0};
  double ps = 0;          ///< JRS eq. 2 over the episode, a fraction
  bool together = false;  ///< all members started at the same instant
  Time end{0};            ///< when the last resident left
  int unfinished = 0;     ///< residents that are no members: preempted, or out of memory

  /// Two jobs, and no other, shared the GPU: their slowdowns are those of the pair.
  bool is_pair() const { return members.size() == 2 && unfinished == 0; }
};

/// Result of a probe: the speeds of two jobs while both were resident, relative to running alone. Or what a job that finished
/// beside a replica of a service teaches: the speeds of the job, `a`, and of the replica, `b`, while both work.
struct ProbeOutcome {
  JobId a;
  JobId b;
  double speed_a = 1;
  double speed_b = 1;
  Time end{0};
};

/// Normalised speeds of two jobs while both are resident (DESIGN section 3); 0 and 0 if they do not
/// fit on one GPU together.
struct PairSpeeds {
  double a = 1;
  double b = 1;
};

/// A draw of the expected cost of a pair: ISDs and PS are drawn independently from normal
/// distributions with the means of `expected` and the standard deviation of the expectation, sd /
/// sqrt(co_runs). Keyed by `draw` and the set {a, b}: (a, b) and (b, a) are the same draw, seen
/// from each side. With a == b both ISDs move alike.
PairBelief sampled_cost(const PairBelief& expected, std::uint64_t draw, std::uint32_t a,
                        std::uint32_t b);

/// A candidate co-runner, by its position in CoRunnerSearch::jobs, and its cost less its price.
struct CoRunner {
  std::uint32_t position = 0;
  double cost = 0;  ///< NaN (not known) counts as infinity
  friend bool operator==(const CoRunner&, const CoRunner&) = default;
};

/// Which co-runners are looked for, and for which jobs.
struct CoRunnerSearch {
  std::span<const JobId> jobs;  ///< candidates, each named once
  std::size_t k = 1;            ///< number of co-runners for each row
  /// Positions in `jobs` of the jobs for which co-runners are looked for; nothing: all, in their
  /// order.
  std::optional<std::span<const std::uint32_t>> rows = {};
  /// By position in `jobs`: amount that is taken off the cost of a pair with that job; empty: 0.
  std::span<const double> prices = {};
};

/// A belief as in the papers: jobs in clusters, costs by pair of clusters.
class ClusterBelief {
 public:
  virtual ~ClusterBelief() = default;
  virtual int clusters() const = 0;
  virtual int cluster(JobId job) const = 0;
  /// The papers' printed score: sum of the profile's Euclidean distances to all centres [percentage
  /// points]. Lower goes first within a cluster.
  virtual double uncertainty(JobId job) const = 0;
  /// Expected cost of a job of cluster `a` with a job of cluster `b`.
  virtual PairBelief cluster_pair(int a, int b) const = 0;
  /// As Belief::sampled_pair(), for a pair of clusters.
  PairBelief sampled_cluster_pair(int a, int b, std::uint64_t draw) const;
};

class Belief {
 public:
  virtual ~Belief() = default;
  /// Expected cost of `a` and `b` started together on one GPU.
  virtual PairBelief pair(JobId a, JobId b) const = 0;
  /// Expected speeds of two jobs beside each other. Default: 1 / (1 + ISD), at most 1, which holds
  /// if the co-runner stays to the end.
  virtual PairSpeeds pair_speeds(JobId a, JobId b) const;
  /// The same on a GPU type (GpuType::id). Default: pair_speeds(), alike on all types.
  virtual PairSpeeds pair_speeds_on(JobId a, JobId b, std::uint32_t gpu_type) const {
    (void)gpu_type;
    return pair_speeds(a, b);
  }
  /// pair() as one draw (Thompson sampling): the same `draw` gives the same costs. Default:
  /// sampled_cost() of the two job indices.
  virtual PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const;
  /// For each row its min(k, jobs - 1) cheapest co-runners among the other jobs, row after row: by
  /// rising cost, ties by position after the row's own, cyclically, so that jobs that are alike do
  /// not all choose the same few. Default: objective_cost() of pair(), called with the job of the
  /// lower position first. A belief that can answer for a whole queue at once overrides it.
  virtual std::vector<CoRunner> top_co_runners(const CoRunnerSearch& search,
                                               const CostRule& rule) const;
  /// Learns from an episode. Every belief learns from a co-run of exactly two; other episodes are
  /// optional.
  virtual void learn(const EpisodeOutcome& outcome) = 0;
  /// Learns from two jobs that ran together for a while without both finishing: a probe, or a job beside a service.
  virtual void learn_probe(const ProbeOutcome&) {}
  /// Whether learn_probe() does anything; if not, no job is probed for this belief.
  virtual bool learns_from_probes() const { return false; }
  /// This belief's view by profile clusters; nullptr if it estimates costs of individual jobs.
  virtual const ClusterBelief* as_clusters() const { return nullptr; }
  /// Whether it uses profiles: if so, jobs are profiled before a policy with this belief sees them.
  virtual bool needs_profile() const { return as_clusters() != nullptr; }
};

}  // namespace corun::inline sim
