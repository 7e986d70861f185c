#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/ids.hpp"
#include "sim/pair_objective.hpp"
#include "sim/time.hpp"

/// Belief: what policies think a co-run costs. It starts from what was known before the replication
/// and learns only from co-runs that have ended (DESIGN 4.6).
namespace corun {

/// What the scheduler saw of one job of a finished co-run: of the run that ended in it, without what runs
/// did that were preempted before.
struct MemberOutcome {
  JobId job;
  Duration solo{0};   ///< J_a of the work that this run did, on this GPU type
  Duration corun{0};  ///< J_c of this run: finish - start
  double isd = 0;     ///< JRS eq. 1, a fraction
};

/// One episode of one GPU that has ended: everybody who was linked by overlap.
struct EpisodeOutcome {
  std::span<const MemberOutcome> members;
  Duration length{0};
  double ps = 0;          ///< JRS eq. 2 over the episode, a fraction
  bool together = false;  ///< all members started at the same instant
  Time end{0};            ///< when the last member left
};

/// What a probe has measured: the speeds of two jobs while both were resident, relative to alone.
struct ProbeOutcome {
  JobId a;
  JobId b;
  double speed_a = 1;
  double speed_b = 1;
  Time end{0};
};

/// Normalised speeds of two jobs while both are resident (DESIGN section 3); 0 and 0 where they do not
/// fit on one GPU together.
struct PairSpeeds {
  double a = 1;
  double b = 1;
};

/// A draw of what the expected cost of a pair may be: ISDs and PS normal around what `expected` says,
/// independent of one another, with the standard deviation of the expectation. Keyed by `draw` and the
/// two numbers in either order: (a, b) and (b, a) are the same draw seen from both sides. A number
/// beside itself is one quantity, so both its ISDs are moved alike.
PairBelief sampled_cost(const PairBelief& expected, std::uint64_t draw, std::uint32_t a,
                        std::uint32_t b);

/// A job to be put together with, by its position among those asked about, and what that costs less
/// that job's price.
struct CoRunner {
  std::uint32_t position = 0;
  double cost = 0;  ///< NaN, which nobody knows, counts as infinity
  friend bool operator==(const CoRunner&, const CoRunner&) = default;
};

/// Who is looked for, for whom, and what a co-runner is worth.
struct CoRunnerSearch {
  std::span<const JobId> jobs;  ///< among these, each named once
  std::size_t k = 1;            ///< so many co-runners for each
  /// Positions in `jobs` of those for whom co-runners are looked for; nothing: for all, in their order.
  std::optional<std::span<const std::uint32_t>> rows = {};
  /// By position in `jobs`: what is taken off the cost of whoever takes that job; empty: 0.
  std::span<const double> prices = {};
};

/// The papers' kind of belief: jobs in clusters, costs by pair of clusters.
class ClusterBelief {
 public:
  virtual ~ClusterBelief() = default;
  virtual int clusters() const = 0;
  virtual int cluster(JobId job) const = 0;
  /// The papers' printed score: sum of the profile's Euclidean distances to all centres. Lower goes
  /// first within a cluster.
  virtual double uncertainty(JobId job) const = 0;
  /// Expected cost of a job of cluster `a` with a job of cluster `b`.
  virtual PairBelief cluster_pair(int a, int b) const = 0;
  /// As Belief::sampled_pair, for a pair of clusters.
  PairBelief sampled_cluster_pair(int a, int b, std::uint64_t draw) const;
};

class Belief {
 public:
  virtual ~Belief() = default;
  virtual PairBelief pair(JobId a, JobId b) const = 0;
  /// Expected speeds of two jobs beside each other. Unless a belief knows them: 1 / (1 + ISD), which
  /// holds where the co-runner stays to the end.
  virtual PairSpeeds pair_speeds(JobId a, JobId b) const;
  /// pair() as one draw from what the belief holds possible has it (Thompson sampling): the same
  /// `draw` gives the same costs. Unless a belief knows better: sampled_cost() of the two jobs.
  virtual PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const;
  /// For each row its cheapest co-runners among the other jobs, min(k, jobs - 1) of them, one row's after
  /// the other's: by rising cost, ties by position after the row's own, around the end (so that jobs that
  /// are alike do not all choose the same few). A belief that can answer for a whole queue at once
  /// overrides it. Here: pair(), and objective_cost() of what it says of the job of the lower
  /// position beside the other one.
  virtual std::vector<CoRunner> top_co_runners(const CoRunnerSearch& search,
                                               const CostRule& rule) const;
  /// Learns from a co-run of exactly two; what else a belief can use is its own affair.
  virtual void learn(const EpisodeOutcome& outcome) = 0;
  /// Learns from a probe: two jobs that ran together for a while without both finishing.
  virtual void learn_probe(const ProbeOutcome&) {}
  /// Whether learn_probe() does anything: else nobody is probed for it.
  virtual bool learns_from_probes() const { return false; }
  /// The view by profile clusters of this belief, or nullptr when it knows jobs one by one.
  virtual const ClusterBelief* as_clusters() const { return nullptr; }
  /// Whether it goes by profiles, so that a policy that holds it must have them taken.
  virtual bool needs_profile() const { return as_clusters() != nullptr; }
};

}  // namespace corun
