#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knowledge/cluster_overrides.hpp"
#include "knowledge/model_file.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "models/model_belief.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_files.hpp"
#include "runner/inputs/measurement_tables.hpp"
#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "traces/trace.hpp"

/// Builds the beliefs that policies have at the start of each run from `belief` of a configuration
/// (DESIGN 4.6). A belief is about clusters of profiles, or about jobs with an interference model.
/// belief.model: truth uses the clusters of a knowledge base and has no belief.
namespace corun::inline runner {

class BeliefBuilder {
 public:
  /// Initial state of beliefs about jobs; null for beliefs about clusters.
  using Prior = std::shared_ptr<const ModelBelief::Prior>;

  /// Reads the knowledge base, the measurements or the fitted model and, if all measured pairs are
  /// known beforehand, fits the model. `config` has the models of its files (model_files.hpp). `labels_are_papers`: the cluster labels of the trace's jobs are the papers'. Throws
  /// InputError at the wrong key, and as the readers.
  BeliefBuilder(std::shared_ptr<const Config> config, const Cluster& cluster,
                bool labels_are_papers, InputFiles& files, MeasurementTables& tables,
                ScoringOptions scoring);

  /// The prior of one replication: fitted to the share belief.known of the measured pairs, drawn by
  /// the replication's seed, or shared by all replications if the share is 1. Thread-safe.
  /// InputError if the model cannot be fitted to that share.
  Prior prior(std::size_t replication) const;

  /// A belief about the jobs of a trace. `prior` comes from prior() of the replication;
  /// std::logic_error if it is null and beliefs are about jobs. `views[i]` is JobId i.
  std::unique_ptr<Belief> belief(const Trace& trace, const Prior& prior,
                                 std::span<const JobView> views) const;

  /// The file whose model is the belief's; null if there is none.
  const std::shared_ptr<const ModelFile>& model_file() const { return model_file_; }
  /// Initial knowledge of beliefs about clusters; without observations if beliefs are about jobs.
  const KnowledgeBase& initial_knowledge() const { return *initial_knowledge_; }
  /// The cluster of each job of a trace in initial_knowledge(), by JobId; kUnknownCluster without a profile.
  std::vector<int> clusters(const Trace& trace) const;
  /// Clusters and uncertainties of jobs from belief.overrides.
  const std::vector<ClusterOverride>& overrides() const { return overrides_; }
  /// Whether beliefs are about clusters, not about single jobs.
  bool by_clusters() const { return !prior_; }
  /// Whether the cluster labels of the trace's jobs number clusters of initial_knowledge().
  bool labels_hold() const { return labels_hold_; }
  /// Sentences on knowledge that was measured on other GPUs or with another sharing mode, and on a fit of an effort
  /// below 1.
  const Notes& notes() const { return notes_; }

 private:
  void start_from_clusters(const Cluster& cluster, bool labels_are_papers, InputFiles& files,
                           MeasurementTables& tables);
  void start_from_file(const std::string& path, const Cluster& cluster, bool labels_are_papers);
  SpeedTable measured_speeds(const std::string& path, const Cluster& cluster,
                             MeasurementTables& tables);
  void start_from_model(const Cluster& cluster);
  void refuse_overrides() const;
  void refuse_probing() const;
  /// Fits the model to the pairs of `table` that are known beforehand.
  void fit(SpeedTable table);
  void refuse_share() const;
  void note_effort(const std::string& model, double effort);
  std::unique_ptr<Belief> cluster_belief(const Trace& trace, std::span<const JobView> views) const;
  /// `profile_of(j)`: what is known of the profile of job j.
  template <typename F>
  std::vector<ClusterAssignment> assignments(const Trace& trace, F profile_of) const;

  std::shared_ptr<const Config> config_;
  ScoringOptions scoring_;
  ModelCache* models_;
  std::shared_ptr<const ModelFile> model_file_;
  Prior prior_;  ///< of all pairs; its model is null if only a share is known
  std::optional<KnowledgeBase> initial_knowledge_;
  bool labels_hold_ = true;
  std::vector<ClusterOverride> overrides_;
  Notes notes_;
};

}  // namespace corun::inline runner
