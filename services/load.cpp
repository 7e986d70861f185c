#include "services/load.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::inline services {
namespace {

/// Most steps of a load: a file of a year by seconds has 3e7.
constexpr double kMostSteps = 5e7;

void check_rate(double per_s, const char* what) {
  if (per_s >= 0 && per_s <= kMostRequestsPerSecond) return;
  throw InputError(what, "found " + std::to_string(per_s) +
                             " requests per second, expected 0 to 1e9; correct it");
}

void check_positive(Duration time, const char* what) {
  if (time > Duration::zero()) return;
  throw InputError(what, "found " + std::to_string(to_seconds(time)) +
                             " s, expected a time above 0; correct it");
}

/// sin(2 pi turn). The series has the same bits with every library; its first term left out is below 1e-16.
double sine_of_turn(double turn) {
  turn -= std::floor(turn);
  double sign = 1;
  if (turn >= 0.5) {
    turn -= 0.5;
    sign = -1;
  }
  if (turn > 0.25) turn = 0.5 - turn;
  constexpr double kTwoPi = 6.283185307179586;
  const double x = kTwoPi * turn;
  double term = x;
  double sum = x;
  for (int n = 3; n < 23; n += 2) {
    term *= -x * x / (n * (n - 1));
    sum += term;
  }
  return sign * sum;
}

}  // namespace

double mean_rate(const RequestLoad& load) {
  if (load.end <= Time{0}) return 0;
  double requests = 0;
  const auto steps = load.per_s.steps();
  for (std::size_t i = 0; i < steps.size() && steps[i].begin < load.end; ++i) {
    requests +=
        steps[i].value * to_seconds(std::min(load.per_s.end_of(i), load.end) - steps[i].begin);
  }
  return requests / to_seconds(load.end);
}

RequestLoad constant_load(double per_s, Time end) {
  check_rate(per_s, "rate of a load");
  check_positive(end, "end of a load");
  return {StepFunction(per_s), end};
}

RequestLoad diurnal_load(const Diurnal& wave, Time end) {
  check_rate(wave.mean_per_s, "mean rate of a diurnal load");
  check_positive(end, "end of a load");
  check_positive(wave.period, "period of a diurnal load");
  if (!(wave.swing >= 0 && wave.swing <= 1)) {
    throw InputError("swing of a diurnal load",
                     "found " + std::to_string(wave.swing) + ", expected 0 to 1; correct it");
  }
  if (wave.steps < 2 || wave.steps > 1'000'000 || wave.period.count() < wave.steps) {
    throw InputError("steps of a diurnal load",
                     "found " + std::to_string(wave.steps) + ", expected 2 to 1000000; correct it");
  }
  check_rate(wave.mean_per_s * (1 + wave.swing), "highest rate of a diurnal load");
  const double periods = to_seconds(end) / to_seconds(wave.period);
  if (periods * wave.steps > kMostSteps) {
    throw InputError("steps of a diurnal load",
                     "more than 5e7 steps until its end; take fewer steps or a longer period");
  }
  // The mean of cos over a step is the difference of sin at its ends over the step's length.
  const double phase = to_seconds(wave.peak) / to_seconds(wave.period);
  constexpr double kTwoPi = 6.283185307179586;
  std::vector<Step> steps;
  for (std::int64_t i = 0;; ++i) {
    const Time begin = (i / wave.steps) * wave.period +
                       Duration{wave.period.count() / wave.steps * (i % wave.steps)};
    if (begin >= end) break;
    const double from = static_cast<double>(i % wave.steps) / wave.steps - phase;
    const double to = static_cast<double>(i % wave.steps + 1) / wave.steps - phase;
    const double mean = (sine_of_turn(to) - sine_of_turn(from)) * wave.steps / kTwoPi;
    steps.push_back({begin, std::max(0.0, wave.mean_per_s * (1 + wave.swing * mean))});
  }
  return {StepFunction(std::move(steps)), end};
}

RequestLoad burst_load(const Bursts& bursts, Time end, std::uint64_t seed, std::uint64_t entity) {
  check_rate(bursts.base_per_s, "base rate of a load with bursts");
  check_rate(bursts.burst_per_s, "rate in bursts");
  check_positive(end, "end of a load");
  check_positive(bursts.mean_between, "mean time between bursts");
  check_positive(bursts.mean_length, "mean length of bursts");
  const double turns =
      to_seconds(end) / (to_seconds(bursts.mean_between) + to_seconds(bursts.mean_length));
  if (turns > kMostSteps / 4) {
    throw InputError("bursts of a load",
                     "more than 1e7 bursts until its end; make them longer or rarer");
  }
  Rng rng(seed, Stream::kLoadBursts, entity);
  std::vector<Step> steps;
  Time now{0};
  for (bool burst = false; now < end; burst = !burst) {
    steps.push_back({now, burst ? bursts.burst_per_s : bursts.base_per_s});
    const Duration mean = burst ? bursts.mean_length : bursts.mean_between;
    now = later(now, std::max(from_seconds(rng.exponential(to_seconds(mean))), Duration{1}));
  }
  return {StepFunction(std::move(steps)), end};
}

}  // namespace corun::inline services
