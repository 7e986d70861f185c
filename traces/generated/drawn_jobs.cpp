#include "traces/generated/drawn_jobs.hpp"

#include <cmath>
#include <string>

#include "sim/base/math.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

double drawn_mean_solo_s() {
  return kDrawnSoloMedianS * math::exp(kDrawnSoloLogDeviation * kDrawnSoloLogDeviation / 2);
}

std::vector<DrawnJob> draw_jobs(int jobs, std::size_t choices,
                                std::optional<double> interarrival_mean_s, std::uint64_t seed) {
  if (jobs < 1) {
    throw InputError(
        "", "the number of jobs is " + std::to_string(jobs) + ", expected 1 or more; ask for some");
  }
  if (interarrival_mean_s && !(*interarrival_mean_s > 0 && std::isfinite(*interarrival_mean_s))) {
    throw InputError("", "the mean time between arrivals is " +
                             std::to_string(*interarrival_mean_s) +
                             " s, expected a number above 0; leave it out to submit all jobs at 0");
  }
  std::vector<DrawnJob> drawn;
  Rng arrivals(seed, Stream::kArrivals);
  double submit_s = 0;
  for (int i = 0; i < jobs; ++i) {
    // One entity per job: a longer trace of the same seed begins with the shorter one.
    const auto id = static_cast<std::uint64_t>(i);
    DrawnJob job;
    Rng choice(seed, Stream::kJobChoice, id);
    job.choice = choice.below(static_cast<std::uint32_t>(choices));
    if (interarrival_mean_s) submit_s += arrivals.exponential(*interarrival_mean_s);
    if (submit_s > kMaxTimeSeconds) {
      throw InputError(
          "", "job " + std::to_string(i) + " would arrive after " + std::to_string(submit_s) +
                  " s, expected all within 4e9 s; ask for fewer jobs or a higher load");
    }
    Rng length(seed, Stream::kSoloTimes, id);
    job.spec.submit = from_seconds(submit_s);
    job.spec.work =
        from_seconds(kDrawnSoloMedianS * math::exp(kDrawnSoloLogDeviation * length.normal()));
    drawn.push_back(job);
  }
  return drawn;
}

}  // namespace corun::inline traces
