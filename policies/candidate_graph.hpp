#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/matching.hpp"
#include "sim/belief.hpp"

/// Who may be put together with whom, of jobs known by their positions: the graph that stands for all
/// pairs where there are too many of them.
namespace corun {

/// The cheapest perfect matching over these edges, each connected component of the graph (Boost.Graph)
/// by itself. The edges hold one (else std::logic_error). `components` receives how many there are.
PricedMatching match_components(const std::vector<MatchEdge>& edges, std::size_t n,
                                std::size_t* components = nullptr);

class CandidateGraph {
 public:
  explicit CandidateGraph(std::size_t jobs) : jobs_(jobs) {}

  void add(std::uint32_t a, std::uint32_t b, double cost);
  /// What top_co_runners() found for these rows at these prices, as many for each.
  void add(std::span<const std::uint32_t> rows, std::span<const CoRunner> found,
           std::span<const double> prices);
  /// All pairs within blocks of `block` (even) of these positions, drawn by a hash of the jobs'
  /// numbers: the members then have a perfect matching, but for one where their number is odd.
  void add_blocks(const Belief& belief, std::span<const JobId> jobs, const CostRule& rule,
                  std::span<const std::uint32_t> members, std::size_t block);

  /// Each pair once, at the cost that was given first; by ascending ends.
  const std::vector<MatchEdge>& edges();

  /// Over all jobs. With an odd number a dummy, the last of the answer, takes whoever stays alone at no
  /// cost.
  PricedMatching match(std::size_t* components = nullptr);
  double cost_of(const PricedMatching& matching);

  /// Keeps the edges of the matching and those that for one of their ends are among the `each` of
  /// least slack (cost less both prices).
  void thin(const PricedMatching& matching, std::size_t each);

 private:
  std::size_t jobs_;
  std::vector<MatchEdge> edges_;
  bool sorted_ = true;
};

}  // namespace corun
