#include "policies/shares/fifo_shares.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace corun::inline policies {

/// The type that a job takes of those with free GPUs; nothing: none.
std::optional<std::size_t> FifoShares::type_for(const ShareProblem& problem, std::size_t job,
                                                const std::vector<int>& available) {
  std::vector<std::size_t> types;
  for (std::size_t t = problem.types(); t-- > 0;) {
    const bool enough = available[t] >= problem.jobs[job].gpus && problem.rate(job, t).a > 0;
    if (enough) types.push_back(t);
  }
  if (types.empty()) return std::nullopt;
  if (options_.types == FifoTypes::kDrawn) {
    return types[draws_.below(static_cast<std::uint32_t>(types.size()))];
  }
  return *std::ranges::max_element(types, {},
                                   [&](std::size_t t) { return problem.rate(job, t).a; });
}

void FifoShares::pack(const ShareProblem& problem,
                      std::vector<std::pair<std::size_t, std::size_t>>& alone,
                      const std::vector<std::size_t>& queue, std::size_t next,
                      Shares& shares) const {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> units;
  for (std::size_t u = problem.jobs.size(); u < problem.units.size(); ++u) {
    units.emplace(std::pair{problem.units[u].a, *problem.units[u].b}, u);
  }
  for (; next < queue.size(); ++next) {
    double best_sum = options_.threshold;
    std::optional<std::size_t> best;  // place in `alone`
    std::size_t best_unit = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const auto [a, type] = alone[i];
      const auto unit = units.find({std::min(a, queue[next]), std::max(a, queue[next])});
      if (unit == units.end()) continue;  // unequal gangs
      const UnitRates& pair = problem.rate(unit->second, type);
      const double solo_a = problem.rate(unit->first.first, type).a;
      const double solo_b = problem.rate(unit->first.second, type).a;
      if (!(pair.a > 0 && pair.b > 0 && solo_a > 0 && solo_b > 0)) continue;
      if (const double sum = pair.a / solo_a + pair.b / solo_b; sum > best_sum) {
        best_sum = sum;
        best = i;
        best_unit = unit->second;
      }
    }
    if (!best) return;
    const auto [a, type] = alone[*best];
    shares.x[a * problem.types() + type] = 0;
    shares.x[best_unit * problem.types() + type] = 1;
    alone.erase(alone.begin() + static_cast<std::ptrdiff_t>(*best));
  }
}

Shares FifoShares::assign(const ShareProblem& problem) {
  std::map<std::uint64_t, std::size_t> place;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) place.emplace(problem.jobs[j].id, j);
  if (options_.types != FifoTypes::kDrawn) assigned_.clear();
  std::vector<std::size_t> queue;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const auto has = [&](const Assigned& a) { return a.job == problem.jobs[j].id; };
    if (std::ranges::none_of(assigned_, has)) queue.push_back(j);
  }
  std::vector<int> available = problem.gpus;
  if (!options_.overcommits_gangs) {
    for (const Assigned& a : assigned_) {
      if (place.contains(a.job)) available[a.type] -= a.gpus;
    }
  }
  // The GPUs of jobs that have ended go to the first in the queue, those of the last job first.
  std::size_t next = 0;
  std::vector<Assigned> now;  // in the order of arrival
  std::ranges::copy_if(assigned_, std::back_inserter(now),
                       [&](const Assigned& a) { return place.contains(a.job); });
  for (auto a = assigned_.rbegin(); a != assigned_.rend(); ++a) {
    if (place.contains(a->job)) {
      if (options_.overcommits_gangs) available[a->type] -= a->gpus;
      continue;
    }
    if (next == queue.size()) continue;
    const ShareJob& job = problem.jobs[queue[next]];
    if (job.gpus > available[a->type] || !(problem.rate(queue[next], a->type).a > 0)) continue;
    now.push_back({job.id, a->type, job.gpus});
    available[a->type] -= job.gpus;
    ++next;
  }
  for (; next < queue.size(); ++next) {
    const std::optional<std::size_t> type = type_for(problem, queue[next], available);
    if (!type) break;
    if (!(problem.rate(queue[next], *type).a > 0)) continue;
    const ShareJob& job = problem.jobs[queue[next]];
    now.push_back({job.id, *type, job.gpus});
    available[*type] -= job.gpus;
  }
  assigned_ = std::move(now);
  Shares shares;
  shares.x.assign(problem.units.size() * problem.types(), 0.0);
  std::vector<std::pair<std::size_t, std::size_t>> alone;
  for (const Assigned& a : assigned_) {
    alone.emplace_back(place.at(a.job), a.type);
    shares.x[place.at(a.job) * problem.types() + a.type] = 1;
  }
  if (options_.types == FifoTypes::kPacked) pack(problem, alone, queue, next, shares);
  return shares;
}

}  // namespace corun::inline policies
