#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "policies/parameters.hpp"

/// The choice of cluster pairs, apart from the choice of jobs (DESIGN 4.9). With a belief by clusters
/// a plan fixes how many groups each pair of clusters gets; who they are is decided afterwards.
namespace corun {

enum class Pairing : std::uint8_t {
  kMatching,    ///< minimum total cost over all perfect matchings of the waiting jobs
  kGreedyRank,  ///< the JRS paper's words: best-ranked pair of clusters first, as often as it can
  kGiven,       ///< as greedy-rank, in an order that the configuration gives
};

/// "matching" | "greedy-rank" | "given"; the parameter's choices.
Pairing pairing_from(std::string_view name);
std::vector<std::string_view> pairing_names();

/// `groups` pairs of jobs of these two clusters (a <= b); rank counts from 1, best first.
struct ClusterSlots {
  ClusterPair clusters;
  std::size_t groups = 0;
  int rank = 0;
};

struct ClusterPlan {
  std::vector<ClusterSlots> slots;  ///< ascending by rank; only those with groups
  int alone = -1;                   ///< cluster of the job that stays alone, -1 if none does
};

/// How the jobs of each cluster (`counts`, k of them) are paired up. `cost` is symmetric, k x k,
/// row-major, smaller is better; whoever stays alone costs 0. `given` is read by Pairing::kGiven only;
/// pairs it does not list come after it, by cost. Equal costs rank by cluster number.
/// Matching with k <= 3: O(n^2) in the number of jobs, 0.03 ms for 256; with more clusters it is a
/// matching of the n jobs, O(n^3).
ClusterPlan choose_cluster_pairs(Pairing pairing, std::span<const std::size_t> counts,
                                 std::span<const double> cost, std::span<const ClusterPair> given);

}  // namespace corun
