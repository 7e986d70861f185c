#pragma once

#include <vector>

#include "models/knowledge/clusters.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "sim/belief.hpp"

/// The belief of the JRS papers: the expected cost of a co-run is the mean cost of its pair of clusters so
/// far. It learns from every finished co-run of two. An ISD needs both solo times J_a, which the papers
/// measured beforehand and the simulation gives with the outcome.
namespace corun::inline models {

class ClusterMeanBelief final : public Belief, public ClusterBelief {
 public:
  /// `assignments[i]` is the cluster of JobId i.
  ClusterMeanBelief(KnowledgeBase kb, std::vector<ClusterAssignment> assignments)
      : kb_(std::move(kb)), assignments_(std::move(assignments)) {}

  PairBelief pair(JobId a, JobId b) const override { return cluster_pair(cluster(a), cluster(b)); }
  /// One draw per pair of clusters, which all its jobs share.
  PairBelief sampled_pair(JobId a, JobId b, std::uint64_t draw) const override {
    return sampled_cluster_pair(cluster(a), cluster(b), draw);
  }
  void learn(const EpisodeOutcome& outcome) override;
  /// Learns the PS of two equally long jobs and, for each job, the ISD 1/s - 1, as if it had a co-runner to
  /// its end.
  void learn_probe(const ProbeOutcome& outcome) override;
  bool learns_from_probes() const override { return true; }
  const ClusterBelief* as_clusters() const override { return this; }

  int clusters() const override { return kb_.clusters(); }
  int cluster(JobId job) const override { return assignments_[index(job)].cluster; }
  double uncertainty(JobId job) const override { return assignments_[index(job)].uncertainty; }
  /// Means and standard deviations of the pair's co-runs. Without a co-run the means, and with fewer than two
  /// the standard deviations, are those of all co-runs.
  PairBelief cluster_pair(int a, int b) const override;

  const KnowledgeBase& knowledge_base() const { return kb_; }

 private:
  KnowledgeBase kb_;
  std::vector<ClusterAssignment> assignments_;
};

/// The knowledge base of a ClusterMeanBelief; nullptr for any other belief.
const KnowledgeBase* knowledge_base_of(const Belief& belief);

}  // namespace corun::inline models
