#include "evaluation/validation/run_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/math.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline evaluation {

namespace {

using Weighted = std::vector<std::pair<double, double>>;

/// Of a normal distribution, over its median absolute deviation.
constexpr double kSdOfMad = 1.4826;
constexpr double kShortestLeaseS = 10;
/// Each leaves two thirds of the range: enough for a billionth of it.
constexpr int kSearchSteps = 60;

double robust_sd(std::vector<double> values) {
  if (values.size() < 2) return 0;
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return kSdOfMad * median(std::move(values));
}

double last_arrival(const RoundWorkload& workload, const Round& round) {
  double latest = 0;
  for (const Placed& placed : round) {
    latest = std::max(latest, workload.jobs[placed.job].arrival_s);
  }
  return latest;
}

/// Finish times of a run against the starts in the rounds before the last one of each job.
struct ClockPoints {
  std::vector<double> starts;
  std::vector<double> seconds;  ///< finish less the declared rounds and the arrival of round 0
  std::vector<std::size_t> last_round;
};

ClockPoints clock_points(const RoundWorkload& workload, const RoundRun& run, double round_s) {
  std::vector<double> before{0};
  for (const int starts : starts_by_round(run)) before.push_back(before.back() + starts);
  const double arrival = last_arrival(workload, run.rounds.front());
  ClockPoints points;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    const std::size_t last = run.rounds_of[j].back();
    points.starts.push_back(before[last]);
    points.last_round.push_back(last);
    points.seconds.push_back(run.jobs[j].finish_s - round_s * static_cast<double>(last) - arrival);
  }
  return points;
}

/// The rest of the seconds after `per_start_s` for each start.
std::vector<double> without_starts(const ClockPoints& points, double per_start_s) {
  std::vector<double> rest;
  for (std::size_t j = 0; j < points.starts.size(); ++j) {
    rest.push_back(points.seconds[j] - per_start_s * points.starts[j]);
  }
  return rest;
}

/// Least absolute deviations: the sum is convex in the slope, and the best intercept of a slope is the median.
/// Intercepts below `least` are raised to it.
double deviation(std::span<const ClockPoints> all, double per_start_s, double least) {
  double sum = 0;
  for (const ClockPoints& points : all) {
    const std::vector<double> rest = without_starts(points, per_start_s);
    const double intercept = std::max(median(rest), least);
    for (const double value : rest) sum += std::abs(value - intercept);
  }
  return sum;
}

/// Differences [s] of the residuals of two jobs whose last rounds are `least` to `most` rounds apart, and the mean number
/// of rounds between them.
struct Differences {
  std::vector<double> seconds;
  double mean_rounds = 0;

  /// Of one of the two jobs.
  double variance() const {
    std::vector<double> sizes = seconds;
    for (double& size : sizes) size = std::abs(size);
    const double sd = seconds.empty() ? 0 : kSdOfMad * median(std::move(sizes));
    return sd * sd / 2;
  }
};

Differences differences(std::span<const ClockPoints> all, double per_start_s, std::size_t least,
                        std::size_t most) {
  Differences found;
  for (const ClockPoints& points : all) {
    const std::vector<double> rest = without_starts(points, per_start_s);
    for (std::size_t a = 0; a < rest.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const auto [low, high] = std::minmax(points.last_round[a], points.last_round[b]);
        if (high - low < least || high - low > most) continue;
        found.seconds.push_back(rest[a] - rest[b]);
        found.mean_rounds += static_cast<double>(high - low);
      }
    }
  }
  if (!found.seconds.empty()) found.mean_rounds /= static_cast<double>(found.seconds.size());
  return found;
}

void fit_clock(const RoundWorkload& workload, std::span<const RoundRun> runs, RunParameters& p) {
  std::vector<ClockPoints> all;
  for (const RoundRun& run : runs) all.push_back(clock_points(workload, run, p.round_s));
  // On average a job ends in the middle of its last round, and round 0 does not begin before its jobs arrive.
  const double half = p.round_s / 2;
  double low = 0;
  double high = p.round_s;
  for (int step = 0; step < kSearchSteps; ++step) {
    const double third = (high - low) / 3;
    const bool lower = deviation(all, low + third, half) <= deviation(all, high - third, half);
    (lower ? high : low) = lower ? high - third : low + third;
  }
  p.per_start_s = (low + high) / 2;
  std::vector<double> delays;
  std::vector<double> firsts;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::vector<double> rest = without_starts(all[r], p.per_start_s);
    const double intercept = std::max(median(rest), half);
    delays.push_back(intercept - half);
    firsts.push_back(last_arrival(workload, runs[r].rounds.front()) + delays.back());
  }
  p.first_delay_s = median(std::move(delays));
  p.first_round_s = median(std::move(firsts));
  const Differences close = differences(all, p.per_start_s, 0, 3);
  const Differences apart = differences(all, p.per_start_s, 30, 60);
  p.end_sd_s = std::sqrt(close.variance());
  if (!apart.seconds.empty()) {
    // Two ends, and the rounds between them.
    p.round_sd_s =
        std::sqrt(2 * std::max(0.0, apart.variance() - close.variance()) / apart.mean_rounds);
  }
}

