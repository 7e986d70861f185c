#pragma once

#include <memory>
#include <span>

#include "sim/ids.hpp"
#include "sim/time.hpp"

/// Belief: what policies think a co-run costs. It starts from what was known before the replication
/// and learns only from co-runs that have ended (DESIGN 4.6).
namespace corun {

/// What the scheduler saw of one job of a finished co-run.
struct MemberOutcome {
  JobId job;
  Duration solo{0};   ///< J_a of the work that this run did, on this GPU type
  Duration corun{0};  ///< J_c = finish - start
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

/// Expected cost of putting two jobs together; fractions.
struct PairBelief {
  double isd_a = 0;  ///< ISD of the first beside the second
  double isd_b = 0;  ///< ISD of the second beside the first
  double ps = 0;
  bool observed = true;  ///< false: never observed, a mean stands in
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
};

class Belief {
 public:
  virtual ~Belief() = default;
  virtual PairBelief pair(JobId a, JobId b) const = 0;
  /// Learns from a co-run of exactly two; what else a belief can use is its own affair.
  virtual void learn(const EpisodeOutcome& outcome) = 0;
  /// The cluster face of this belief, or nullptr when it knows jobs one by one.
  virtual const ClusterBelief* as_clusters() const { return nullptr; }
  /// Whether it goes by profiles, so that a policy that holds it must have them taken.
  virtual bool needs_profile() const { return as_clusters() != nullptr; }
};

}  // namespace corun
