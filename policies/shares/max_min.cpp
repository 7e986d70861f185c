#include "policies/shares/max_min.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

namespace corun::inline policies {

namespace {

std::vector<bool> above_zero(std::span<const double> values) {
  std::vector<bool> all;
  all.reserve(values.size());
  for (const double value : values) all.push_back(value > 0);
  return all;
}

constexpr auto kNoCost = [](std::size_t, std::size_t) { return 0.0; };

/// Whether the job runs somewhere by itself.
bool runs_somewhere(const ShareProblem& problem, std::size_t job) {
  for (std::size_t t = 0; t < problem.types(); ++t) {
    if (problem.rate(job, t).a > 0 && problem.jobs[job].gpus <= problem.gpus[t]) return true;
  }
  return false;
}

/// The least positive value: the level of a program is of this size when it is one of the scaled rates, and the
/// solver's tolerances are absolute.
double least_positive(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (value > 0) least = std::min(least, value);
  }
  return least;
}

std::vector<double> scaled_rates(const ShareProblem& problem, std::span<const double> scale) {
  std::vector<double> all = mean_rates(problem);
  for (std::size_t j = 0; j < all.size(); ++j) all[j] *= scale[j];
  return all;
}

}  // namespace

Shares max_min_scaled(const ShareProblem& problem, std::span<const double> scale,
                      ProgramBasis* basis) {
  const std::vector<bool> rated = above_zero(scale);
  Shares shares;
  if (std::ranges::find(rated, true) == rated.end()) {
    shares.x.assign(problem.units.size() * problem.types(), 0.0);
    return shares;
  }
  const double unit = least_positive(scaled_rates(problem, scale));
  std::vector<double> normed(scale.begin(), scale.end());
  for (double& s : normed) s /= unit;
  ShareProgram shape(problem, normed, rated, kNoCost);
  std::vector<LinearProgram::Entry> level;
  for (std::size_t j = 0; j < rated.size(); ++j) {
    if (!rated[j]) continue;
    shape.program().set_row(shape.rate_row(j), 0, LinearProgram::kInfinite);
    level.emplace_back(shape.rate_row(j), -1.0);
  }
  shape.add_variable(ShareProgram::kLevelKey, 1, LinearProgram::kInfinite, level);
  const ProgramSolution solution = shape.program().maximise(basis);
  if (solution.status != ProgramStatus::kOptimal) return shares;
  shares.x = shape.shares(solution);
  shares.objective = solution.objective * unit;
  return shares;
}

Shares max_min_of_one_type(const ShareProblem& problem, std::span<const double> scale,
                           ProgramBasis* /*basis*/) {
  assert(problem.types() == 1 && !problem.packed());
  Shares shares;
  shares.x.assign(problem.jobs.size(), 0.0);
  double most = std::numeric_limits<double>::infinity();  // at which some share is 1
  double gpus = 0;                                        // of all shares at level 1
  for (std::size_t j = 0; j < scale.size(); ++j) {
    if (scale[j] <= 0) continue;
    const double rate = scale[j] * problem.rate(j, 0).a;
    most = std::min(most, rate);
    gpus += problem.jobs[j].gpus / rate;
  }
  if (gpus == 0) return shares;
  shares.objective = std::min(most, problem.gpus.front() / gpus);
  for (std::size_t j = 0; j < scale.size(); ++j) {
    if (scale[j] > 0) shares.x[j] = shares.objective / (scale[j] * problem.rate(j, 0).a);
  }
  return shares;
}

std::vector<double> fair_scales(const ShareProblem& problem) {
  std::vector<double> scale = mean_rates(problem);
  for (std::size_t j = 0; j < scale.size(); ++j) {
    const ShareJob& job = problem.jobs[j];
    scale[j] = runs_somewhere(problem, j) ? job.gpus / (job.weight * scale[j]) : 0.0;
  }
  return scale;
}

Shares max_min(const ShareProblem& problem, ProgramBasis* basis, MaxMinSolver solve) {
  return solve(problem, fair_scales(problem), basis);
}

