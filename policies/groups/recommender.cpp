#include "policies/groups/recommender.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "policies/groups/matching.hpp"
#include "policies/groups/sparse_matching.hpp"
#include "policies/service_goal.hpp"
#include "sim/rng.hpp"

namespace corun::inline policies {

Recommender::Recommender(RecommenderOptions options, PolicyContext context)
    : GroupPolicy(context.plan_once),
      options_(std::move(options)),
      belief_(std::move(context.belief)),
      seed_(context.seed),
      probe_planner_(*belief_, kMatchedJobs) {}

std::vector<Group> Recommender::plan(const ClusterView& view, std::span<const JobId> waiting,
                                     std::uint64_t first, std::size_t wanted) {
  std::vector<Group> groups;
  bound_.reset();
  if (view.max_jobs_per_gpu(kPair) < kPair) {
    for (const JobId j : waiting.first(std::min(wanted, waiting.size()))) {
      groups.push_back({.jobs = {j}});
    }
    return groups;
  }
  std::vector<JobId> left;
  for (const JobId j : waiting) {
    if (view.job(j).service == nullptr) {
      left.push_back(j);
    } else {
      groups.push_back({.jobs = {j}, .bin = true});  // a replica of a service starts alone
    }
  }
  if (options_.pack_bin) {
    std::vector<JobId> bin = choose_bin(view, left);
    // Two jobs that fit a bin are a pair like any other; a bin given by the configuration stays a bin.
    if (bin.size() > (options_.given_bin.empty() ? kPair : 1)) {
      std::erase_if(left,
                    [&](JobId j) { return std::find(bin.begin(), bin.end(), j) != bin.end(); });
      groups.push_back({.jobs = std::move(bin), .bin = true});
    }
  }
  if (left.empty()) return groups;
  if (const ClusterBelief* clusters = belief_->as_clusters()) {
    pair_by_cluster(*clusters, left, first, draw_of(view), groups);
  } else {
    const std::optional<std::uint64_t> draw = draw_of(view);
    const bool sparse = options_.pairing == Pairing::kMatching && !draw && options_.window;
    // Matching over all pairs is cubic in the number of jobs; the oldest come first.
    if (sparse && left.size() > kMatchedJobs) {
      pair_sparsely(view, left, groups);
    } else {
      pair_by_job(view, std::span(left).first(std::min(left.size(), kMatchedJobs)), draw, groups);
    }
    if (options_.epsilon > 0 && !draw) explore_jobs(first, groups);
  }
  return groups;
}

std::optional<std::uint64_t> Recommender::draw_of(const ClusterView& view) const {
  if (options_.explore != Explore::kThompson) return std::nullopt;
  Rng rng(seed_, Stream::kThompson, view.pass());
  const std::uint64_t upper = rng.next();
  return upper << 32U | rng.next();
}

double Recommender::job_cost(JobId a, JobId b, std::optional<std::uint64_t> draw) const {
  return objective_cost({options_.objective, options_.risk},
                        draw ? belief_->sampled_pair(a, b, *draw) : belief_->pair(a, b));
}

std::vector<JobId> Recommender::choose_bin(const ClusterView& view,
                                           std::span<const JobId> waiting) const {
  std::vector<JobId> bin;
  if (!options_.given_bin.empty()) {
    for (const JobId j : options_.given_bin) {
      if (std::find(waiting.begin(), waiting.end(), j) != waiting.end()) bin.push_back(j);
    }
    // The given bin is one group of the plan: after one of its jobs has started, it is not formed.
    return bin.size() == options_.given_bin.size() ? bin : std::vector<JobId>{};
  }
  const auto need = [&](JobId j) -> std::optional<double> {
    const Profile& p = view.job(j).profile;
    return options_.bin_by_memory ? p.mem_alloc_pct : p.gpu_util_pct;
  };
  std::vector<JobId> candidates;
  for (const JobId j : waiting) {
    if (need(j)) candidates.push_back(j);
  }
  std::sort(candidates.begin(), candidates.end(), [&](JobId a, JobId b) {
    const double na = *need(a);
    const double nb = *need(b);
    return na != nb ? na < nb : a < b;
  });
  constexpr int kNoLimit = std::numeric_limits<int>::max();
  const auto limit = static_cast<std::size_t>(
      std::min<std::int64_t>(options_.bin_max.value_or(kNoLimit), view.max_jobs_per_gpu(kNoLimit)));
  double filled = 0;
  for (const JobId j : candidates) {
    filled += *need(j);
    if (filled > 100 || bin.size() == limit) break;
    bin.push_back(j);
  }
  return bin;
}

void Recommender::pair_by_cluster(const ClusterBelief& clusters, std::span<const JobId> waiting,
                                  std::uint64_t first, std::optional<std::uint64_t> draw,
                                  std::vector<Group>& groups) const {
  // Waiting jobs of each cluster by precedence: ascending uncertainty, ties by job index.
  std::vector<std::vector<JobId>> of_cluster(static_cast<std::size_t>(clusters.clusters()));
  for (const JobId j : waiting) {
    of_cluster[static_cast<std::size_t>(clusters.cluster(j))].push_back(j);
  }
  std::vector<std::size_t> counts;
  for (auto& jobs : of_cluster) {
    std::sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
      const double ua = clusters.uncertainty(a);
      const double ub = clusters.uncertainty(b);
      return ua != ub ? ua < ub : a < b;
    });
    counts.push_back(jobs.size());
  }
  std::vector<double> cost;
  for (int a = 0; a < clusters.clusters(); ++a) {
    for (int b = 0; b < clusters.clusters(); ++b) {
      const PairBelief pair =
          draw ? clusters.sampled_cluster_pair(a, b, *draw) : clusters.cluster_pair(a, b);
      cost.push_back(objective_cost({options_.objective, options_.risk}, pair));
    }
  }
  const ClusterPlan plan = choose_cluster_pairs(options_.pairing, counts, cost, options_.order);

  for (const ClusterSlots& slots : plan.slots) {
    for (std::size_t i = 0; i < slots.groups; ++i) {
      const std::uint64_t number = first + groups.size();
      Group group{.jobs = {}, .clusters = slots.clusters, .rank = slots.rank};
      for (const int c : {slots.clusters.first, slots.clusters.second}) {
        auto& jobs = of_cluster[static_cast<std::size_t>(c)];
        auto chosen = jobs.begin();
        if (options_.epsilon > 0 && !draw) {
          Rng rng(seed_, Stream::kEpsilon, number * 2 + group.jobs.size());
          if (rng.uniform() < options_.epsilon) {
            chosen += rng.below(static_cast<std::uint32_t>(jobs.size()));
          }
        }
        group.jobs.push_back(*chosen);
        jobs.erase(chosen);
      }
      group.expected = clusters.cluster_pair(slots.clusters.first, slots.clusters.second);
      groups.push_back(std::move(group));
    }
  }
  if (plan.alone >= 0) {
    groups.push_back({.jobs = {of_cluster[static_cast<std::size_t>(plan.alone)].front()}});
  }
}

