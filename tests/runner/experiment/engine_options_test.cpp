#include "runner/experiment/engine_options.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"

namespace corun::engine_options_test {
namespace {

using std::chrono::seconds;

Config with(const std::vector<std::string>& overrides) {
  return default_config_with(parse_overrides(overrides), policy_catalog());
}

TEST(EngineOptions, TheDefaultConfigurationHasTheEnginesDefaults) {
  const Config config = with({});
  const ControlOptions control = control_options(config);
  const ControlOptions usual;
  EXPECT_FALSE(runs_in_rounds(config));
  EXPECT_EQ(control.start, usual.start);
  EXPECT_EQ(control.profiling, usual.profiling);
  EXPECT_EQ(control.round, usual.round);
  EXPECT_EQ(control.reallocate, usual.reallocate);
  EXPECT_EQ(control.oom_retries, usual.oom_retries);
  EXPECT_EQ(control.probes, usual.probes);
  EXPECT_EQ(control.probe_length, usual.probe_length);
  const SimulationOptions simulation = simulation_options(config, {.costs = 7, .speeds = 8});
  EXPECT_EQ(simulation.noise_seed, 7U);
  EXPECT_EQ(simulation.types_seed, 8U);
  EXPECT_EQ(simulation.tick, Duration::zero());
  EXPECT_EQ(simulation.sink, nullptr);
}

TEST(EngineOptions, EveryKeyReachesItsOption) {
  const Config config =
      with({"control={start: join, round_s: 5, reallocate_s: 60, tick_s: 2, tick_rule: progress}",
            "cluster.oom={ramp_s: 9, retries: 1}", "profiling={mode: epoch, keeps_progress: true}",
            "preemption={save_s: 3, restore_s: 4, lost_work: 0.5}", "world.noise=false"});
  const ControlOptions control = control_options(config);
  EXPECT_EQ(control.start, StartMode::kJoin);
  EXPECT_EQ(control.profiling, ProfilingMode::kEpoch);
  EXPECT_EQ(control.round, seconds{5});
  EXPECT_EQ(control.reallocate, seconds{60});
  EXPECT_EQ(control.oom_retries, 1);
  const SimulationOptions simulation = simulation_options(config, {.costs = 7, .speeds = 8});
  EXPECT_FALSE(simulation.noise_seed.has_value()) << "world.noise: false";
  EXPECT_FALSE(simulation.types_seed.has_value());
  EXPECT_TRUE(simulation.profile_epoch);
  EXPECT_TRUE(simulation.profiling_keeps_progress);
  EXPECT_FALSE(simulation.probes_keep_progress);
  EXPECT_EQ(simulation.preemption.save, seconds{3});
  EXPECT_EQ(simulation.preemption.restore, seconds{4});
  EXPECT_EQ(simulation.preemption.lost_work, 0.5);
  EXPECT_EQ(simulation.tick, seconds{2});
  EXPECT_EQ(simulation.tick_rule, TickRule::kProgress);
  const Config probing = with({"probing={probes: 2, seconds: 30, keeps_progress: true}"});
  EXPECT_EQ(control_options(probing).probes, 2);
  EXPECT_EQ(control_options(probing).probe_length, seconds{30});
  EXPECT_TRUE(simulation_options(probing, {}).probes_keep_progress);
}

TEST(EngineOptions, EveryWayOfProfiling) {
  const std::vector<std::pair<std::string, ProfilingMode>> modes{
      {"none", ProfilingMode::kNone},
      {"epoch", ProfilingMode::kEpoch},
      {"minute", ProfilingMode::kMinute},
      {"predictor", ProfilingMode::kPredictor}};
  for (const auto& [word, mode] : modes) {
    EXPECT_EQ(control_options(with({"profiling.mode=" + word})).profiling, mode) << word;
  }
}

TEST(EngineOptions, InRoundsTheLengthIsTheBackends) {
  const Config config = with({"control={mode: rounds, round_s: 360}"});
  EXPECT_TRUE(runs_in_rounds(config));
  EXPECT_EQ(round_options(config, {.costs = 3}).round, seconds{360});
  EXPECT_EQ(round_options(config, {.costs = 3}).noise_seed, 3U);
  EXPECT_EQ(control_options(config).round, Duration::zero());
}

}  // namespace
}  // namespace corun::engine_options_test
