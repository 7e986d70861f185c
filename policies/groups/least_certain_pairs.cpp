#include "policies/groups/least_certain_pairs.hpp"

#include <algorithm>

namespace corun::inline policies {

std::optional<std::pair<JobId, JobId>> LeastCertainPairs::choose(std::span<const JobId> unprobed,
                                                                 std::span<const JobId> waiting) {
  const auto oldest = [this](std::span<const JobId> jobs) {
    return jobs.first(std::min(jobs.size(), window_));
  };
  std::optional<std::pair<JobId, JobId>> best;
  double largest = 0;
  const auto look_at = [&](JobId a, JobId b) {
    const std::pair<JobId, JobId> pair = std::minmax(a, b);
    if (probed_.contains(pair)) return;
    const PairBelief p = belief_.pair(pair.first, pair.second);
    const double unknown = (p.sd_a * p.sd_a + p.sd_b * p.sd_b) / p.co_runs;
    if (!best || unknown > largest || (unknown == largest && pair < *best)) {
      best = pair;
      largest = unknown;
    }
  };
  const std::span<const JobId> first = oldest(unprobed);
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (const JobId b : first.subspan(i + 1)) look_at(first[i], b);
  }
  if (!best) {
    for (const JobId a : first) {
      for (const JobId b : oldest(waiting)) look_at(a, b);
    }
  }
  if (best) probed_.insert(*best);
  return best;
}

}  // namespace corun::inline policies
