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
  void learn(const EpisodeOutcome& outcome) override;
  const ClusterBelief* as_clusters() const override { return this; }

  int clusters() const override { return kb_.clusters(); }
  int cluster(JobId job) const override { return assignments_[index(job)].cluster; }
  double uncertainty(JobId job) const override { return assignments_[index(job)].uncertainty; }
  PairBelief cluster_pair(int a, int b) const override;

  const KnowledgeBase& knowledge_base() const { return kb_; }

 private:
  KnowledgeBase kb_;
  std::vector<ClusterAssignment> assignments_;
};

}  // namespace corun
