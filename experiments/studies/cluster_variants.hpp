#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/knowledge/clusters.hpp"
#include "traces/profile_csv.hpp"

/// What another analyst would have made of the papers' profiles: other samples, other clusters, and what
/// becomes of the recommendations that JRS prints.
namespace corun {

/// One way from profiles to clusters, and what became of it.
struct ClusterVariant {
  std::string name;
  int k = 0;
  double inertia = 0;         ///< in its own unit: compare within one scale only
  double silhouette = 0;      ///< mean over the samples, in its own scale
  std::size_t labels = 0;     ///< of the 52 printed labels, those it gives; 0 where k is not 3
  std::size_t table_iv = 0;   ///< of the 12 groups of Table IV, those min-slowdown still makes
  std::size_t table_vii = 0;  ///< of the 12 groups of Table VII, those balance still makes
  double mae = 0;             ///< of ISD, each JRS pair of II and III left out in turn [fraction]
};

/// The papers' way first; then the better optimum and one change to it at a time; then several at once.
/// The autoencoders' printed figures hold where there are three clusters in the unit of the features
/// and uncertainty goes by all centres; elsewhere the printed centre of cluster 0 stands in for them.
std::vector<ClusterVariant> cluster_variants(const ProfileTable& table);

/// Printed labels of the 52 profiled jobs that these clusters give.
std::size_t printed_labels_kept(const Clusters& clusters);

}  // namespace corun
