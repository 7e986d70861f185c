#include "runner/experiment/engine_options.hpp"

#include <optional>

#include "sim/time.hpp"

namespace corun::inline runner {

namespace {

Duration seconds_or_zero(const std::optional<double>& seconds) {
  return seconds ? from_seconds(*seconds) : Duration::zero();
}

std::optional<std::uint64_t> noise_seed(const Config& config, std::uint64_t seed) {
  return config.world.noise ? std::optional(seed) : std::nullopt;
}

}  // namespace

bool runs_in_rounds(const Config& config) { return config.control.mode == ControlMode::kRounds; }

ControlOptions control_options(const Config& config) {
  ControlOptions options;
  options.start = config.control.start;
  options.profiling = config.profiling.mode;
  if (!runs_in_rounds(config)) options.round = seconds_or_zero(config.control.round_s);
  options.reallocate = seconds_or_zero(config.control.reallocate_s);
  options.oom_retries = static_cast<int>(config.cluster.oom.retries);
  options.probes = static_cast<int>(config.probing.probes);
  options.probe_length = from_seconds(config.probing.seconds);
  return options;
}

bool cluster_draws(const Config& config) {
  const WorldConfig& world = config.world;
  return world.job_sigma > 0 || world.run_sigma > 0 || world.stragglers > 0 ||
         config.cluster.start.sigma > 0 || config.control.notice_sigma > 0 ||
         config.control.round_sigma > 0;
}

SimulationOptions simulation_options(const Config& config, const RunSeeds& seeds) {
  SimulationOptions options;
  options.noise_seed = noise_seed(config, seeds.costs);
  options.types_seed = noise_seed(config, seeds.speeds);
  options.profile_epoch = config.profiling.mode == ProfilingMode::kEpoch;
  options.profiling_keeps_progress = config.profiling.keeps_progress;
  options.probes_keep_progress = config.probing.keeps_progress;
  const PreemptionConfig& costs = config.preemption;
  options.preemption = {from_seconds(costs.save_s), from_seconds(costs.restore_s), costs.lost_work};
  if (costs.large_gang) options.preemption.large_gang = static_cast<int>(*costs.large_gang);
  options.preemption.large_restore = from_seconds(costs.large_restore_s);
  options.preemption.adds_up = costs.adds_up;
  options.noise.start_sigma = config.cluster.start.sigma;
  options.noise.notice = from_seconds(config.control.notice_s);
  options.noise.notice_sigma = config.control.notice_sigma;
  options.noise.job_sigma = config.world.job_sigma;
  options.noise.run_sigma = config.world.run_sigma;
  options.noise.stragglers = config.world.stragglers;
  options.noise.straggler_speed = config.world.straggler_speed;
  if (cluster_draws(config)) options.noise.seed = noise_seed(config, seeds.cluster);
  options.tick = seconds_or_zero(config.control.tick_s);
  options.tick_rule = config.control.tick_rule;
  return options;
}

RoundNoise round_noise(const Config& config, const RunSeeds& seeds) {
  if (!config.control.round_s) return {};
  return {from_seconds(config.control.round_per_start_s), config.control.round_sigma,
          noise_seed(config, seeds.cluster)};
}

RoundOptions round_options(const Config& config, const RunSeeds& seeds) {
  return {from_seconds(config.control.round_s.value()), noise_seed(config, seeds.costs),
          noise_seed(config, seeds.speeds)};
}

DetailLimits detail_limits(const Config& config, std::size_t replication) {
  constexpr std::size_t kReplications = 20;
  constexpr std::size_t kCoRuns = 5'000;
  constexpr std::size_t kEvents = 400'000;
  DetailLimits limits;
  if (!config.measure.details || replication >= kReplications) return limits;
  limits.co_runs = kCoRuns;
  if (replication > 0) return limits;
  limits.events = kEvents;
  limits.slices = true;
  return limits;
}

}  // namespace corun::inline runner