struct Lease {
  std::size_t job = 0;
  double planned_s = 0;  ///< of run time, by the parameters
  MeasuredRate rate;
};

/// The lease of each measured rate: the job's rounds after its measured rate before.
std::vector<Lease> leases_of(const RoundWorkload& workload, const RoundRun& run,
                             const RunParameters& p) {
  const std::vector<int> starts = starts_by_round(run);
  std::vector<std::size_t> next(run.jobs.size(), 0);
  std::vector<double> planned(run.jobs.size(), 0);
  std::vector<Lease> leases;
  for (const MeasuredRate& rate : run.rates) {
    const std::vector<std::size_t>& rounds = run.rounds_of[rate.job];
    Lease lease{rate.job, -p.start_cost(workload.jobs[rate.job].model), rate};
    for (std::size_t& at = next[rate.job]; at < rounds.size() && rounds[at] <= rate.round; ++at) {
      lease.planned_s += p.round_s + p.per_start_s * starts[rounds[at]];
    }
    lease.planned_s = std::max(lease.planned_s, kShortestLeaseS);
    planned[rate.job] += lease.planned_s;
    leases.push_back(lease);
  }
  // Together they take the run time that was measured.
  for (Lease& lease : leases) lease.planned_s *= run.jobs[lease.job].run_s / planned[lease.job];
  return leases;
}

/// Time of a job in rounds that is missing in its run time.
struct MissingTime {
  std::string model;
  double seconds = 0;
  double starts = 0;
  double rounds = 0;
};

/// The deviation of a start: the squares of what the jobs' missing time differs from its model's, less the variance of
/// their rounds and of an end anywhere in the last one, over their starts.
double start_sd(const std::vector<MissingTime>& jobs, const RunParameters& p) {
  constexpr double kVarianceOfUniform = 1.0 / 12;
  std::vector<double> variances;
  for (const MissingTime& job : jobs) {
    const double off = kSdOfMad * (job.seconds - job.starts * p.start_cost(job.model));
    const double others =
        job.rounds * p.round_sd_s * p.round_sd_s + kVarianceOfUniform * p.round_s * p.round_s;
    variances.push_back((off * off - others) / job.starts);
  }
  return std::sqrt(std::max(0.0, median(std::move(variances))));
}

void fit_starts(const RoundWorkload& workload, std::span<const RoundRun> runs, RunParameters& p) {
  std::map<std::string, Weighted> missing;
  std::vector<MissingTime> jobs;
  for (const RoundRun& run : runs) {
    const std::vector<int> starts = starts_by_round(run);
    const auto length = [&](std::size_t k) { return p.round_s + p.per_start_s * starts[k]; };
    std::vector<double> in_rounds(run.jobs.size(), 0);
    std::vector<double> begun(run.jobs.size(), 0);
    for (std::size_t k = 0; k < run.rounds.size(); ++k) {
      for (const Placed& placed : run.rounds[k]) {
        in_rounds[placed.job] += length(k);
        if (!continues(run, k, placed)) begun[placed.job] += 1;
      }
    }
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
      // On average a job ends in the middle of its last round.
      const double rest = in_rounds[j] - length(run.rounds_of[j].back()) / 2 - run.jobs[j].run_s;
      missing[workload.jobs[j].model].emplace_back(rest / begun[j], begun[j]);
      jobs.push_back(
          {workload.jobs[j].model, rest, begun[j], static_cast<double>(run.rounds_of[j].size())});
    }
  }
  std::vector<double> costs;
  for (auto& [model, values] : missing) {
    const double cost = std::clamp(weighted_median(std::move(values)), 0.0, p.round_s);
    p.start_s[model] = cost;
    costs.push_back(cost);
  }
  p.unknown_start_s = median(std::move(costs));
  p.start_sd_s = start_sd(jobs, p);
}

