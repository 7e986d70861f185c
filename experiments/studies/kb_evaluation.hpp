#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/knowledge/kb_pipeline.hpp"
#include "experiments/statistics/bootstrap.hpp"
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

/// The papers' way first; then the better optimum and one change to it at a time; then several at once.
/// The autoencoders' printed figures hold where there are three clusters in the unit of the features
/// and uncertainty goes by all centres; elsewhere the printed centre of cluster 0 stands in for them.
std::vector<ClusterVariant> cluster_variants(const ProfileTable& table);

/// Printed labels of the 52 profiled jobs that these clusters give.
std::size_t printed_labels_kept(const Clusters& clusters);

// ---- how well the cluster means predict ---------------------------------------------------------

/// Each pair left out in turn and predicted from the others. Jobs recur in several pairs: this says
/// nothing of jobs never seen.
struct LeaveOneOut {
  std::size_t pairs = 0;
  double mae_isd = 0;          ///< of the cluster means [fraction]
  double mae_isd_overall = 0;  ///< of the mean over all pairs
  double mae_ps = 0;
  double mae_ps_overall = 0;
  /// mae_isd_overall - mae_isd with its 95 % bootstrap interval over co-runs: above 0 the cluster means
  /// are better.
  Interval gain;
  std::size_t intervals_isd = 0;  ///< ISDs for which there is a 90 % interval
  std::size_t isd_below = 0;      ///< of these, outside on either side
  std::size_t isd_above = 0;
  std::size_t intervals_ps = 0;
  std::size_t ps_below = 0;
  std::size_t ps_above = 0;
  double covered_isd() const { return covered(intervals_isd, isd_below + isd_above); }
  double covered_ps() const { return covered(intervals_ps, ps_below + ps_above); }

 private:
  static double covered(std::size_t all, std::size_t outside) {
    return all == 0 ? 0 : 1 - static_cast<double>(outside) / static_cast<double>(all);
  }
};

LeaveOneOut leave_one_pair_out(std::span<const CorunMeasurement> rows, const Clusters& clusters,
                               Labels labels);

}  // namespace corun
