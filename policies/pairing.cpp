#include "policies/pairing.hpp"

#include <algorithm>
#include <stdexcept>

#include "policies/matching.hpp"

namespace corun {

namespace {

/// All cluster pairs (a <= b), best first.
std::vector<ClusterPair> ranked_pairs(int clusters, const ClusterCost& cost,
                                      std::span<const ClusterPair> given) {
  std::vector<ClusterPair> pairs;
  for (int a = 0; a < clusters; ++a) {
    for (int b = a; b < clusters; ++b) pairs.emplace_back(a, b);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [&](const ClusterPair& x, const ClusterPair& y) {
    return cost(x.first, x.second) < cost(y.first, y.second);
  });
  auto place = pairs.begin();
  for (const ClusterPair& g : given) {
    const ClusterPair wanted = std::minmax(g.first, g.second);
    const auto at = std::find(place, pairs.end(), wanted);
    if (at == pairs.end()) continue;  // listed twice, or no such cluster
    std::rotate(place, at, at + 1);
    ++place;
  }
  return pairs;
}

/// How often each pair of clusters occurs in the cheapest perfect matching of all jobs.
std::vector<ClusterSlots> match(std::span<const std::size_t> counts, const ClusterCost& cost,
                                int& alone) {
  std::vector<int> cluster_of;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    cluster_of.insert(cluster_of.end(), counts[c], static_cast<int>(c));
  }
  const std::size_t n = cluster_of.size();
  std::vector<double> costs(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) costs[i * n + j] = cost(cluster_of[i], cluster_of[j]);
  }
  const std::vector<std::int32_t> partner = min_cost_matching(costs, n);
  std::vector<ClusterSlots> slots;
  for (std::size_t i = 0; i < n; ++i) {
    if (partner[i] < 0) {
      alone = cluster_of[i];
      continue;
    }
    const auto mate = static_cast<std::size_t>(partner[i]);
    if (mate < i) continue;
    const ClusterPair pair = std::minmax(cluster_of[i], cluster_of[mate]);
    const auto at = std::find_if(slots.begin(), slots.end(),
                                 [&](const ClusterSlots& s) { return s.clusters == pair; });
    if (at == slots.end()) {
      slots.push_back({pair, 1, 0});
    } else {
      ++at->groups;
    }
  }
  return slots;
}

}  // namespace

Pairing pairing_from(std::string_view name) {
  const auto names = pairing_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw std::logic_error("unknown pairing");
  return static_cast<Pairing>(at - names.begin());
}

std::vector<std::string_view> pairing_names() { return {"matching", "greedy-rank", "given"}; }

ClusterPlan choose_cluster_pairs(Pairing pairing, std::span<const std::size_t> counts,
                                 const ClusterCost& cost, std::span<const ClusterPair> given) {
  const int clusters = static_cast<int>(counts.size());
  const auto ranked =
      ranked_pairs(clusters, cost, pairing == Pairing::kGiven ? given : std::span<ClusterPair>{});
  const auto rank_of = [&](const ClusterPair& pair) {
    return static_cast<int>(std::find(ranked.begin(), ranked.end(), pair) - ranked.begin()) + 1;
  };
  ClusterPlan plan;
  if (pairing == Pairing::kMatching) {
    plan.slots = match(counts, cost, plan.alone);
    for (ClusterSlots& s : plan.slots) s.rank = rank_of(s.clusters);
    std::sort(plan.slots.begin(), plan.slots.end(),
              [](const ClusterSlots& a, const ClusterSlots& b) { return a.rank < b.rank; });
    return plan;
  }
  std::vector<std::size_t> left(counts.begin(), counts.end());
  for (const auto& [a, b] : ranked) {
    auto& of_a = left[static_cast<std::size_t>(a)];
    auto& of_b = left[static_cast<std::size_t>(b)];
    const std::size_t groups = a == b ? of_a / 2 : std::min(of_a, of_b);
    if (groups == 0) continue;
    of_a -= groups;
    of_b -= groups;
    plan.slots.push_back({{a, b}, groups, rank_of({a, b})});
  }
  for (std::size_t c = 0; c < left.size(); ++c) {
    if (left[c] > 0) plan.alone = static_cast<int>(c);
  }
  return plan;
}

}  // namespace corun
