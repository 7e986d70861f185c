#include "evaluation/validation/share_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "policies/shares/max_min.hpp"
#include "policies/shares/max_throughput.hpp"

namespace corun::inline evaluation {

namespace {

constexpr double kNoRoom = 1e-9;
constexpr int kNewtonSteps = 200;

/// The jobs on GPUs of one type, for the programs of policies/shares.
ShareProblem problem_of(std::span<const SharedJob> jobs, int gpus) {
  ShareProblem problem;
  problem.gpus = {gpus};
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const SharedJob& job = jobs[at];
    problem.jobs.push_back({.id = job.job,
                            .gpus = job.gpus,
                            .steps_left = job.steps_left,
                            .age_s = job.age_s,
                            .time_left_s = std::nullopt});
    problem.units.push_back({static_cast<std::uint32_t>(at), std::nullopt});
    problem.rates.push_back({job.steps_per_s, 0});
  }
  return problem;
}

double alone_s(const SharedJob& job) { return job.steps_left / job.steps_per_s; }

class MaxMin final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    ShareProblem problem = problem_of(jobs, gpus);
    // On one type they cancel: equal gangs have shares with equal bits.
    for (UnitRates& rates : problem.rates) rates.a = 1;
    Shares fair = max_min(problem, nullptr, &max_min_of_one_type);
    return analytic_centre(std::move(fair.x), jobs, gpus);
  }
};

class MaxThroughput final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    return max_throughput_of_one_type(problem_of(jobs, gpus)).x;
  }
};

class MinMakespan final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    const double time =
        min_makespan(problem_of(jobs, gpus), nullptr, &max_min_of_one_type).shares.objective;
    std::vector<double> least;
    for (const SharedJob& job : jobs) least.push_back(alone_s(job) / time);
    return analytic_centre(std::move(least), jobs, gpus);
  }
};

class FinishTimeFairness final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    ShareProblem problem = problem_of(jobs, gpus);
    const std::vector<double> fair = isolated_rates(problem);
    std::map<std::size_t, Past> present;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const SharedJob& job = jobs[at];
      Past past{0, job.steps_left, fair[at]};
      const auto before = past_.find(job.job);
      if (before != past_.end()) {
        past.fair_s = before->second.fair_s + (before->second.steps_left - job.steps_left) /
                                                  before->second.fair_steps_per_s;
      }
      problem.jobs[at].isolated_s = past.fair_s;
      present[job.job] = past;
    }
    past_ = std::move(present);
    const double ratio = finish_time_fairness(problem, nullptr, &max_min_of_one_type).objective;
    std::vector<double> least;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
      const SharedJob& job = jobs[at];
      const double left =
          ratio * (problem.jobs[at].isolated_s + job.steps_left / fair[at]) - job.age_s;
      least.push_back(left > 0 ? std::min(1.0, alone_s(job) / left) : 1.0);
    }
    return analytic_centre(std::move(least), jobs, gpus);
  }

 private:
  struct Past {
    double fair_s = 0;  ///< time that the steps done would have taken with a fair share
    double steps_left = 0;
    double fair_steps_per_s = 1;
  };
  std::map<std::size_t, Past> past_;
};

class AlloX final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    std::vector<double> x(jobs.size(), 0);
    const std::size_t held = std::min(jobs.size(), static_cast<std::size_t>(gpus));
    for (std::size_t at = 0; at < held; ++at) x[at] = 1.0 / jobs[at].gpus;
    return x;
  }
};

}  // namespace

std::vector<double> analytic_centre(std::vector<double> least, std::span<const SharedJob> jobs,
                                    double total) {
  struct Free {
    std::size_t at;
    double gpus;
    double room;  ///< to 1
    double x;     ///< above the least
  };
  std::vector<Free> free;
  double rest = total;
  double gpus = 0;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    rest -= jobs[at].gpus * least[at];
    if (1 - least[at] <= kNoRoom) continue;
    free.push_back({at, static_cast<double>(jobs[at].gpus), 1 - least[at], 0});
    gpus += jobs[at].gpus;
  }
  if (rest <= kNoRoom || free.empty()) return least;
  for (Free& f : free) f.x = std::min(f.room / 2, rest / (gpus + 1) / 2);
  std::vector<double> gradient(free.size());
  std::vector<double> inverse(free.size());
  std::vector<double> step(free.size());
  for (int newton = 0; newton < kNewtonSteps; ++newton) {
    double slack = rest;
    for (const Free& f : free) slack -= f.gpus * f.x;
    // The Hessian is diagonal plus a product u u', u = gpus / slack: inverted by Sherman and Morrison.
    double u_gradient = 0;
    double u_u = 0;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const Free& f = free[k];
      const double above = f.room - f.x;
      gradient[k] = 1 / f.x - 1 / above - f.gpus / slack;
      inverse[k] = 1 / (1 / (f.x * f.x) + 1 / (above * above));
      u_gradient += f.gpus / slack * inverse[k] * gradient[k];
      u_u += f.gpus / slack * inverse[k] * f.gpus / slack;
    }
    double longest = 0;
    for (std::size_t k = 0; k < free.size(); ++k) {
      step[k] = inverse[k] * (gradient[k] - free[k].gpus / slack * u_gradient / (1 + u_u));
      longest = std::max(longest, std::abs(step[k]));
    }
    if (longest < 1e-12) break;
    double scale = 1;
    const auto inside = [&] {
      double left = rest;
      for (std::size_t k = 0; k < free.size(); ++k) {
        const double x = free[k].x + scale * step[k];
        if (x <= 0 || x >= free[k].room) return false;
        left -= free[k].gpus * x;
      }
      return left > 0;
    };
    while (!inside()) scale /= 2;
    if (scale < 1) scale *= 0.99;
    for (std::size_t k = 0; k < free.size(); ++k) free[k].x += scale * step[k];
  }
  for (const Free& f : free) least[f.at] += f.x;
  return least;
}

std::unique_ptr<SharePolicy> make_share_policy(std::string_view name) {
  if (name == "max-min") return std::make_unique<MaxMin>();
  if (name == "finish-time-fairness") return std::make_unique<FinishTimeFairness>();
  if (name == "min-makespan") return std::make_unique<MinMakespan>();
  if (name == "max-throughput") return std::make_unique<MaxThroughput>();
  if (name == "allox") return std::make_unique<AlloX>();
  return nullptr;
}

}  // namespace corun::inline evaluation
