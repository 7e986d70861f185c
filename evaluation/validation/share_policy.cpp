#include "evaluation/validation/share_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace corun::inline evaluation {

namespace {

constexpr double kNoRoom = 1e-9;
constexpr int kNewtonSteps = 200;
constexpr int kBisections = 200;

class MaxMin final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    const double level =
        std::min(1.0, static_cast<double>(gpus) / static_cast<double>(jobs.size()));
    std::vector<double> least;
    for (const SharedJob& job : jobs) least.push_back(level / job.gpus);
    return analytic_centre(std::move(least), jobs, gpus);
  }
};

class MaxThroughput final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t at) { return jobs[at].steps_per_s / jobs[at].gpus; });
    std::vector<double> x(jobs.size(), 0);
    double free = gpus;
    for (const std::size_t at : order) {
      x[at] = std::min(1.0, free / jobs[at].gpus);
      free -= x[at] * jobs[at].gpus;
    }
    return x;
  }
};

class MinMakespan final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    double longest = 0;
    double gpu_seconds = 0;
    for (const SharedJob& job : jobs) {
      longest = std::max(longest, left_s(job));
      gpu_seconds += job.gpus * left_s(job);
    }
    const auto possible = [&](double time) {
      return longest <= time && gpu_seconds <= gpus * time;
    };
    double low = 100;
    double high = 1e6;
    while (!possible(high)) {
      low = high;
      high *= 10;
    }
    while (1.05 * low < high) {
      const double middle = (low + high) / 2;
      (possible(middle) ? high : low) = middle;
    }
    std::vector<double> least;
    for (const SharedJob& job : jobs) least.push_back(left_s(job) / high);
    return analytic_centre(std::move(least), jobs, gpus);
  }

 private:
  static double left_s(const SharedJob& job) { return job.steps_left / job.steps_per_s; }
};

class FinishTimeFairness final : public SharePolicy {
 public:
  std::vector<double> shares(std::span<const SharedJob> jobs, int gpus) override {
    std::map<std::size_t, Past> present;
    for (const SharedJob& job : jobs) {
      Past past;
      const auto before = past_.find(job.job);
      if (before != past_.end()) {
        past.fair_s = before->second.fair_s + (before->second.steps_left - job.steps_left) /
                                                  before->second.fair_steps_per_s;
      }
      const double fair =
          std::min(1.0, static_cast<double>(gpus) / (static_cast<double>(jobs.size()) * job.gpus));
      past.steps_left = job.steps_left;
      past.fair_steps_per_s = fair * job.steps_per_s;
      present[job.job] = past;
    }
    past_ = std::move(present);
    const auto needed = [&](const SharedJob& job, double ratio) {
      const Past& past = past_.at(job.job);
      const double left =
          ratio * (past.fair_s + job.steps_left / past.fair_steps_per_s) - job.age_s;
      return left > 0 ? job.steps_left / job.steps_per_s / left
                      : std::numeric_limits<double>::infinity();
    };
    const auto possible = [&](double ratio) {
      double sum = 0;
      for (const SharedJob& job : jobs) {
        const double x = needed(job, ratio);
        if (x > 1) return false;
        sum += x * job.gpus;
      }
      return sum <= gpus;
    };
    double low = 1e-6;
    double high = 1e6;
    for (int step = 0; step < kBisections; ++step) {
      const double middle = std::sqrt(low * high);
      (possible(middle) ? high : low) = middle;
    }
    std::vector<double> least;
    for (const SharedJob& job : jobs) least.push_back(std::min(1.0, needed(job, high)));
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
