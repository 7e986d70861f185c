#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/job.hpp"

/// Jobs drawn from a table of workloads that have no number of steps or epochs.
namespace corun::inline traces {

/// The solo time of a job is log-normal with this median and this standard deviation of its logarithm,
/// by choice and not by measurement: half of the jobs take between 6 and 16 minutes, one in a hundred
/// more than 50.
inline constexpr double kDrawnSoloMedianS = 600;
inline constexpr double kDrawnSoloLogDeviation = 0.7;

/// Expected solo time [s], to convert a load into a mean time between arrivals.
double drawn_mean_solo_s();

struct DrawnJob {
  std::size_t choice = 0;  ///< below the number of choices
  JobSpec spec;            ///< with submit time and work only
};

/// `jobs` jobs, each a choice of `choices`, uniformly and with replacement. With a mean, arrivals are a
/// Poisson process from time 0 with that mean between arrivals [s]; without, all are submitted at 0. A
/// longer list of the same seed begins with the shorter one. `choices` must not be 0.
///
/// InputError if jobs < 1, the mean is not above 0 or the last arrival lies beyond 4e9 s.
std::vector<DrawnJob> draw_jobs(int jobs, std::size_t choices,
                                std::optional<double> interarrival_mean_s, std::uint64_t seed);

}  // namespace corun::inline traces
