#pragma once

#include <array>
#include <span>

#include "sim/measurement.hpp"
#include "sim/profile.hpp"

/// Clusters of profiles (k = 3, the papers' choice) and the papers' uncertainty score.
///
/// Features, in percent: maximum GPU utilisation, maximum memory allocated, maximum time accessing
/// memory. Centres: k-means on the 175 raw samples of the authors' data set, the solution that
/// reproduces every printed "distance from cluster centre" within 0.09 (JRS Tables IV to VII).
namespace corun {

inline constexpr int kClusters = 3;
inline constexpr std::array<std::array<double, 3>, kClusters> kClusterCentres{{
    {61.423, 43.245, 24.456},
    {21.394, 8.046, 5.361},
    {88.779, 56.377, 51.394},
}};

struct ClusterAssignment {
  int cluster = 0;
  double uncertainty = 0;  ///< sum of the Euclidean distances to all centres; lower goes first
};

/// Nearest centre and the sum of distances, over the features that the profile has. A profile
/// without any feature goes to cluster 0 with infinite uncertainty.
ClusterAssignment assign_cluster(const Profile& profile);

/// The cluster that a measurement names for its member, else that of its profile.
inline int cluster_of(const CorunMember& member) {
  return member.cluster >= 0 && member.cluster < kClusters ? member.cluster
                                                           : assign_cluster(member.profile).cluster;
}

}  // namespace corun
