#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "sim/belief.hpp"
#include "sim/policy.hpp"

/// Probes of the least known pairs, for a belief that learns from probes.
namespace corun::inline policies {

class LeastCertainPairs final : public ProbePlanner {
 public:
  /// `belief` must outlive this. At most the `window` oldest jobs of each list are considered.
  LeastCertainPairs(const Belief& belief, std::size_t window) : belief_(belief), window_(window) {}

  /// The pair whose expected ISDs are least known: the largest sum of the squared standard deviations of
  /// both expectations, sd^2 / co_runs of Belief::pair(). Both jobs are unprobed if such a pair has not yet
  /// met in a probe, else one of them is. Ties by job index. No pair is chosen twice.
  std::optional<std::pair<JobId, JobId>> choose(std::span<const JobId> unprobed,
                                                std::span<const JobId> waiting) override;

 private:
  const Belief& belief_;
  std::size_t window_;
  std::set<std::pair<JobId, JobId>> probed_;  ///< pairs that met in a probe, the lower job first
};

}  // namespace corun::inline policies
