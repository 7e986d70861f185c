#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/kb_pipeline.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/knowledge/knowledge_base.hpp"

/// How well the steps of the knowledge base work on the papers' own data: from the raw profiles of the
/// Futurewei mini-ML Workload Dataset to the recommendations that JRS prints.
namespace corun {

// ---- from raw profiles to Tables IV and VII -----------------------------------------------------

/// Profiles of the 24-job queue as the samples have them, by name ("DCGAN-205"); jobs that are not
/// among the samples (the autoencoders) have none.
std::vector<Profile> queue_profiles(const SampleSet& samples);

/// What holds for the queue in place of its profiles.
enum class QueueOverrides : std::uint8_t {
  kNone,     ///< profiles alone; a job without one counts as cluster 0, infinite uncertainty
  kPrinted,  ///< the four autoencoders and J4-869 as JRS Table IV prints them
};

/// Groups of the queue by name, each sorted, in the order recommended.
using NamedGroups = std::vector<std::vector<std::string>>;

/// What `policy` ("min-slowdown", "balance") with `pairing` makes of the queue with this knowledge.
NamedGroups recommend_queue(const KnowledgeBase& kb, const std::vector<Profile>& profiles,
                            QueueOverrides overrides, std::string_view policy,
                            std::string_view pairing);

/// Groups of a table of JRS ("JRS-IV", "JRS-VII") that are among `groups`.
std::size_t groups_in_common(const NamedGroups& groups, std::string_view table);

// ---- what another analyst would have done -------------------------------------------------------

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

/// The papers' way first; then one change at a time; then all of them. Overrides: printed where the
/// clusters are the papers' three, else the autoencoders count as the printed centre of cluster 0.
std::vector<ClusterVariant> cluster_variants(const ProfileTable& table);

/// Printed labels of the 52 profiled jobs that these clusters give.
std::size_t printed_labels_kept(const Clusters& clusters);

// ---- how well the cluster means predict ---------------------------------------------------------

/// Each pair left out in turn and predicted from the others.
struct LeaveOneOut {
  std::size_t pairs = 0;
  std::size_t unpredicted = 0;  ///< the only one of its clusters: the overall mean stands in
  double mae_isd = 0;           ///< of the cluster means [fraction]
  double mae_isd_overall = 0;   ///< of the mean over all pairs
  double mae_ps = 0;
  double mae_ps_overall = 0;
  double covered_isd = 0;  ///< share of ISDs within their 90 % interval, where there is one
  double covered_ps = 0;
  std::size_t intervals_isd = 0;
  std::size_t intervals_ps = 0;
};

LeaveOneOut leave_one_pair_out(std::span<const CorunMeasurement> rows, const Clusters& clusters,
                               Labels labels);

}  // namespace corun