void Recommender::pair_by_job(const ClusterView& view, std::span<const JobId> waiting,
                              std::optional<std::uint64_t> draw, std::vector<Group>& groups) const {
  std::vector<JobId> jobs(waiting.begin(), waiting.end());
  sort_by_submission(view, jobs);
  const std::size_t n = jobs.size();
  std::vector<double> cost(n * n, 0);
  struct Edge {
    double cost;
    std::size_t a, b;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double c = job_cost(jobs[i], jobs[j], draw);
      cost[i * n + j] = cost[j * n + i] = c;
      edges.push_back({c, i, j});
    }
  }
  std::vector<bool> used(n, false);
  std::vector<Edge> chosen;
  if (options_.pairing == Pairing::kMatching) {
    const auto co_runner = min_cost_matching(cost, n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto mate = static_cast<std::size_t>(co_runner[i]);
      if (co_runner[i] >= 0 && mate > i) chosen.push_back({cost[i * n + mate], i, mate});
      used[i] = co_runner[i] >= 0;
    }
  } else {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& x, const Edge& y) { return x.cost < y.cost; });
    for (const Edge& e : edges) {
      if (used[e.a] || used[e.b]) continue;
      used[e.a] = used[e.b] = true;
      chosen.push_back(e);
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Edge& x, const Edge& y) { return x.cost < y.cost; });
  for (const Edge& e : chosen) {
    groups.push_back(
        {.jobs = {jobs[e.a], jobs[e.b]}, .expected = belief_->pair(jobs[e.a], jobs[e.b])});
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!used[i]) groups.push_back({.jobs = {jobs[i]}});
  }
}

