#pragma once

#include <cstdint>
#include <optional>

#include "traces/trace.hpp"

/// Seeded synthetic workloads: arrival times, gang sizes and run times of jobs.
///
/// Arrivals with mean rate r [1/s]:
///   poisson   gaps are exponential with mean 1 / r
///   bursty    gaps are gamma distributed with mean 1 / r and coefficient of variation c
///             (`variation`): shape 1 / c^2, scale c^2 / r; c = 1 is poisson, with c above 1 jobs come
///             in bursts
///   diurnal   a Poisson process of rate r * (1 + a * cos(2 pi (t / day - 15 / 24))), a =
///             `amplitude`: most jobs at three in the afternoon, fewest at three at night; drawn
///             by thinning (Lewis and Shedler 1979)
///
/// Jobs like those of a trace: each takes its requests (gang, share, models, node resources, virtual
/// cluster, priority, profile, workload) from a job of the trace drawn uniformly. Its run time is drawn
/// from the run times of the trace's jobs of the same gang size: their empirical quantile function,
/// interpolated between order statistics on a log scale, so that all run times lie within the observed
/// range.
///
/// Without such a trace: gangs of 1, 2, 4, 8 and 16 GPUs in shares of 70, 10, 8, 10 and 2 %, run times
/// lognormal with median 600 s and sigma 2, at most 30 days. These are round numbers in the range of the
/// public traces, not a fit to one.
///
/// Times are rounded to milliseconds. Draws are keyed by (seed, job): a longer trace of the same seed and
/// rate begins with the shorter one, also a diurnal or bursty one.
namespace corun::inline traces {

enum class ArrivalPattern : std::uint8_t { kPoisson, kBursty, kDiurnal };

struct SyntheticOptions {
  std::uint32_t jobs = 1000;
  std::uint64_t seed = 1;
  ArrivalPattern pattern = ArrivalPattern::kPoisson;
  double variation = 4;    ///< of bursty arrivals, above 0
  double amplitude = 0.8;  ///< of diurnal arrivals, 0 to 1
  /// Mean arrival rate [1/s]; empty: the rate at which the expected work of the jobs is `load` of `gpus`
  /// GPUs.
  std::optional<double> rate;
  double load = 0.8;
  double gpus = 64;
  const Trace* like = nullptr;
};

/// Expected run time x GPUs of one job [GPU s].
double expected_gpu_seconds(const SyntheticOptions& options);

/// InputError if the last job would be submitted after kMaxTimeSeconds.
Trace synthetic_trace(const SyntheticOptions& options);

}  // namespace corun::inline traces
