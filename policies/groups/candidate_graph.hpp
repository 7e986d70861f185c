#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/groups/matching.hpp"
#include "sim/belief.hpp"

/// The graph of pairs that may be put together, for more jobs than can be matched over all pairs. Jobs are
/// known by their positions.
namespace corun::inline policies {

/// The cheapest perfect matching over these edges, each connected component of the graph (Boost.Graph)
/// matched separately. Throws std::logic_error if there is no perfect matching. `components` receives the
/// number of components.
PricedMatching match_components(const std::vector<MatchEdge>& edges, std::size_t n,
                                std::size_t* components = nullptr);

class CandidateGraph {
 public:
  explicit CandidateGraph(std::size_t jobs) : jobs_(jobs) {}

  void add(std::uint32_t a, std::uint32_t b, double cost);
  /// The result of top_co_runners() for these rows at these prices, equally many co-runners per row.
  void add(std::span<const std::uint32_t> rows, std::span<const CoRunner> found,
           std::span<const double> prices);
  /// All pairs within blocks of `block` (even) of these positions; a hash of the jobs' numbers assigns the
  /// blocks. The members then have a perfect matching, except for one job if their number is odd.
  void add_blocks(const Belief& belief, std::span<const JobId> jobs, const CostRule& rule,
                  std::span<const std::uint32_t> members, std::size_t block);

  /// Each pair once, at the cost that was given first; sorted by ends.
  const std::vector<MatchEdge>& edges();

  /// The cheapest perfect matching of all jobs; std::logic_error if there is none. With an odd number a
  /// dummy, the last entry of the result, is the co-runner of the job that stays alone, at cost 0.
  PricedMatching match(std::size_t* components = nullptr);
  double cost_of(const PricedMatching& matching);

  /// Keeps the edges of the matching and those that are, for one of their ends, among its `each` edges of
  /// least slack (cost less both prices).
  void thin(const PricedMatching& matching, std::size_t each);

 private:
  std::size_t jobs_;
  std::vector<MatchEdge> edges_;
  bool sorted_ = true;
};

}  // namespace corun::inline policies
