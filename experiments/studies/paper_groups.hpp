#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/knowledge/profile_samples.hpp"
#include "models/knowledge/knowledge_base.hpp"

/// From the raw profiles of the Futurewei mini-ML Workload Dataset to the recommendations that JRS prints
/// in Tables IV and VII.
namespace corun {

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

}  // namespace corun
