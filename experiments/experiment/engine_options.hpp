#pragma once

#include <cstdint>

#include "experiments/config/config.hpp"
#include "sim/control_loop.hpp"
#include "sim/round_backend.hpp"
#include "sim/simulated_backend.hpp"

/// From a configuration to the options of the engine: the one translation, for replays and for live
/// queues.
namespace corun {

/// control.mode: rounds, in which whole groups start on empty GPUs.
bool runs_in_rounds(const Config& config);

/// control, profiling and probing; retries after running out of memory as cluster.oom has them. In
/// rounds a pass comes with every round, so that `round` stays 0.
ControlOptions control_options(const Config& config);

/// world.noise, profiling, probing, preemption and ticks. `seed` is that of the replication.
SimulationOptions simulation_options(const Config& config, std::uint64_t seed);

/// control.round_s, which a configuration of this mode has (std::bad_optional_access), and world.noise.
RoundOptions round_options(const Config& config, std::uint64_t seed);

}  // namespace corun
