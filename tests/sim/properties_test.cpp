#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/invariants.hpp"
#include "tests/support/scenarios.hpp"

/// What must hold of every run, over thousands of random small traces and every policy of the
/// catalogue. That each check can fail is shown in invariants_test.cpp.
namespace corun::test {
namespace {

// Policies see no name, no model and no data set: what they are shown cannot hold a string.
static_assert(std::is_trivially_copyable_v<JobView>);
static_assert(std::is_trivially_copyable_v<Profile>);
static_assert(std::is_trivially_copyable_v<ResourceRequest>);
static_assert(std::is_trivially_copyable_v<MemberOutcome>);
static_assert(std::is_trivially_copyable_v<ClusterView>);

Facts facts(const Scenario& s, const World& world, const RunResult& r, bool joins) {
  return {.workload = s.workload,
          .cluster = s.cluster,
          .world = world,
          .record = r.record,
          .log = r.log,
          .noise_seed = s.options.simulation.noise_seed,
          .tick = s.options.simulation.tick,
          .round = s.options.control.round,
          .minute = s.options.simulation.profiling_minute,
          .epoch = s.options.control.profiling == ProfilingMode::kEpoch,
          .keeps_progress = s.options.simulation.profiling_keeps_progress,
          .join = s.options.control.start == StartMode::kJoin || joins,
          .probe_length = s.options.control.probe_length,
          .probes_keep_progress = s.options.simulation.probes_keep_progress,
          .preemption = s.options.simulation.preemption};
}

std::string first_few(const Violations& v) {
  std::string out;
  for (std::size_t i = 0; i < v.size() && i < 5; ++i) out += "\n  " + v[i];
  return out;
}

class Properties : public testing::TestWithParam<std::string_view> {};

TEST_P(Properties, InvariantsHoldOnRandomTraces) {
  const PolicyEntry& entry = *find_policy(GetParam());
  std::map<LogKind, int> seen;
  int runs = 0, joined = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Scenario s = random_scenario(seed);
    if (!can_run(entry, s)) continue;
    const bool plan_once = seed % 5 == 0;
    if (plan_once) s.options.control.probes = 0;
    const ErraticWorld erratic(seed);
    const ShareWorld share(0.25 * static_cast<double>(seed % 7));
    const World& world = seed % 3 == 0 ? static_cast<const World&>(share) : erratic;
    const auto make = [&] {
      return make_policy(entry, s.workload, world, seed, parameters_for(entry, s), plan_once);
    };
    const auto policy = make();
    const RunResult r = run(s, world, *policy);
    const Violations v = check_all(facts(s, world, r, policy->joins_always()));
    ASSERT_TRUE(v.empty()) << entry.name << ", seed " << seed << first_few(v);
    if (seed % 4 == 0) {  // the same again, to the last entry
      const auto again = make();
      const RunResult second = run(s, world, *again);
      ASSERT_EQ(r.log, second.log) << entry.name << ", seed " << seed;
      ASSERT_EQ(r.passes, second.passes);
    }
    for (const LogEntry& e : r.log) ++seen[e.kind];
    for (const EpisodeRecord& e : r.record.episodes) joined += !e.together;
    ++runs;
  }
  // The traces reach what they are meant to reach.
  EXPECT_GT(runs, 2000);
  EXPECT_GT(seen[LogKind::kFinish], 8000);
  EXPECT_GT(seen[LogKind::kOom], 100);
  EXPECT_GT(seen[LogKind::kFail], 50);
  constexpr std::array<std::string_view, 6> kAlone = {"exclusive", "fifo", "sjf",
                                                      "srtf",      "las",  "fifo-packed"};
  if (std::ranges::find(kAlone, entry.name) == kAlone.end()) {
    EXPECT_GT(joined, 200);
  } else {
    EXPECT_EQ(joined, 0);
  }
  if (entry.name == "srtf" || entry.name == "las" || entry.name == "fifo-packed") {
    EXPECT_GT(seen[LogKind::kPreempt], 1000);
  } else {
    EXPECT_EQ(seen[LogKind::kPreempt], 0);
  }
  if (entry.needs == PolicyNeeds::kBelief) {
    EXPECT_GT(seen[LogKind::kProfile], 1000);
    // Two have none of their jobs probed.
    if (entry.name != "fifo-packed" && entry.name != "incremental-matching") {
      EXPECT_GT(seen[LogKind::kProbed], 1000);
    }
  } else {
    EXPECT_EQ(seen[LogKind::kProbe], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Properties, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const PolicyEntry& e : built_in_policies()) names.push_back(e.name);
                           return names;
                         }()),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The decisions of a fresh policy on this view, with the queue in this order.
std::vector<Decision> decide(const PolicyEntry& entry, const Scenario& s, const World& world,
                             const ClusterState& state, std::span<const JobId> waiting,
                             StartMode mode) {
  const auto policy = make_policy(entry, s.workload, world, s.seed, parameters_for(entry, s));
  const std::vector<JobView> jobs = faces(s.workload);
  std::vector<Decision> out;
  policy->decide(ClusterView(seconds(5), mode, waiting, jobs, state, 0, 1), out);
  return out;
}

std::string text(const std::vector<Decision>& decisions) {
  std::string out;
  for (const Decision& d : decisions) {
    if (const auto* start = std::get_if<StartGroup>(&d)) {
      for (const JobId j : start->jobs) out += std::to_string(index(j)) + " ";
      for (const GpuId g : start->gpus) out += "@" + std::to_string(index(g)) + " ";
    } else {
      out += "wake " + std::to_string(std::get<WakeAt>(d).at.count());
    }
    out += "; ";
  }
  return out;
}

/// The queue in another order must not matter to those who do not go by age.
void order_does_not_matter(std::string_view name, StartMode mode) {
  const PolicyEntry& entry = *find_policy(name);
  ScenarioLimits limits;
  limits.gangs = limits.profiling = limits.rounding = false;
  int decisions = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Scenario s = random_scenario(seed, limits);
    if (s.cluster.max_jobs_per_gpu == 1) continue;  // nobody to choose: by age
    const ErraticWorld world(seed);
    ClusterState state(s.cluster);
    std::vector<JobId> waiting;
    for (std::uint32_t i = 0; i < s.workload.jobs.size(); ++i) waiting.push_back(J(i));
    Rng rng(seed, Stream::kTest, 3);
    if (mode == StartMode::kJoin) {  // one resident on every GPU
      for (std::uint32_t g = 0; g < state.gpus().size() && waiting.size() > 1; ++g) {
        state.add(G(g), waiting.back(), false);
        waiting.pop_back();
      }
      if (!state.empty_gpus().empty()) continue;
    }
    const std::string expected = text(decide(entry, s, world, state, waiting, mode));
    decisions += !expected.empty();
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      rng.shuffle(std::span<JobId>(waiting));
      ASSERT_EQ(text(decide(entry, s, world, state, waiting, mode)), expected)
          << name << ", seed " << seed;
    }
  }
  EXPECT_GT(decisions, 30);
}

