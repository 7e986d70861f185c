#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/knowledge/clusters.hpp"
#include "traces/tables/profile_csv.hpp"

/// Other choices of samples and clusters for the papers' profiles, and their effect on the recommendations
/// that JRS prints.
namespace corun::inline evaluation {

/// One way from profiles to clusters, and its results.
struct ClusterVariant {
  std::string name;
  int k = 0;
  double inertia = 0;         ///< sum of squared distances, in the unit of its features
  double silhouette = 0;      ///< mean over the samples, on its features
  std::size_t labels = 0;     ///< of the 52 printed labels, those it gives; 0 if k is not 3
  std::size_t table_iv = 0;   ///< of the 12 groups of Table IV, those min-slowdown still makes
  std::size_t table_vii = 0;  ///< of the 12 groups of Table VII, those balance still makes
  double mae = 0;             ///< of ISD, each JRS pair of II and III left out in turn [fraction]
};

/// The papers' way first; then the better optimum and one change to it at a time; then several at once.
/// The autoencoders have their printed figures if there are three clusters, features are not standardised and
/// uncertainty is over all centres; otherwise the printed centre of cluster 0 replaces their profiles.
std::vector<ClusterVariant> cluster_variants(const ProfileTable& table);

/// How many of the printed labels of the 52 profiled jobs these clusters give.
std::size_t printed_labels_kept(const Clusters& clusters);

}  // namespace corun::inline evaluation
