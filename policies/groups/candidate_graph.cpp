#include "policies/groups/candidate_graph.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include "sim/rng.hpp"

namespace corun::inline policies {

PricedMatching match_components(const std::vector<MatchEdge>& edges, std::size_t n,
                                std::size_t* components) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(n);
  for (const MatchEdge& e : edges) boost::add_edge(e.a, e.b, graph);
  std::vector<std::size_t> component(n);
  const auto count =
      n == 0 ? 0 : static_cast<std::size_t>(boost::connected_components(graph, component.data()));
  if (components != nullptr) *components = count;

  std::vector<std::vector<std::uint32_t>> members(count);
  std::vector<std::uint32_t> local(n);  // number within its component
  for (std::uint32_t i = 0; i < n; ++i) {
    local[i] = static_cast<std::uint32_t>(members[component[i]].size());
    members[component[i]].push_back(i);
  }
  std::vector<std::vector<MatchEdge>> parts(count);
  for (const MatchEdge& e : edges) {
    parts[component[e.a]].push_back({local[e.a], local[e.b], e.cost});
  }
  PricedMatching out{std::vector<std::uint32_t>(n), std::vector<double>(n)};
  for (std::size_t c = 0; c < count; ++c) {
    const auto part = min_cost_matching(parts[c], members[c].size());
    if (!part) throw std::logic_error("no perfect matching among the candidates");
    for (std::size_t i = 0; i < members[c].size(); ++i) {
      out.co_runner[members[c][i]] = members[c][part->co_runner[i]];
      out.price[members[c][i]] = part->price[i];
    }
  }
  return out;
}

void CandidateGraph::add(std::uint32_t a, std::uint32_t b, double cost) {
  edges_.push_back({std::min(a, b), std::max(a, b), bounded_cost(cost)});
  sorted_ = false;
}

void CandidateGraph::add(std::span<const std::uint32_t> rows, std::span<const CoRunner> found,
                         std::span<const double> prices) {
  if (rows.empty()) return;
  const std::size_t each = found.size() / rows.size();
  for (std::size_t x = 0; x < found.size(); ++x) {
    add(rows[x / each], found[x].position, found[x].cost + prices[found[x].position]);
  }
}

void CandidateGraph::add_blocks(const Belief& belief, std::span<const JobId> jobs,
                                const CostRule& rule, std::span<const std::uint32_t> members,
                                std::size_t block) {
  // An order that is independent of the jobs' profiles.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> scattered;
  for (const std::uint32_t m : members) {
    const std::array<std::uint32_t, 1> id{static_cast<std::uint32_t>(index(jobs[m]))};
    scattered.emplace_back(hash_entity(id), m);
  }
  std::ranges::sort(scattered);
  std::vector<std::uint32_t> of_block;
  std::vector<JobId> ids;
  for (std::size_t first = 0; first < scattered.size(); first += block) {
    of_block.clear();
    for (std::size_t i = first; i < std::min(first + block, scattered.size()); ++i) {
      of_block.push_back(scattered[i].second);
    }
    std::ranges::sort(of_block);  // costs are asked for in the order of positions
    ids.clear();
    for (const std::uint32_t m : of_block) ids.push_back(jobs[m]);
    const std::size_t each = of_block.size() - 1;
    const std::vector<CoRunner> all = belief.top_co_runners({.jobs = ids, .k = each}, rule);
    for (std::size_t x = 0; x < all.size(); ++x) {
      add(of_block[x / each], of_block[all[x].position], all[x].cost);
    }
  }
}

const std::vector<MatchEdge>& CandidateGraph::edges() {
  if (!sorted_) {
    const auto ends = [](const MatchEdge& e) { return std::pair(e.a, e.b); };
    std::ranges::stable_sort(edges_, {}, ends);
    const auto rest = std::ranges::unique(edges_, {}, ends);
    edges_.erase(rest.begin(), rest.end());
    sorted_ = true;
  }
  return edges_;
}

PricedMatching CandidateGraph::match(std::size_t* components) {
  if (jobs_ % 2 == 0) return match_components(edges(), jobs_, components);
  std::vector<MatchEdge> with_dummy = edges();
  const auto dummy = static_cast<std::uint32_t>(jobs_);
  for (std::uint32_t i = 0; i < dummy; ++i) with_dummy.push_back({i, dummy, 0});
  return match_components(with_dummy, jobs_ + 1, components);
}

double CandidateGraph::cost_of(const PricedMatching& matching) {
  double cost = 0;
  for (const MatchEdge& e : edges()) {
    if (matching.co_runner[e.a] == e.b) cost += e.cost;
  }
  return cost;
}

void CandidateGraph::thin(const PricedMatching& matching, std::size_t each) {
  const std::vector<MatchEdge>& all = edges();
  std::vector<std::vector<std::pair<double, std::uint32_t>>> at(jobs_);  // slack, edge
  std::vector<bool> kept(all.size(), false);
  for (std::uint32_t e = 0; e < all.size(); ++e) {
    const MatchEdge& edge = all[e];
    kept[e] = matching.co_runner[edge.a] == edge.b;
    const double slack = edge.cost - matching.price[edge.a] - matching.price[edge.b];
    at[edge.a].emplace_back(slack, e);
    at[edge.b].emplace_back(slack, e);
  }
  for (auto& edges_at : at) {
    if (edges_at.size() > each) {
      std::nth_element(edges_at.begin(), edges_at.begin() + static_cast<std::ptrdiff_t>(each),
                       edges_at.end());
      edges_at.resize(each);
    }
    for (const auto& [slack, e] : edges_at) kept[e] = true;
  }
  std::vector<MatchEdge> left;
  for (std::size_t e = 0; e < all.size(); ++e) {
    if (kept[e]) left.push_back(all[e]);
  }
  edges_ = std::move(left);
}

}  // namespace corun::inline policies
