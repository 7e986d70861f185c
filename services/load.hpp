#pragma once

#include <cstdint>

#include "services/step_function.hpp"

/// Loads of a service: requests per second over time, from 0 to an end. Each is piecewise constant, so that
/// the event simulation and the approximation see the same load.
namespace corun::inline services {

struct RequestLoad {
  StepFunction per_s{0.0};  ///< [requests/s]
  Time end{0};              ///< no request arrives at or after it
};

/// [requests/s] that a load may have: above, gaps between requests would be below a nanosecond.
inline constexpr double kMostRequestsPerSecond = 1e9;

/// The mean rate over the whole load [requests/s]; 0 if it ends at 0.
double mean_rate(const RequestLoad& load);

// InputError for a rate that is not from 0 to kMostRequestsPerSecond, and for a time that is not above 0.

RequestLoad constant_load(double per_s, Time end);

/// A daily wave: rate(t) = mean_per_s (1 + swing cos(2 pi (t - peak) / period)), as `steps` steps of equal
/// length in each period; each step has the mean of the wave over it.
struct Diurnal {
  double mean_per_s = 0;
  double swing = 0.5;  ///< 0 to 1; the highest rate is (1 + swing) times the mean
  Duration period = std::chrono::hours(24);
  Time peak = std::chrono::hours(14);  ///< of the first period
  int steps = 96;
};
RequestLoad diurnal_load(const Diurnal& wave, Time end);

/// Bursts: two rates in turns, each for an exponentially distributed time, the base rate first. With Poisson
/// arrivals this is a Markov-modulated Poisson process of two states.
struct Bursts {
  double base_per_s = 0;
  double burst_per_s = 0;
  Duration mean_between{0};  ///< from the end of a burst to the next one
  Duration mean_length{0};
};
/// `entity` tells the services of a run apart: each has its own bursts.
RequestLoad burst_load(const Bursts& bursts, Time end, std::uint64_t seed,
                       std::uint64_t entity = 0);

}  // namespace corun::inline services
