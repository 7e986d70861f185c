#include "tests/helpers/reference_simulator.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// The engine against a naive fixed-step simulator, first on traces whose every event lies on the grid of
/// the steps, where the two must agree exactly, then on any traces, within a few steps.
namespace corun::test::reference_simulator_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kPolicies[] = {"fcfs",         "random",  "exclusive", "opposites",
                                          "min-slowdown", "balance", "oracle"};

// Whole seconds, one GPU speed, shared speed 1/2, pairs, group start: all events lie on half seconds. (A
// pair ends at t + 2 a, the other job has b - a left; beside a joining job that fails after r it has done r
// / 2.) Ties are many, and both must settle them alike.
TEST(Reference, AgreesExactlyOnTheGrid) {
  ScenarioLimits limits;
  limits.profiling = limits.probing = limits.rounding = limits.any_limit = false;
  limits.whole_seconds = true;
  const ShareWorld world(1);
  int jobs = 0, ooms = 0;
  for (std::uint64_t seed = 0; seed < random_runs(400U); ++seed) {
    Scenario s = random_scenario(seed, limits);
    s.options.control.start = StartMode::kGroup;
    for (const std::string_view name : kPolicies) {
      const PolicyEntry& entry = *find_policy(name);
      const auto policy = make_policy(entry, s.workload, world, seed);
      const RunResult engine = run(s, world, *policy, entry.traits);
      const auto again = make_policy(entry, s.workload, world, seed);
      const ReferenceResult reference =
          simulate_in_steps(s.cluster, s.workload, world, *again, StartMode::kGroup, 500ms);
      for (std::size_t j = 0; j < s.workload.jobs.size(); ++j) {
        ASSERT_EQ(engine.record.jobs[j].finish, reference.finish[j])
            << name << ", seed " << seed << ", job " << j;
        ASSERT_EQ(engine.record.jobs[j].ooms, reference.ooms[j]);
        ooms += reference.ooms[j];
        ++jobs;
      }
    }
  }
  EXPECT_GT(jobs, random_finds(10000));
  EXPECT_GT(ooms, random_finds(500));
}

// As before, on several GPU types: each job has its own speed on each, 1/2, 1 or 2, and its own demand.
TEST(Reference, AgreesExactlyOnTypes) {
  ScenarioLimits limits;
  limits.profiling = limits.probing = limits.rounding = limits.any_limit = false;
  limits.whole_seconds = limits.types = true;
  const ShareWorld co_runs(1);
  int jobs = 0, ooms = 0, faster = 0, slower = 0;
  for (std::uint64_t seed = 0; seed < random_runs(300U); ++seed) {
    Scenario s = random_scenario(seed, limits);
    s.options.control.start = StartMode::kGroup;
    const OnTypesWorld world(co_runs, s.on_types.get());
    for (const std::string_view name : kPolicies) {
      const PolicyEntry& entry = *find_policy(name);
      const auto policy = make_policy(entry, s.workload, world, seed);
      const RunResult engine = run(s, world, *policy, entry.traits);
      const auto again = make_policy(entry, s.workload, world, seed);
      const ReferenceResult reference =
          simulate_in_steps(s.cluster, s.workload, world, *again, StartMode::kGroup, 500ms);
      for (std::size_t j = 0; j < s.workload.jobs.size(); ++j) {
        const JobRecord& record = engine.record.jobs[j];
        ASSERT_EQ(record.finish, reference.finish[j]) << name << ", seed " << seed << ", job " << j;
        ASSERT_EQ(record.ooms, reference.ooms[j]);
        ooms += reference.ooms[j];
        ++jobs;
        if (record.end != JobEnd::kFinished) continue;
        ASSERT_EQ(record.solo, reference.solo[j]) << name << ", seed " << seed << ", job " << j;
        ASSERT_EQ(record.reference_solo, record.work);
        faster += record.solo < record.work;
        slower += record.solo > record.work;
      }
    }
  }
  EXPECT_GT(jobs, random_finds(7000));
  EXPECT_GT(ooms, random_finds(300));
  EXPECT_GT(faster, random_finds(1000));
  EXPECT_GT(slower, random_finds(1000));
}

// Any speeds, any times, both start modes, any co-runners. An end comes up to a step late, and so do the
// starts after it. If two events lie within a few steps of each other the naive simulator may order them
// differently: such traces are left out, and must be few.
TEST(Reference, AgreesWithinAFewStepsOnAnyTrace) {
  ScenarioLimits limits;
  limits.profiling = limits.probing = limits.rounding = limits.any_limit = false;
  limits.jobs = 6;
  constexpr Duration kStep = 2ms;
  int compared = 0, passed_over = 0;
  for (std::uint64_t seed = 0; seed < random_runs(100U); ++seed) {
    limits.types = seed % 4 > 1;
    Scenario s = random_scenario(seed + 1000, limits);
    s.options.simulation.noise_seed.reset();
    for (JobSpec& j : s.workload.jobs) {  // shorter, and arrivals on the grid
      j.work = j.work / 4 + 100ms;
      j.submit = round_up(j.submit / 2, kStep);
    }
    s.workload = workload(std::move(s.workload.jobs));
    s.cluster.oom.ramp = 700ms;
    const ErraticWorld erratic(seed);
    const ShareWorld share(0.1 + 0.13 * static_cast<double>(seed % 9));
    const OnTypesWorld world(seed % 2 == 0 ? static_cast<const World&>(erratic) : share,
                             s.on_types.get());
    for (const std::string_view name : kPolicies) {
      const PolicyEntry& entry = *find_policy(name);
      const auto again = make_policy(entry, s.workload, world, seed);
      const ReferenceResult reference =
          simulate_in_steps(s.cluster, s.workload, world, *again, s.options.control.start, kStep);
      if (reference.smallest_gap < 12 * kStep) {
        ++passed_over;
        continue;
      }
      const auto policy = make_policy(entry, s.workload, world, seed);
      const RunResult engine = run(s, world, *policy, entry.traits);
      for (std::size_t j = 0; j < s.workload.jobs.size(); ++j) {
        const Duration off = reference.finish[j] - engine.record.jobs[j].finish;
        ASSERT_LE(std::abs(off.count()), (10 * kStep).count())
            << name << ", seed " << seed << ", job " << j;
        ASSERT_EQ(engine.record.jobs[j].ooms, reference.ooms[j]);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, random_finds(300));
  EXPECT_LT(passed_over, 2 * compared);
}

}  // namespace
}  // namespace corun::test::reference_simulator_test
