#pragma once

#include <cstddef>
#include <vector>

/// Statistics over all matchings of a small graph: what the best, the average and a predictor's choice cost.
/// Costs have any one unit; model_evaluation gives summed ISD (fractions).
namespace corun::inline evaluation {

/// A graph with a true cost and several predicted costs per edge.
struct PairGraph {
  struct Edge {
    std::size_t a = 0;
    std::size_t b = 0;
    double cost = 0;
    std::vector<double> predicted;
  };
  std::size_t jobs = 0;  ///< at most 56 (asserted)
  std::vector<Edge> edges;
};

/// Exact statistics over all matchings that leave the fewest jobs alone.
struct MatchingSurvey {
  std::size_t pairs = 0;       ///< in each of these matchings
  double matchings = 0;        ///< number of these matchings
  double least = 0;            ///< true cost of the cheapest
  double mean = 0;             ///< mean true cost over all
  std::vector<double> chosen;  ///< per predictor, true cost of its cheapest matching; predicted
                               ///< costs are rounded to 1e-9; ties: mean over the cheapest
};
/// Dynamic programming over sets of settled jobs: about 1e5 sets for 24 jobs; more jobs are
/// feasible if the graph has few edges.
MatchingSurvey survey_matchings(const PairGraph& graph);

}  // namespace corun::inline evaluation
