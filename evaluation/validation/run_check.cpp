#include "evaluation/validation/run_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "evaluation/validation/allocation_replay.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline evaluation {

namespace {

constexpr double kClockTolerance = 0.03;
constexpr double kRateTolerance = 0.1;
constexpr double kRunTimeTolerance = 0.1;
/// Beyond a round, in which a limit is noticed late.
constexpr double kLimitTolerance = 0.02;
constexpr double kShortOfLimit = 0.9;
/// Jobs that may pass a limit for reasons of their own.
constexpr double kFewJobs = 0.02;

}  // namespace

RunCheck check_run(const RoundWorkload& workload, const RoundRun& run, const RunParameters& p) {
  RunCheck check;
  check.run = run.name;
  const std::vector<double> begins =
      round_starts(workload, run, p.round_s, without_noise(workload, p));
  std::vector<double> given(run.jobs.size(), 0);
  for (std::size_t k = 0; k < run.rounds.size(); ++k) {
    for (const Placed& placed : run.rounds[k]) {
      given[placed.job] += begins[k + 1] - begins[k];
      if (!continues(run, k, placed)) {
        given[placed.job] -= p.start_cost(workload.jobs[placed.job].model);
      }
    }
  }
  std::vector<double> clocks;
  std::vector<double> run_times;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    const std::size_t last = run.rounds_of[j].back();
    const double modelled = (begins[last] + begins[last + 1]) / 2 - begins.front();
    clocks.push_back((run.jobs[j].finish_s - begins.front()) / modelled);
    const double run_s = std::max(given[j] - (begins[last + 1] - begins[last]) / 2, 1.0);
    run_times.push_back(std::abs(run_s / std::max(run.jobs[j].run_s, 1.0) - 1));
  }
  check.clock = median(std::move(clocks));
  check.run_time = median(std::move(run_times));
  std::vector<double> rates;
  for (const MeasuredRate& rate : run.rates) {
    const RoundJob& job = workload.jobs[rate.job];
    const auto declared = workload.rates.find(job.model, rate.batch_size, job.gpus);
    if (declared)
      rates.push_back(rate.steps_per_s / (*declared * p.factors.of(job, rate.batch_size)));
  }
  if (!rates.empty()) check.rates = median(std::move(rates));
  return check;
}

std::vector<std::string> hints_of(const RoundWorkload& workload, const RoundRun& run,
                                  const RunCheck& check, double limit, double round_s) {
  std::vector<std::string> hints;
  if (check.run_time > kRunTimeTolerance) {
    hints.push_back(fmt::format(
        "{}: allocations and run times do not fit: the rounds of a job give it {:.0f} % more or "
        "less time than gpu_run_s (median); do rounds.csv and jobs.csv belong together?",
        run.name, 100 * check.run_time));
  }
  if (std::abs(check.clock - 1) > kClockTolerance) {
    hints.push_back(
        fmt::format("{}: the length of a round does not fit: finishes come {:.3f} times as late as "
                    "its rounds say; is the declared length of {:g} s right (--round)?",
                    run.name, check.clock, round_s));
  }
  if (std::abs(check.rates - 1) > kRateTolerance) {
    hints.push_back(fmt::format(
        "{}: rates do not fit: leases ran at {:.3f} times the fitted speed (median); were they "
        "measured with other software or GPUs?",
        run.name, check.rates));
  }
  std::size_t beyond = 0;
  double largest = 0;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    const double declared = workload.jobs[j].declared_s;
    const double ratio = run.jobs[j].run_s / declared;
    largest = std::max(largest, ratio);
    if (ratio > limit * (1 + kLimitTolerance) + 1.5 * round_s / declared) ++beyond;
  }
  if (static_cast<double>(beyond) > kFewJobs * static_cast<double>(run.jobs.size())) {
    hints.push_back(fmt::format(
        "{}: {} of {} jobs ran for longer than the run-time limit of {:g} x the declared run time "
        "allows (largest {:.2f}); if the run had another limit, declare it: --limit {}=FACTOR",
        run.name, beyond, run.jobs.size(), limit, largest, run.name));
  } else if (largest < kShortOfLimit * limit) {
    hints.push_back(fmt::format(
        "{}: no job came near the run-time limit of {:g} x the declared run time (largest {:.2f}); "
        "if the run had another limit, declare it: --limit {}=FACTOR",
        run.name, limit, largest, run.name));
  }
  return hints;
}

}  // namespace corun::inline evaluation
