#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knowledge/profile_samples.hpp"
#include "models/knowledge/clusters.hpp"

/// Clusters of solo profiles by k-means (PriRecT section III-D).
namespace corun::inline knowledge {

struct ClusteringOptions {
  int k = 3;           ///< clusters, 1 or more
  int restarts = 200;  ///< starts of k-means++, 1 or more
  std::uint64_t seed = 1;
  bool standardise = false;  ///< features as deviations, not percentage points
  Uncertainty rule = Uncertainty::kAllCentres;
  std::vector<FeatureVector> start;             ///< Lloyd's algorithm starts here; empty: k-means++
  std::vector<FeatureVector> distance_centres;  ///< empty: the centres found
};

struct ClusteringResult {
  Clusters clusters;
  std::vector<int> labels;  ///< one per sample
  double inertia = 0;       ///< [percentage points^2], or in squared deviations if standardised
  int iterations = 0;
  bool start_was_fixed = false;
  std::vector<std::string> notes;
};

/// Three clusters without a given start are numbered as the papers' nearest clusters (0 medium, 1
/// light, 2 heavy). InputError, naming the samples' source, if k exceeds the number of different
/// profiles or `standardise` meets a constant feature.
ClusteringResult cluster_samples(const SampleSet& samples, const ClusteringOptions& options);

/// Description for the knowledge file: "3 clusters of 175 profiles, 126 of them synthetic (paper)".
std::string clusters_about(const SampleSet& samples, int k, const std::string& synthetic);

/// One line on the clustering: profiles, inertia, number of starts or iterations.
std::string clustering_summary(const SampleSet& samples, const ClusteringOptions& options,
                               const ClusteringResult& result);

/// CSV with the three features [%] as columns, one centre per row. InputError as CsvReader, and
/// unless there are 1 to kMostKnowledgeClusters rows.
std::vector<FeatureVector> read_centres_csv(const std::string& path);

}  // namespace corun::inline knowledge