void Recommender::pair_sparsely(const ClusterView& view, std::span<const JobId> waiting,
                                std::vector<Group>& groups) {
  std::vector<JobId> jobs(waiting.begin(), waiting.end());
  sort_by_submission(view, jobs);
  const SparseMatching matching =
      sparse_matching(*belief_, jobs, {options_.objective, options_.risk});
  bound_ = PlanBound{matching.cost, matching.least};
  std::vector<std::pair<double, Group>> pairs;
  std::vector<Group> alone;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (matching.co_runner[i] < 0) {
      alone.push_back({.jobs = {jobs[i]}});
      continue;
    }
    const auto mate = static_cast<std::size_t>(matching.co_runner[i]);
    if (mate < i) continue;
    const PairBelief expected = belief_->pair(jobs[i], jobs[mate]);
    pairs.emplace_back(objective_cost({options_.objective, options_.risk}, expected),
                       Group{.jobs = {jobs[i], jobs[mate]}, .expected = expected});
  }
  std::ranges::stable_sort(pairs, {}, [](const auto& p) { return bounded_cost(p.first); });
  for (auto& [cost, group] : pairs) groups.push_back(std::move(group));
  std::ranges::move(alone, std::back_inserter(groups));
}

void Recommender::explore_jobs(std::uint64_t first, std::vector<Group>& groups) {
  struct Place {
    std::size_t group, member;
  };
  std::vector<Place> places;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].bin) continue;
    for (std::size_t m = 0; m < groups[g].jobs.size(); ++m) places.push_back({g, m});
  }
  const auto job_at = [&](std::size_t i) -> JobId& {
    return groups[places[i].group].jobs[places[i].member];
  };
  bool changed = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Rng rng(seed_, Stream::kEpsilon, (first + places[i].group) * 2 + places[i].member);
    if (rng.uniform() >= options_.epsilon) continue;
    const std::size_t other = i + rng.below(static_cast<std::uint32_t>(places.size() - i));
    std::swap(job_at(i), job_at(other));
    changed |= other != i;
  }
  if (!changed) return;
  bound_.reset();  // it is the bound of the plan before
  for (Group& group : groups) {
    if (group.expected && !group.bin) group.expected = belief_->pair(group.jobs[0], group.jobs[1]);
  }
}

std::optional<JobId> Recommender::co_runner(const ClusterView& view, JobId resident,
                                            std::span<const JobId> waiting) {
  bound_.reset();
  // A replica joins no job. Jobs join one whose service is believed to keep its goal.
  const ServiceView* service = view.job(resident).service;
  std::vector<JobId> suited;
  for (const JobId j : waiting) {
    if (view.job(j).service != nullptr) continue;
    if (service == nullptr || keeps_goal_of_b(*service, belief_->pair(j, resident), kGoalMargin)) {
      suited.push_back(j);
    }
  }
  if (suited.empty()) return std::nullopt;
  waiting = suited;
  const ClusterBelief* clusters = belief_->as_clusters();
  const std::optional<std::uint64_t> draw = draw_of(view);
  const auto key = [&](JobId j) {
    return std::tuple(job_cost(resident, j, draw),
                      clusters != nullptr ? clusters->uncertainty(j) : 0.0, index(j));
  };
  JobId best = waiting.front();
  auto best_key = key(best);
  for (const JobId j : waiting.subspan(1)) {
    const auto other = key(j);
    if (other < best_key) {
      best = j;
      best_key = other;
    }
  }
  return best;
}

}  // namespace corun::inline policies
