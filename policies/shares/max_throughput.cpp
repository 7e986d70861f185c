#include "policies/shares/max_throughput.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <vector>

namespace corun::inline policies {

namespace {

Shares summed(const ShareProblem& problem, std::span<const double> prices, bool deadlines,
              ProgramBasis* basis) {
  std::vector<bool> rated(problem.jobs.size(), false);
  std::vector<double> scale(problem.jobs.size(), 1.0);
  for (std::size_t j = 0; j < rated.size(); ++j) {
    const ShareJob& job = problem.jobs[j];
    rated[j] = deadlines && job.time_left_s.has_value();
    // Scaled so that the row reads: at least 1.
    if (rated[j]) scale[j] = *job.time_left_s / job.steps_left;
  }
  const auto gain = [&](std::size_t unit, std::size_t type) {
    const UnitRates& rates = problem.rate(unit, type);
    return (rates.a + rates.b) / (prices.empty() ? 1.0 : prices[type]);
  };
  double greatest = 0;
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    for (std::size_t t = 0; t < problem.types(); ++t) greatest = std::max(greatest, gain(u, t));
  }
  Shares shares;
  if (greatest == 0) {
    shares.x.assign(problem.units.size() * problem.types(), 0.0);
    return shares;
  }
  ShareProgram shape(problem, scale, rated, [&](std::size_t unit, std::size_t type) {
    return gain(unit, type) / greatest;
  });
  for (std::size_t j = 0; j < rated.size(); ++j) {
    if (rated[j]) shape.program().set_row(shape.rate_row(j), 1, LinearProgram::kInfinite);
  }
  const ProgramSolution solution = shape.program().maximise(basis);
  if (solution.status != ProgramStatus::kOptimal) return shares;
  shares.x = shape.shares(solution);
  shares.objective = solution.objective * greatest;
  return shares;
}

}  // namespace

Shares max_throughput(const ShareProblem& problem, std::span<const double> prices,
                      ProgramBasis* basis) {
  const bool deadlines = std::ranges::any_of(
      problem.jobs, [](const ShareJob& job) { return job.time_left_s.has_value(); });
  if (deadlines) {
    if (Shares kept = summed(problem, prices, true, basis); !kept.x.empty()) return kept;
  }
  return summed(problem, prices, false, basis);
}

Shares max_throughput_of_one_type(const ShareProblem& problem) {
  assert(problem.types() == 1 && !problem.packed());
  const std::size_t jobs = problem.jobs.size();
  std::vector<std::size_t> order(jobs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t j) {
    return problem.rate(j, 0).a / problem.jobs[j].gpus;
  });
  Shares shares;
  shares.x.assign(jobs, 0.0);
  double free = problem.gpus.front();
  for (const std::size_t j : order) {
    shares.x[j] = std::min(1.0, free / problem.jobs[j].gpus);
    free -= shares.x[j] * problem.jobs[j].gpus;
    shares.objective += shares.x[j] * problem.rate(j, 0).a;
  }
  return shares;
}

}  // namespace corun::inline policies
