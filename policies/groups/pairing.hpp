#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/parameters.hpp"

/// The choice of cluster pairs, which precedes the choice of jobs (DESIGN 4.9). With a belief by clusters a
/// plan fixes the number of groups of each pair of clusters; their jobs are chosen afterwards.
namespace corun::inline policies {

enum class Pairing : std::uint8_t {
  kMatching,    ///< minimum total cost over all perfect matchings of the waiting jobs
  kGreedyRank,  ///< the JRS paper's rule: best-ranked pair of clusters first, as often as possible
  kGiven,       ///< like greedy-rank, in an order that the configuration gives
};

inline constexpr std::array<std::pair<std::string_view, Pairing>, 3> kPairings{
    {{"matching", Pairing::kMatching},
     {"greedy-rank", Pairing::kGreedyRank},
     {"given", Pairing::kGiven}}};

/// `groups` pairs of jobs of these two clusters (a <= b); rank counts from 1, best first.
struct ClusterSlots {
  ClusterPair clusters;
  std::size_t groups = 0;
  int rank = 0;
};

struct ClusterPlan {
  std::vector<ClusterSlots> slots;  ///< ascending by rank; only those with groups
  int alone = -1;                   ///< cluster of the job that stays alone, -1 if none
};

/// How the jobs of each cluster are paired: `counts` has the k numbers of jobs, `cost` is symmetric, k x k,
/// row-major, smaller is better; a job that stays alone costs 0. Only Pairing::kGiven reads `given`; pairs
/// not listed in it follow by cost. Equal costs rank by cluster number. Matching takes O(n^2) for n jobs
/// with k <= 3 (0.03 ms for 256 jobs); with more clusters it is a matching of the n jobs, O(n^3).
ClusterPlan choose_cluster_pairs(Pairing pairing, std::span<const std::size_t> counts,
                                 std::span<const double> cost, std::span<const ClusterPair> given);

}  // namespace corun::inline policies
