#include "policies/shares/gandiva.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corun::inline policies {

namespace {

/// Mean over the types of the sum of both normalised rates.
double worth_of(const ShareProblem& problem, std::size_t unit) {
  const ShareUnit& pair = problem.units[unit];
  double sum = 0;
  for (std::size_t t = 0; t < problem.types(); ++t) {
    const double a = problem.rate(pair.a, t).a;
    const double b = problem.rate(*pair.b, t).a;
    if (a > 0 && b > 0) sum += problem.rate(unit, t).a / a + problem.rate(unit, t).b / b;
  }
  return sum / static_cast<double>(problem.types());
}

}  // namespace

Shares GandivaShares::assign(const ShareProblem& problem) {
  std::map<std::uint64_t, std::size_t> place;
  std::int64_t asked = 0;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    place.emplace(problem.jobs[j].id, j);
    asked += problem.jobs[j].gpus;
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> units;
  for (std::size_t u = problem.jobs.size(); u < problem.units.size(); ++u) {
    units.emplace(std::pair{problem.units[u].a, *problem.units[u].b}, u);
  }
  const auto unit_of = [&](std::size_t a, std::size_t b) {
    return units.at({std::min(a, b), std::max(a, b)});
  };
  std::erase_if(partners_, [&](const auto& pair) {
    const auto a = place.find(pair.first);
    const auto b = place.find(pair.second);
    return a == place.end() || b == place.end() ||
           worth_of(problem, unit_of(a->second, b->second)) < 1;
  });
  std::vector<std::size_t> held;  // units
  if (asked <= problem.total_gpus()) {
    partners_.clear();
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) held.push_back(j);
  } else {
    std::map<int, std::vector<std::size_t>> single;  // by gang
    for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
      const auto partner = partners_.find(problem.jobs[j].id);
      if (partner == partners_.end()) {
        single[problem.jobs[j].gpus].push_back(j);
      } else if (const std::size_t other = place.at(partner->second); j < other) {
        held.push_back(unit_of(j, other));
      }
    }
    for (auto& [gpus, jobs] : single) {
      while (jobs.size() > 1 && problem.packed()) {
        // Two different jobs, drawn as by Python's sample(jobs, 2).
        const auto count = static_cast<std::uint32_t>(jobs.size());
        std::size_t first = draws_.below(count);
        std::size_t second = 0;
        if (constexpr std::uint32_t kDrawnFromPool = 21; count <= kDrawnFromPool) {
          second = draws_.below(count - 1);
          if (second == first) second = count - 1;
        } else {
          do {
            second = draws_.below(count);
          } while (second == first);
        }
        const std::size_t a = jobs[first];
        const std::size_t b = jobs[second];
        held.push_back(unit_of(a, b));
        partners_[problem.jobs[a].id] = problem.jobs[b].id;
        partners_[problem.jobs[b].id] = problem.jobs[a].id;
        std::erase_if(jobs, [&](std::size_t j) { return j == a || j == b; });
      }
      held.insert(held.end(), jobs.begin(), jobs.end());
    }
  }
  Shares shares;
  shares.x.assign(problem.units.size() * problem.types(), 0.0);
  for (const std::size_t u : held) {
    double* const row = &shares.x[u * problem.types()];
    double sum = 0;
    for (std::size_t t = 0; t < problem.types(); ++t) {
      row[t] = problem.gpus[t] / static_cast<double>(held.size()) /
               problem.jobs[problem.units[u].a].gpus;
      sum += row[t];
    }
    for (std::size_t t = 0; t < problem.types(); ++t) row[t] /= std::max(1.0, sum);
  }
  return shares;
}

}  // namespace corun::inline policies
