#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/knowledge/profile_samples.hpp"
#include "models/knowledge/clusters.hpp"

/// Clusters of solo profiles by k-means (PriRecT section III-D).
namespace corun {

struct ClusteringOptions {
  int k = 3;
  int restarts = 200;
  std::uint64_t seed = 1;
  bool standardise = false;
  Uncertainty rule = Uncertainty::kAllCentres;
  std::vector<FeatureVector> start;             ///< Lloyd from here; empty: k-means++
  std::vector<FeatureVector> distance_centres;  ///< empty: the centres found
};

struct ClusteringResult {
  Clusters clusters;
  std::vector<int> labels;  ///< of the samples
  double inertia = 0;       ///< in the unit of the features squared, scaled where standardised
  int iterations = 0;
  bool start_was_fixed = false;
  std::vector<std::string> notes;
};

/// With three clusters and no given start they are numbered as those of the papers that they are
/// nearest to (0 middling, 1 light, 2 heavy). InputError, naming the samples' source, for k above the
/// number of different profiles and for features that never vary under `standardise`.
ClusteringResult cluster_samples(const SampleSet& samples, const ClusteringOptions& options);

/// What the clusters are of, for the file that keeps them: "3 clusters of 175 profiles, 126 of them
/// synthetic (paper)".
std::string clusters_about(const SampleSet& samples, int k, const std::string& synthetic);

/// A line on how they were found: profiles, inertia, starts or moves.
std::string clustering_summary(const SampleSet& samples, const ClusteringOptions& options,
                               const ClusteringResult& result);

/// CSV with the three features as columns, one centre per row.
std::vector<FeatureVector> read_centres_csv(const std::string& path);

}  // namespace corun