void fit_rates(const RoundWorkload& workload, std::span<const RoundRun> runs, RunParameters& p) {
  struct Sample {
    std::size_t run_job;
    RateFactors::Key key;
    double factor;
    double seconds;
  };
  std::vector<Sample> samples;
  std::size_t offset = 0;
  for (const RoundRun& run : runs) {
    for (const Lease& lease : leases_of(workload, run, p)) {
      const RoundJob& job = workload.jobs[lease.job];
      const auto declared = workload.rates.find(job.model, lease.rate.batch_size, job.gpus);
      if (!declared || lease.rate.steps_per_s <= 0) continue;
      samples.push_back({offset + lease.job,
                         {job.model, job.mode, lease.rate.batch_size, job.gpus},
                         lease.rate.steps_per_s / *declared,
                         lease.planned_s});
    }
    offset += run.jobs.size();
  }
  // Work adds up, and so the mean over time, slow leases included.
  struct Work {
    double factor_seconds = 0;
    double seconds = 0;
  };
  std::map<RateFactors::Key, Work> by_key;
  for (const Sample& s : samples) {
    by_key[s.key].factor_seconds += s.factor * s.seconds;
    by_key[s.key].seconds += s.seconds;
  }
  std::map<RateFactors::Key, double> measured;
  for (const auto& [key, work] : by_key) measured[key] = work.factor_seconds / work.seconds;
  p.factors = RateFactors(measured);

  std::vector<double> configurations;
  std::vector<double> from_declared;
  for (const auto& [key, factor] : measured) {
    from_declared.push_back(std::abs(math::log(factor)));
    const auto& all = p.factors.all();
    configurations.push_back(
        math::log(factor / all.at({std::get<0>(key), std::get<1>(key), 0, 0})));
  }
  p.configuration_sd = robust_sd(std::move(configurations));
  if (!from_declared.empty()) p.campaign_sd = kSdOfMad * median(std::move(from_declared));
  std::map<std::size_t, std::vector<double>> by_job;
  std::vector<double> slow;
  for (const Sample& s : samples) {
    const double ratio = s.factor / measured.at(s.key);
    by_job[s.run_job].push_back(math::log(ratio));
    if (ratio < kStraggler) slow.push_back(ratio);
  }
  std::vector<double> jobs;
  std::vector<double> leases;
  for (const auto& [job, logs] : by_job) {
    const double middle = median(logs);
    jobs.push_back(middle);
    for (const double value : logs) leases.push_back(value - middle);
  }
  p.job_sd = robust_sd(std::move(jobs));
  p.lease_sd = robust_sd(std::move(leases));
  if (samples.empty()) return;
  p.straggler_share = static_cast<double>(slow.size()) / static_cast<double>(samples.size());
  if (!slow.empty()) p.straggler_factor = median(std::move(slow));
}

}  // namespace

RateFactors::RateFactors(const std::map<Key, double>& measured) : factors_(measured) {
  std::map<Key, std::vector<double>> open;
  for (const auto& [key, factor] : measured) {
    const auto& [model, mode, batch, gpus] = key;
    for (const Key& wider : {Key{model, mode, batch, 0}, Key{model, "", batch, 0},
                             Key{model, mode, 0, 0}, Key{model, "", 0, 0}}) {
      open[wider].push_back(factor);
    }
  }
  for (auto& [key, values] : open) factors_[key] = median(std::move(values));
}

double RateFactors::of(const RoundJob& job, std::int64_t batch_size) const {
  for (const Key& key : {Key{job.model, job.mode, batch_size, job.gpus},
                         Key{job.model, job.mode, batch_size, 0}, Key{job.model, "", batch_size, 0},
                         Key{job.model, job.mode, 0, 0}, Key{job.model, "", 0, 0}}) {
    const auto found = factors_.find(key);
    if (found != factors_.end()) return found->second;
  }
  return 1;
}

double RunParameters::start_cost(const std::string& model) const {
  const auto found = start_s.find(model);
  return found == start_s.end() ? unknown_start_s : found->second;
}

std::vector<int> starts_by_round(const RoundRun& run) {
  std::vector<int> starts(run.rounds.size(), 0);
  for (std::size_t k = 0; k < run.rounds.size(); ++k) {
    for (const Placed& placed : run.rounds[k]) starts[k] += continues(run, k, placed) ? 0 : 1;
  }
  return starts;
}

double weighted_median(std::vector<std::pair<double, double>> value_weight) {
  std::ranges::sort(value_weight);
  double total = 0;
  for (const auto& [value, weight] : value_weight) total += weight;
  double below = 0;
  for (const auto& [value, weight] : value_weight) {
    below += weight;
    if (below >= total / 2) return value;
  }
  return value_weight.back().first;
}

RunParameters fit_run_parameters(const RoundWorkload& workload, std::span<const RoundRun> runs,
                                 double round_s) {
  RunParameters p;
  p.round_s = round_s;
  if (runs.empty()) return p;
  fit_clock(workload, runs, p);
  fit_starts(workload, runs, p);
  fit_rates(workload, runs, p);
  return p;
}

}  // namespace corun::inline evaluation
