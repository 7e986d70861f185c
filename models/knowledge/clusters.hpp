#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/profile.hpp"

/// Clusters of profiles and the uncertainty score of the JRS papers. The only input is a Profile: names,
/// models, data sets, batch sizes and epochs of jobs are not used.
///
/// Features, in percent: maximum GPU utilisation, maximum memory allocated, maximum time accessing memory
/// (PriRecT section III-D). A profile belongs to the cluster of the nearest centre by Euclidean distance. If
/// features are missing, the distance is over the n known ones, times sqrt(3 / n).
namespace corun::inline models {

inline constexpr std::size_t kFeatures = 3;
inline constexpr std::array<std::string_view, kFeatures> kFeatureNames{
    "gpu_util_pct", "mem_alloc_pct", "mem_time_pct"};
using FeatureVector = std::array<double, kFeatures>;

/// The uncertainty score of a profile; lower goes first.
enum class Uncertainty : std::uint8_t {
  kAllCentres,  ///< sum of the distances to all centres, as printed in JRS and PriRecT
  kOwnCentre,   ///< distance to the centre of its cluster, as described in their text
};

/// "all-centres" | "own-centre".
std::string_view name_of(Uncertainty rule);

struct Clusters {
  std::vector<FeatureVector> centres;  ///< one per cluster, in percent
  /// The centres for distances if they differ from those for labels (the papers print labels of one k-means
  /// solution with distances of another); else empty.
  std::vector<FeatureVector> distance_centres;
  /// A feature counts as (value - centre) / scale: all ones, or standard deviations.
  FeatureVector scale{1, 1, 1};
  Uncertainty rule = Uncertainty::kAllCentres;

  int count() const { return static_cast<int>(centres.size()); }
  friend bool operator==(const Clusters&, const Clusters&) = default;
};

/// Distances are in percentage points, over the scale of the clusters.
struct ClusterAssignment {
  int cluster = 0;
  double uncertainty = 0;         ///< by the rule of the clusters
  double all_centres = 0;         ///< sum of the distances to all centres
  double own_centre = 0;          ///< distance to the (distance) centre of `cluster`
  std::vector<double> distances;  ///< to the (distance) centre of each cluster
};

/// The nearest centre (the lowest number of equals) and the distances. A profile without features goes to
/// cluster 0 with infinite uncertainty.
ClusterAssignment assign_cluster(const Clusters& clusters, const Profile& profile);

/// Whether the profile has at least one feature.
inline bool has_features(const Profile& profile) {
  return profile.gpu_util_pct || profile.mem_alloc_pct || profile.mem_time_pct;
}

/// The better optimum of k-means (k = 3) on the 175 samples of the authors' data set, with inertia 105469. It
/// reproduces the printed "distance from cluster centre" of every profiled job within 0.09 (JRS Tables IV to
/// VII; except InceptionV3 at batch size 869, which is printed with another job's distance) and 48 of the 52
/// printed labels.
const Clusters& paper_clusters();

/// The clusters as printed: labels by the authors' solution (inertia 105497), distances by the better one.
/// Reproduces all 52 printed labels.
const Clusters& printed_clusters();

/// The cluster that a measurement names for its member, else that of its profile.
inline int cluster_of(const Clusters& clusters, const CorunMember& member) {
  return member.cluster >= 0 && member.cluster < clusters.count()
             ? member.cluster
             : assign_cluster(clusters, member.profile).cluster;
}

}  // namespace corun::inline models
