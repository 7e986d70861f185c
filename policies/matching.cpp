#include "policies/matching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

// This file alone is compiled as C++17: LEMON 1.3 uses parts of <memory> that C++20 removed.
namespace corun {

std::vector<std::int32_t> min_cost_matching(const std::vector<double>& cost, std::size_t n) {
  assert(cost.size() == n * n);
  std::vector<std::int32_t> partner(n, -1);
  if (n < 2) return partner;
  // No cost may overflow the sums of the search; one that nobody knows is the worst.
  constexpr double kLargest = 1e6;
  // Whole numbers: LEMON's dual variables stay exact, and equal costs are equal.
  const auto scaled = [&](std::size_t i, std::size_t j) {
    const double c = cost[i * n + j];
    const double bounded = std::isnan(c) ? kLargest : std::clamp(c, -kLargest, kLargest);
    return static_cast<std::int64_t>(std::llround(bounded * 1e9));
  };
  using Graph = lemon::SmartGraph;
  Graph graph;
  const std::size_t size = n + n % 2;  // a dummy makes n even
  graph.reserveNode(static_cast<int>(size));
  graph.reserveEdge(static_cast<int>(size * (size - 1) / 2));
  for (std::size_t i = 0; i < size; ++i) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      const auto edge = graph.addEdge(graph.nodeFromId(static_cast<int>(i)),
                                      graph.nodeFromId(static_cast<int>(j)));
      weight[edge] = j < n ? -scaled(i, j) : 0;
    }
  }
  lemon::MaxWeightedPerfectMatching<Graph, Graph::EdgeMap<std::int64_t>> matching(graph, weight);
  const bool found = matching.run();
  assert(found);  // a complete graph on an even number of nodes has one
  (void)found;
  for (std::size_t i = 0; i < n; ++i) {
    const int mate = Graph::id(matching.mate(graph.nodeFromId(static_cast<int>(i))));
    if (static_cast<std::size_t>(mate) < n) partner[i] = mate;
  }
  return partner;
}

}  // namespace corun