Makespan min_makespan(const ShareProblem& problem, ProgramBasis* basis, MaxMinSolver solve) {
  constexpr double kLeast = 100;       // [s]
  constexpr double kMost = 1e6;        // [s]
  constexpr double kCloseness = 1.05;  // of the two ends, when the bisection stops
  Makespan answer;
  std::vector<double> scale(problem.jobs.size(), 0.0);
  for (std::size_t j = 0; j < scale.size(); ++j) {
    if (runs_somewhere(problem, j)) scale[j] = 1 / problem.jobs[j].steps_left;
  }
  answer.shares = solve(problem, scale, basis);
  if (answer.shares.x.empty()) return answer;
  const double least = answer.shares.objective > 0 ? 1 / answer.shares.objective : 0;
  std::optional<double> best;
  for (double low = kLeast, most = kMost; !best; low = most, most *= 10) {
    double high = most;
    while (kCloseness * low < high) {
      const double middle = (low + high) / 2;
      answer.found.push_back(middle >= least);
      (answer.found.back() ? high : low) = middle;
      if (answer.found.back()) best = middle;
    }
  }
  answer.shares.objective = *best;
  return answer;
}

std::vector<double> isolated_rates(const ShareProblem& problem) {
  const Shares equal = equal_shares(problem);
  std::vector<double> all(problem.jobs.size(), 0.0);
  for (std::size_t j = 0; j < all.size(); ++j) {
    for (std::size_t t = 0; t < problem.types(); ++t) {
      all[j] += problem.rate(j, t).a * equal.x[j * problem.types() + t];
    }
  }
  return all;
}

Shares finish_time_fairness(const ShareProblem& problem, ProgramBasis* basis, MaxMinSolver solve) {
  constexpr int kMostPrograms = 100;    // it takes 4 to 10
  constexpr double kConverged = 1e-11;  // of z, and of the level
  ProgramBasis own;                     // each program starts from the one before it
  if (basis == nullptr) basis = &own;
  const std::size_t jobs = problem.jobs.size();
  const std::vector<double> alone = isolated_rates(problem);
  std::vector<double> whole(jobs, 0.0);  // D_i; 0: the job runs nowhere
  for (std::size_t j = 0; j < jobs; ++j) {
    if (!runs_somewhere(problem, j)) continue;
    whole[j] = problem.jobs[j].isolated_s + problem.jobs[j].steps_left / alone[j];
  }
  const auto worst = [&](std::span<const double> rates) {
    double rho = 0;
    for (std::size_t j = 0; j < jobs; ++j) {
      if (whole[j] == 0) continue;
      const ShareJob& job = problem.jobs[j];
      rho = std::max(rho, (job.age_s + job.steps_left / rates[j]) / whole[j]);
    }
    return rho;
  };
  Shares best = equal_shares(problem);
  best.objective = worst(alone);
  // level(z) rises with z and is 1 at the optimum: secants between a z that is too low and one that is not.
  double low = 0;
  for (std::size_t j = 0; j < jobs; ++j) {
    if (whole[j] > 0) low = std::max(low, problem.jobs[j].age_s / whole[j]);
  }
  double high = best.objective;
  double z = high;
  std::optional<std::pair<double, double>> last;  // z, level
  std::vector<double> scale(jobs, 0.0);
  for (int n = 0; n < kMostPrograms; ++n) {
    for (std::size_t j = 0; j < jobs; ++j) {
      const ShareJob& job = problem.jobs[j];
      scale[j] = whole[j] == 0 ? 0 : std::max(z * whole[j] - job.age_s, 0.0) / job.steps_left;
    }
    Shares found = solve(problem, scale, basis);
    if (found.x.empty()) break;
    const double level = found.objective;
    found.objective = worst(throughputs(problem, found.x));
    if (level >= 1) high = std::min(high, std::min(z, found.objective));
    if (level < 1) low = std::max(low, z);
    if (n == 0 || found.objective < best.objective) best = std::move(found);
    if (std::abs(level - 1) < kConverged || high - low <= kConverged * high) break;
    double next = high;
    if (last && last->second != level) {
      next = z + (1 - level) * (z - last->first) / (level - last->second);
    }
    last = {z, level};
    z = next > low && (next < high || n == 0) ? next : low + (high - low) / 2;
  }
  return best;
}

}  // namespace corun::inline policies
