#include "policies/groups/matching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

// This file alone is compiled as C++17: LEMON 1.3 uses parts of <memory> that C++20 removed.
namespace corun {
inline namespace policies {  // LEMON needs C++17, which cannot write this in one

namespace {

using Graph = lemon::SmartGraph;
using Weights = Graph::EdgeMap<std::int64_t>;
using Search = lemon::MaxWeightedPerfectMatching<Graph, Weights>;

constexpr double kUnit = 1e9;

/// As whole numbers LEMON's dual variables stay exact, and equal costs are equal.
std::int64_t scaled(double cost) {
  return static_cast<std::int64_t>(std::llround(bounded_cost(cost) * kUnit));
}

Graph::Node node(const Graph& graph, std::size_t i) {
  return graph.nodeFromId(static_cast<int>(i));
}

}  // namespace

double bounded_cost(double cost) {
  return std::isnan(cost) ? kLargestCost : std::clamp(cost, -kLargestCost, kLargestCost);
}

std::vector<std::int32_t> min_cost_matching(const std::vector<double>& cost, std::size_t n) {
  assert(cost.size() == n * n);
  std::vector<std::int32_t> co_runner(n, -1);
  if (n < 2) return co_runner;
  Graph graph;
  const std::size_t size = n + n % 2;  // a dummy makes n even
  graph.reserveNode(static_cast<int>(size));
  graph.reserveEdge(static_cast<int>(size * (size - 1) / 2));
  for (std::size_t i = 0; i < size; ++i) graph.addNode();
  Weights weight(graph);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      const auto edge = graph.addEdge(node(graph, i), node(graph, j));
      weight[edge] = j < n ? -scaled(cost[i * n + j]) : 0;
    }
  }
  Search matching(graph, weight);
  const bool found = matching.run();
  assert(found);  // a complete graph on an even number of nodes has one
  (void)found;
  for (std::size_t i = 0; i < n; ++i) {
    const int mate = Graph::id(matching.mate(node(graph, i)));
    if (static_cast<std::size_t>(mate) < n) co_runner[i] = mate;
  }
  return co_runner;
}

std::optional<PricedMatching> min_cost_matching(const std::vector<MatchEdge>& edges,
                                                std::size_t n) {
  PricedMatching out;
  if (n == 0) return out;
  Graph graph;
  graph.reserveNode(static_cast<int>(n));
  graph.reserveEdge(static_cast<int>(edges.size()));
  for (std::size_t i = 0; i < n; ++i) graph.addNode();
  Weights weight(graph);
  for (const MatchEdge& e : edges) {
    weight[graph.addEdge(node(graph, e.a), node(graph, e.b))] = -scaled(e.cost);
  }
  Search matching(graph, weight);
  if (!matching.run()) return std::nullopt;
  for (std::size_t i = 0; i < n; ++i) {
    out.co_runner.push_back(static_cast<std::uint32_t>(Graph::id(matching.mate(node(graph, i)))));
    out.price.push_back(-static_cast<double>(matching.nodeValue(node(graph, i))));
  }
  // LEMON's duals: price[a] + price[b] <= cost + the values of all blossoms with both of them. With half of
  // each value taken off each member, no edge needs the blossoms: within one the terms cancel, and other
  // edges only gain slack.
  for (int b = 0; b < matching.blossomNum(); ++b) {
    const double half = static_cast<double>(matching.blossomValue(b)) / 2;
    for (Search::BlossomIt it(matching, b); it != lemon::INVALID; ++it) {
      out.price[static_cast<std::size_t>(Graph::id(it))] -= half;
    }
  }
  for (double& price : out.price) price /= Search::dualScale * kUnit;
  return out;
}

}  // namespace policies
}  // namespace corun
