#include "sim/engine/cluster_noise.hpp"

#include <algorithm>
#include <array>

#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline sim {

namespace {

/// Draws of a job as a whole; those of its runs count from 1.
constexpr std::uint32_t kWholeJob = 0;

Rng draws_of(std::uint64_t seed, JobId job, std::uint32_t of) {
  const std::array<std::uint32_t, 2> entity{static_cast<std::uint32_t>(index(job)), of};
  return {seed, Stream::kClusterNoise, hash_entity(entity)};
}

Duration times(Duration median, double sigma, double z) {
  if (median == Duration::zero() || sigma == 0) return median;
  return from_nanoseconds(static_cast<double>(median.count()) * math::exp(sigma * z));
}

}  // namespace

RunNoise::Run RunNoise::draw(JobId job, std::uint32_t number) const {
  Run run;
  run.notice = notice;
  if (!start_cost.empty()) run.start_cost = start_cost[index(job)];
  if (!seed) return run;
  if (job_sigma > 0) run.speed = math::exp(job_sigma * draws_of(*seed, job, kWholeJob).normal());
  if (run_sigma == 0 && stragglers == 0 && start_sigma == 0 && notice_sigma == 0) return run;
  Rng rng = draws_of(*seed, job, number + 1);
  // In a fixed order, so that one sigma changes no draw of another.
  const double z_speed = rng.normal();
  const double z_start = rng.normal();
  const double z_notice = rng.normal();
  const double slow = rng.uniform();
  if (run_sigma > 0) run.speed *= math::exp(run_sigma * z_speed);
  if (slow < stragglers) run.speed *= straggler_speed;
  run.start_cost = times(run.start_cost, start_sigma, z_start);
  run.notice = times(run.notice, notice_sigma, z_notice);
  return run;
}

Duration RoundNoise::length(Duration declared, int starts, Time begins) const {
  double nanoseconds = static_cast<double>(declared.count()) +
                       static_cast<double>(per_start.count()) * static_cast<double>(starts);
  if (seed && sigma > 0) {
    const auto at = static_cast<std::uint64_t>(begins.count());
    Rng rng(*seed, Stream::kRoundNoise, at);
    nanoseconds *= math::exp(sigma * rng.normal());
  }
  return std::max(from_nanoseconds(nanoseconds), kShortestRun);
}

}  // namespace corun::inline sim
