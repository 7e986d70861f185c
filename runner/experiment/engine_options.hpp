#pragma once

#include <cstdint>

#include "runner/config/config.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/round_backend.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/records/run_details.hpp"

/// Translates a configuration into options of the engine, for replays and live queues.
namespace corun::inline runner {

/// Whether control.mode is rounds.
bool runs_in_rounds(const Config& config);

/// Options from control, profiling, probing and cluster.oom.retries. In rounds every round has a
/// pass, so `round` stays 0.
ControlOptions control_options(const Config& config);

/// The seeds of one replication (draws.hpp).
struct RunSeeds {
  std::uint64_t costs = 0;   ///< of co-runs
  std::uint64_t speeds = 0;  ///< alone, on GPU types
  std::uint64_t estimates = 0;
  std::uint64_t choices = 0;
  std::uint64_t cluster = 0;   ///< speeds of jobs, starts, reports, rounds
  std::uint64_t requests = 0;  ///< of services
};

/// Whether speeds of jobs, starts, reports or rounds vary, if there is noise.
bool cluster_draws(const Config& config);

/// Options from world.noise, profiling, probing, preemption, control.tick_*, and RunNoise without its costs of starts.
SimulationOptions simulation_options(const Config& config, const RunSeeds& seeds);

/// Of the rounds of control.mode: events; none without control.round_s.
RoundNoise round_noise(const Config& config, const RunSeeds& seeds);

/// Options from control.round_s and world.noise. Throws std::bad_optional_access without
/// control.round_s, which check_together() requires in this mode.
RoundOptions round_options(const Config& config, const RunSeeds& seeds);

/// What results have of a replication: measure.details, and the bounds of docs/results.md.
DetailLimits detail_limits(const Config& config, std::size_t replication);

}  // namespace corun::inline runner
