#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/inputs/input_files.hpp"
#include "experiments/inputs/measurement_tables.hpp"
#include "experiments/knowledge/cluster_overrides.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "models/model_belief.hpp"
#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "traces/trace.hpp"

/// From `belief` of a configuration to what policies believe at the start of each run (DESIGN 4.6). A
/// belief goes by clusters of profiles, or by jobs with an interference model; belief.model: truth has
/// the clusters of a knowledge base and no belief of its own.
namespace corun {

class BeliefBuilder {
 public:
  /// What a belief by jobs starts from. Null where beliefs go by clusters.
  using Prior = std::shared_ptr<const ModelBelief::Prior>;

  /// Reads the knowledge base or the measurements and fits the model, once where all of them are known
  /// beforehand. `labels_are_papers`: the clusters that the trace's jobs bring along are the papers'.
  /// Throws InputError at the key that does not fit, and as the readers.
  BeliefBuilder(std::shared_ptr<const Config> config, const Cluster& cluster,
                bool labels_are_papers, InputFiles& files, MeasurementTables& tables,
                ScoringOptions scoring);

  /// For the beliefs of one replication: fitted on the share belief.known of the measured pairs that
  /// this replication's seed draws, or shared by all where the share is 1. Any thread. InputError where
  /// the model cannot be fitted on that share.
  Prior prior(std::size_t replication) const;

  /// A belief over the jobs of a trace. `prior` is what prior() gives for the replication
  /// (std::logic_error where it is null and beliefs go by jobs); `views[i]` is JobId i.
  std::unique_ptr<Belief> belief(const Trace& trace, const Prior& prior,
                                 std::span<const JobView> views) const;

  /// What beliefs by clusters start from; without any observation where beliefs go by jobs.
  const KnowledgeBase& initial_knowledge() const { return *initial_knowledge_; }
  /// Jobs that do not take their cluster from their profile, by belief.overrides.
  const std::vector<ClusterOverride>& overrides() const { return overrides_; }
  /// True: the clusters that jobs of the trace bring along are those of initial_knowledge().
  bool labels_hold() const { return labels_hold_; }
  /// Knowledge from elsewhere than this cluster.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void start_from_clusters(const Cluster& cluster, bool labels_are_papers, InputFiles& files,
                           MeasurementTables& tables);
  void start_from_file(const std::string& path, const Cluster& cluster, bool labels_are_papers);
  SpeedTable measured_speeds(const std::string& path, const Cluster& cluster,
                             MeasurementTables& tables);
  /// The model, on what is known beforehand of `table`.
  void fit(SpeedTable table);
  void refuse_share() const;
  std::unique_ptr<Belief> cluster_belief(const Trace& trace) const;

  std::shared_ptr<const Config> config_;
  ScoringOptions scoring_;
  Prior prior_;  ///< of all pairs; its model is null where only a share of them is known
  std::optional<KnowledgeBase> initial_knowledge_;
  bool labels_hold_ = true;
  std::vector<ClusterOverride> overrides_;
  std::vector<std::string> warnings_;
};

}  // namespace corun
