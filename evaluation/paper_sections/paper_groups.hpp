#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/profile_samples.hpp"
#include "models/knowledge/knowledge_base.hpp"

/// Computes the recommendations that JRS prints in Tables IV and VII from the raw profiles of the Futurewei
/// mini-ML Workload Dataset.
namespace corun::inline evaluation {

/// The samples' profiles of the jobs of the 24-job queue, in its order, found by name ("DCGAN-205"); empty
/// for jobs that are not among the samples (the autoencoders).
std::vector<Profile> queue_profiles(const SampleSet& samples);

/// Clusters and uncertainties of the queue that replace those of its profiles.
enum class QueueOverrides : std::uint8_t {
  kNone,     ///< profiles alone; a job without one counts as cluster 0, infinite uncertainty
  kPrinted,  ///< the four autoencoders and J4-869 as JRS Table IV prints them
};

/// Groups of the queue by name, each sorted, in the order recommended.
using NamedGroups = std::vector<std::vector<std::string>>;

/// The groups that `policy` ("min-slowdown", "balance") with `pairing` recommends for the queue with this
/// knowledge. `profiles`: of queue_profiles(), in the queue's order.
NamedGroups recommend_queue(const KnowledgeBase& kb, const std::vector<Profile>& profiles,
                            QueueOverrides overrides, std::string_view policy,
                            std::string_view pairing);

/// How many groups of a table of JRS ("JRS-IV", "JRS-VII") are among `groups`. Throws InputError for an
/// unknown table.
std::size_t groups_in_common(const NamedGroups& groups, std::string_view table);

}  // namespace corun::inline evaluation
