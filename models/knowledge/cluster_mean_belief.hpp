#pragma once

#include <vector>

#include "models/knowledge/clusters.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "sim/belief.hpp"

/// The papers' belief: a co-run costs what its pair of clusters has cost on average so far. It learns
/// from every finished co-run of two; learning an ISD takes the solo times J_a of both, which the
/// papers measured beforehand and the simulation hands over with the outcome.
namespace corun {

class ClusterMeanBelief final : public Belief, public ClusterBelief {
 public:
  /// `assignments[i]` is the cluster of JobId i.
  ClusterMeanBelief(KnowledgeBase kb, std::vector<ClusterAssignment> assignments)
      : kb_(std::move(kb)), assignments_(std::move(assignments)) {}

  PairBelief pair(JobId a, JobId b) const override { return cluster_pair(cluster(a), cluster(b)); }
  /// One draw per pair of clusters: all its jobs share it.
  PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const override {
    return sampled_cluster_pair(cluster(a), cluster(b), draw);
  }
  void learn(const EpisodeOutcome& outcome) override;
  /// As a co-run of two equally long jobs, but either with the ISD 1/s - 1 that it would have with co-runners
  /// to its end.
  void learn_probe(const ProbeOutcome& outcome) override;
  bool learns_from_probes() const override { return true; }
  const ClusterBelief* as_clusters() const override { return this; }

  int clusters() const override { return kb_.clusters(); }
  int cluster(JobId job) const override { return assignments_[index(job)].cluster; }
  double uncertainty(JobId job) const override { return assignments_[index(job)].uncertainty; }
  /// Standard deviations are those of the pair's own co-runs; of all co-runs where it has fewer than
  /// two.
  PairBelief cluster_pair(int a, int b) const override;

  const KnowledgeBase& knowledge_base() const { return kb_; }

 private:
  KnowledgeBase kb_;
  std::vector<ClusterAssignment> assignments_;
};

/// The knowledge base of a belief that goes by one; nullptr for any other belief.
const KnowledgeBase* knowledge_base_of(const Belief& belief);

}  // namespace corun
