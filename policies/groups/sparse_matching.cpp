#include "policies/groups/sparse_matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "policies/groups/candidate_graph.hpp"

namespace corun::inline policies {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;

std::vector<std::uint32_t> all_of(std::size_t n) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// A lower bound of the cost of every matching, from prices with p[i] + p[j] <= c(i, j) for all pairs.
double sum_of(std::span<const double> prices) {
  double sum = std::accumulate(prices.begin(), prices.end(), 0.0);
  if (prices.size() % 2 == 1) sum -= *std::max_element(prices.begin(), prices.end());
  return sum - kRounding * static_cast<double>(prices.size());
}

/// min(p, s) of the header, for the prices p and a search at prices q that found `each` co-runners per job:
/// `place` is the position of the co-runner that gives t. `all`: the search found all pairs.
std::vector<double> floored(std::span<const double> p, std::span<const double> q,
                            std::span<const CoRunner> found, std::size_t each, std::size_t place,
                            bool all) {
  std::vector<double> out(p.begin(), p.end());
  if (all) return out;
  // The search ranked costs that bounded_cost() had not limited; t must bound the limited costs.
  const double dearest = *std::max_element(q.begin(), q.end());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const CoRunner& last = found[i * each + place];
    const double t = last.cost + q[last.position] <= -kLargestCost
                         ? -kLargestCost - dearest
                         : std::min(last.cost, kLargestCost - dearest);
    out[i] = std::min(p[i], (t + q[i]) / 2);
  }
  return out;
}

}  // namespace

SparseMatching sparse_matching(const Belief& belief, std::span<const JobId> jobs,
                               const CostRule& rule, const SparseMatchingOptions& options) {
  const std::size_t n = jobs.size();
  SparseMatching out;
  out.co_runner.assign(n, -1);
  out.price.assign(n, 0);
  if (n < 2) return out;
  const std::size_t each = std::min(options.candidates, n - 1);
  CandidateGraph graph(n);
  graph.add_blocks(belief, jobs, rule, all_of(n), options.block);
  out.least = -kInfinity;
  PricedMatching matching;
  const auto match = [&] {
    out.edges = graph.edges().size();
    matching = graph.match(&out.components);
    out.cost = graph.cost_of(matching);
    out.price.assign(matching.price.begin(),
                     matching.price.begin() + static_cast<std::ptrdiff_t>(n));
  };
  const auto good_enough = [&](std::span<const double> prices) {
    out.least = std::min(std::max(out.least, sum_of(prices)), out.cost);
    return out.loss() <= options.tolerance * std::abs(out.cost);
  };
  match();
  bool done = n <= options.block;
  if (done) out.least = out.cost;  // the graph has all pairs
  while (!done && out.rounds < options.rounds) {
    ++out.rounds;
    const std::vector<double> q = out.price;
    const std::vector<CoRunner> found =
        belief.top_co_runners({.jobs = jobs, .k = each, .prices = q}, rule);
    if (good_enough(floored(q, q, found, each, 0, false))) break;
    graph.thin(matching, options.candidates);
    graph.add(all_of(n), found, q);
    match();
    done = good_enough(floored(out.price, q, found, each, each - 1, each == n - 1));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (matching.co_runner[i] < n)
      out.co_runner[i] = static_cast<std::int32_t>(matching.co_runner[i]);
  }
  return out;
}

}  // namespace corun::inline policies
