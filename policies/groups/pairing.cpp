#include "policies/groups/pairing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "policies/groups/matching.hpp"

namespace corun::inline policies {

namespace {

/// Reads the k x k costs.
struct Costs {
  std::span<const double> cost;
  std::size_t clusters;
  double operator()(std::size_t a, std::size_t b) const { return cost[a * clusters + b]; }
};

/// All cluster pairs (a <= b), best first.
std::vector<ClusterPair> ranked_pairs(const Costs& cost, std::span<const ClusterPair> given) {
  std::vector<ClusterPair> pairs;
  const int clusters = static_cast<int>(cost.clusters);
  for (int a = 0; a < clusters; ++a) {
    for (int b = a; b < clusters; ++b) pairs.emplace_back(a, b);
  }
  const auto of = [&](const ClusterPair& p) {
    return cost(static_cast<std::size_t>(p.first), static_cast<std::size_t>(p.second));
  };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const ClusterPair& x, const ClusterPair& y) { return of(x) < of(y); });
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

/// The cheapest perfect matching of up to three clusters, by counts. With x pairs of clusters 0-1, y of 0-2
/// and z of 1-2, the remaining jobs of each cluster pair with each other, and the cost is linear in z. So
/// for each (x, y) the best z is the least or the greatest of its parity. The parity of z decides which
/// clusters keep an odd job, and at most one job may stay alone.
std::vector<ClusterSlots> match_three(std::span<const std::size_t> given_counts, const Costs& cost,
                                      int& alone) {
  std::array<std::size_t, 3> n{};
  std::copy(given_counts.begin(), given_counts.end(), n.begin());
  const auto c = [&](std::size_t a, std::size_t b) {
    return a < cost.clusters && b < cost.clusters ? cost(a, b) : 0;
  };
  const std::size_t odd_allowed = (n[0] + n[1] + n[2]) % 2;
  double least = std::numeric_limits<double>::infinity();
  std::array<std::size_t, 3> best{};  // x, y, z
  for (std::size_t x = 0; x <= std::min(n[0], n[1]); ++x) {
    for (std::size_t y = 0; y <= std::min(n[0] - x, n[2]); ++y) {
      const std::size_t most = std::min(n[1] - x, n[2] - y);
      for (const std::size_t z : {std::size_t{0}, std::size_t{1}, most - 1, most}) {
        if (z > most) continue;
        const std::array left{n[0] - x - y, n[1] - x - z, n[2] - y - z};
        if (left[0] % 2 + left[1] % 2 + left[2] % 2 > odd_allowed) continue;
        double total = 0;
        const auto add = [&](std::size_t pairs, double each) {
          if (pairs > 0) total += static_cast<double>(pairs) * each;
        };
        add(x, c(0, 1));
        add(y, c(0, 2));
        add(z, c(1, 2));
        for (std::size_t k = 0; k < 3; ++k) add(left[k] / 2, c(k, k));
        if (total < least) {
          least = total;
          best = {x, y, z};
        }
      }
    }
  }
  const auto [x, y, z] = best;
  const std::array left{n[0] - x - y, n[1] - x - z, n[2] - y - z};
  std::vector<ClusterSlots> slots{{{0, 1}, x, 0}, {{0, 2}, y, 0}, {{1, 2}, z, 0}};
  for (int k = 0; k < 3; ++k) {
    const std::size_t rest = left[static_cast<std::size_t>(k)];
    slots.push_back({{k, k}, rest / 2, 0});
    if (rest % 2 == 1) alone = k;
  }
  std::erase_if(slots, [](const ClusterSlots& s) { return s.groups == 0; });
  return slots;
}

/// How often each pair of clusters occurs in the cheapest perfect matching of all jobs.
std::vector<ClusterSlots> match_any(std::span<const std::size_t> counts, const Costs& cost,
                                    int& alone) {
  std::vector<std::size_t> cluster_of;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    cluster_of.insert(cluster_of.end(), counts[c], c);
  }
  const std::size_t n = cluster_of.size();
  std::vector<double> costs(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) costs[i * n + j] = cost(cluster_of[i], cluster_of[j]);
  }
  const std::vector<std::int32_t> co_runner = min_cost_matching(costs, n);
  std::vector<ClusterSlots> slots;
  for (std::size_t i = 0; i < n; ++i) {
    if (co_runner[i] < 0) {
      alone = static_cast<int>(cluster_of[i]);
      continue;
    }
    const auto mate = static_cast<std::size_t>(co_runner[i]);
    if (mate < i) continue;
    const ClusterPair pair =
        std::minmax(static_cast<int>(cluster_of[i]), static_cast<int>(cluster_of[mate]));
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

ClusterPlan choose_cluster_pairs(Pairing pairing, std::span<const std::size_t> counts,
                                 std::span<const double> cost_values,
                                 std::span<const ClusterPair> given) {
  const Costs cost{cost_values, counts.size()};
  const auto ranked =
      ranked_pairs(cost, pairing == Pairing::kGiven ? given : std::span<const ClusterPair>{});
  const auto rank_of = [&](const ClusterPair& pair) {
    return static_cast<int>(std::find(ranked.begin(), ranked.end(), pair) - ranked.begin()) + 1;
  };
  ClusterPlan plan;
  if (pairing == Pairing::kMatching) {
    plan.slots = counts.size() <= 3 ? match_three(counts, cost, plan.alone)
                                    : match_any(counts, cost, plan.alone);
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

}  // namespace corun::inline policies