constexpr std::array<std::string_view, 6> kAgeless = {"random",      "opposites",    "balance",
                                                      "max-packing", "min-slowdown", "oracle"};

class OrderOfTheQueue : public testing::TestWithParam<std::string_view> {};

TEST_P(OrderOfTheQueue, DoesNotMatterToGroups) {
  order_does_not_matter(GetParam(), StartMode::kGroup);
}

TEST_P(OrderOfTheQueue, DoesNotMatterToJoins) {
  order_does_not_matter(GetParam(), StartMode::kJoin);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OrderOfTheQueue, testing::ValuesIn(kAgeless),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// What policies may not see must not matter: the same trace in a world that knows other workloads
/// by other keys leads to the same first decision of every policy that does not read the truth.
TEST(Blindness, WorkAndWorldDoNotReachADecision) {
  ScenarioLimits limits;
  limits.profiling = limits.rounding = false;
  for (const PolicyEntry& entry : built_in_policies()) {
    if (entry.needs == PolicyNeeds::kTruth || entry.needs_estimates) continue;  // granted it
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Scenario s = random_scenario(seed, limits);
      ClusterState state(s.cluster);
      std::vector<JobId> waiting;
      for (std::uint32_t i = 0; i < s.workload.jobs.size(); ++i) {
        if (s.workload.jobs[i].gpus == 1) waiting.push_back(J(i));
      }
      if (waiting.empty()) continue;
      const ErraticWorld world(seed);
      const std::string expected = text(decide(entry, s, world, state, waiting, StartMode::kGroup));
      for (JobSpec& j : s.workload.jobs) {
        j.work *= 3;
        j.epoch.reset();
      }
      const ShareWorld other(1);
      EXPECT_EQ(text(decide(entry, s, other, state, waiting, StartMode::kGroup)), expected)
          << entry.name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace corun::test
