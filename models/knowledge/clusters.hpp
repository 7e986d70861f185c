#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/profile.hpp"

/// Clusters of profiles and the papers' uncertainty score. Only a Profile goes in: what a job is
/// called, its model, data set, batch size and epochs have no way here.
///
/// Features, in percent: maximum GPU utilisation, maximum memory allocated, maximum time accessing
/// memory (PriRecT section III-D). A profile lies in the cluster of its nearest centre, by Euclidean
/// distance; of a profile that lacks features over those that it has, times sqrt(3 / how many), so
/// that what is not known counts as far as what is.
namespace corun {

inline constexpr std::size_t kFeatures = 3;
inline constexpr std::array<std::string_view, kFeatures> kFeatureNames{
    "gpu_util_pct", "mem_alloc_pct", "mem_time_pct"};
using FeatureVector = std::array<double, kFeatures>;

/// Which distance says how little a cluster tells about a profile; lower goes first.
enum class Uncertainty : std::uint8_t {
  kAllCentres,  ///< sum of the distances to all centres: what JRS and PriRecT print
  kOwnCentre,   ///< distance to its own centre: what their text describes
};

/// "all-centres" | "own-centre".
std::string_view name_of(Uncertainty rule);

struct Clusters {
  std::vector<FeatureVector> centres;  ///< in the unit of the features, one per cluster
  /// Centres that distances are taken to where they are others than those of the labels (the papers
  /// print labels of one solution of k-means beside distances of another); else empty.
  std::vector<FeatureVector> distance_centres;
  /// A feature counts as (value - centre) / scale: all ones, or standard deviations.
  FeatureVector scale{1, 1, 1};
  Uncertainty rule = Uncertainty::kAllCentres;

  int count() const { return static_cast<int>(centres.size()); }
  friend bool operator==(const Clusters&, const Clusters&) = default;
};

struct ClusterAssignment {
  int cluster = 0;
  double uncertainty = 0;         ///< by the rule of the clusters
  double all_centres = 0;         ///< sum of the distances to all centres
  double own_centre = 0;          ///< distance to the (distance) centre of `cluster`
  std::vector<double> distances;  ///< to the (distance) centre of each cluster
};

/// Nearest centre (the lowest of equals) and both distances. A profile without any feature goes to
/// cluster 0 with infinite uncertainty: see has_features().
ClusterAssignment assign_cluster(const Clusters& clusters, const Profile& profile);

/// Whether there is anything to assign by.
inline bool has_features(const Profile& profile) {
  return profile.gpu_util_pct || profile.mem_alloc_pct || profile.mem_time_pct;
}

/// The better optimum of k-means (k = 3) on the 175 samples of the authors' data set, inertia 105469:
/// it reproduces the printed "distance from cluster centre" of every profiled job within 0.09 (JRS
/// Tables IV to VII; InceptionV3 at batch size 869 excepted, which is printed with another job's) and
/// 48 of the 52 printed labels.
const Clusters& paper_clusters();

/// As printed: labels of the authors' own solution (inertia 105497), distances of the better one.
/// Reproduces all 52 printed labels as well.
const Clusters& printed_clusters();

/// The cluster that a measurement names for its member, else that of its profile.
inline int cluster_of(const Clusters& clusters, const CorunMember& member) {
  return member.cluster >= 0 && member.cluster < clusters.count()
             ? member.cluster
             : assign_cluster(clusters, member.profile).cluster;
}

}  // namespace corun
