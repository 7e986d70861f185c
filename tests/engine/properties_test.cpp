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

#include "tests/helpers/invariants.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// Properties of every run, over thousands of random small traces and every policy of the catalogue.
/// invariants_test.cpp shows that each check can fail.
namespace corun::test::properties_test {
namespace {

// Policies see no name, no model and no data set: the types of their view own no text.
static_assert(std::is_trivially_copyable_v<JobView>);
static_assert(std::is_trivially_copyable_v<ViewOnType>);
static_assert(std::is_trivially_copyable_v<Profile>);
static_assert(std::is_trivially_copyable_v<ResourceRequest>);
static_assert(std::is_trivially_copyable_v<MemberOutcome>);
static_assert(std::is_trivially_copyable_v<ClusterView>);

Facts facts(const Scenario& s, const World& world, const RunResult& r, const PolicyTraits& traits) {
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
          .join = s.options.control.start == StartMode::kJoin || traits.always_colocates,
          .probe_length = s.options.control.probe_length,
          .probes_keep_progress = s.options.simulation.probes_keep_progress,
          .preemption = s.options.simulation.preemption,
          .preempts = traits.preempts};
}

std::string first_few(const Violations& v) {
  std::string out;
  for (std::size_t i = 0; i < v.size() && i < 5; ++i) out += "\n  " + v[i];
  return out;
}

enum class Property : std::uint8_t {
  kRandomTraces,     ///< runs over random traces and breaks no rule
  kSharesGpus,       ///< some of its episodes begin with a job and go on with another
  kLetsJobsRun,      ///< preempts no job
  kPreemptsForJobs,  ///< if it preempts: not only for replicas of services
  kPreemptsOften,    ///< if it preempts: some job in a third of the random traces
  kOrderOfTheQueue,  ///< decides the same for any order of the queue
  kOrderOfJoins,     ///< the same where jobs join running ones
};

/// Every policy of the catalogue has every property, with these exceptions. Tests check that the exceptions
/// lack it.
struct Exception {
  std::string_view policy;
  Property property;
  std::string_view reason;
};

constexpr std::string_view kOneByOne = "every job has its GPUs to itself";
constexpr std::string_view kPreempts = "takes GPUs from running jobs";
constexpr std::string_view kKeepsTypes =
    "a job that has started keeps its GPU type, and mostly its GPUs";
constexpr std::string_view kGangsStay =
    "moves jobs mostly to resize them, and the jobs of these traces are not elastic";
constexpr std::string_view kNoServices = "only for services, of which these traces have none";
constexpr std::string_view kByAge = "the oldest comes first";
constexpr std::string_view kTiesByAge = "of equal jobs the oldest comes first";

constexpr std::array kExceptions{
    Exception{"external", Property::kRandomTraces, "starts a program: external_test.cpp"},
    Exception{"external-shares", Property::kRandomTraces, "starts a program: external_test.cpp"},
    Exception{"exclusive", Property::kSharesGpus, kOneByOne},
    Exception{"fifo", Property::kSharesGpus, kOneByOne},
    Exception{"sjf", Property::kSharesGpus, kOneByOne},
    Exception{"srtf", Property::kSharesGpus, kOneByOne},
    Exception{"las", Property::kSharesGpus, kOneByOne},
    Exception{"srsf", Property::kSharesGpus, kOneByOne},
    Exception{"tiresias", Property::kSharesGpus, kOneByOne},
    Exception{"blox", Property::kSharesGpus, kOneByOne},
    Exception{"optimus", Property::kSharesGpus, kOneByOne},
    Exception{"pollux", Property::kSharesGpus, kOneByOne},
    Exception{"sia", Property::kSharesGpus, kOneByOne},
    Exception{"fifo-packed", Property::kSharesGpus, "its pairs start together"},
    Exception{"fifo-packed", Property::kLetsJobsRun, kPreempts},
    Exception{"srtf", Property::kLetsJobsRun, kPreempts},
    Exception{"las", Property::kLetsJobsRun, kPreempts},
    Exception{"srsf", Property::kLetsJobsRun, kPreempts},
    Exception{"tiresias", Property::kLetsJobsRun, kPreempts},
    Exception{"blox", Property::kLetsJobsRun, kPreempts},
    Exception{"optimus", Property::kLetsJobsRun, kPreempts},
    Exception{"pollux", Property::kLetsJobsRun, kPreempts},
    Exception{"sia", Property::kLetsJobsRun, kPreempts},
    Exception{"srsf-packed", Property::kLetsJobsRun, kPreempts},
    Exception{"sharing-las", Property::kLetsJobsRun, kPreempts},
    Exception{"priority", Property::kSharesGpus, kNoServices},
    Exception{"priority", Property::kPreemptsForJobs, kNoServices},
    Exception{"fcfs", Property::kOrderOfTheQueue, kByAge},
    Exception{"kube-default", Property::kOrderOfTheQueue, kByAge},
    Exception{"exclusive", Property::kOrderOfTheQueue, kByAge},
    Exception{"fifo", Property::kOrderOfTheQueue, kByAge},
    Exception{"fifo-packed", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"sjf", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"srtf", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"las", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"srsf", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"tiresias", Property::kOrderOfTheQueue, kByAge},
    Exception{"blox", Property::kOrderOfTheQueue, kByAge},
    Exception{"optimus", Property::kOrderOfTheQueue, kByAge},
    Exception{"lucid", Property::kOrderOfTheQueue, kByAge},
    Exception{"fgd", Property::kOrderOfTheQueue, kByAge},
    Exception{"best-fit", Property::kOrderOfTheQueue, kByAge},
    Exception{"dot-product", Property::kOrderOfTheQueue, kByAge},
    Exception{"gpu-packing", Property::kOrderOfTheQueue, kByAge},
    Exception{"schedtune", Property::kOrderOfTheQueue, kByAge},
    Exception{"proactive", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"reactive", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"max-min", Property::kSharesGpus, kOneByOne},
    Exception{"max-min-water-filling", Property::kSharesGpus, kOneByOne},
    Exception{"finish-time-fairness", Property::kSharesGpus, kOneByOne},
    Exception{"makespan", Property::kSharesGpus, kOneByOne},
    Exception{"max-throughput", Property::kSharesGpus, kOneByOne},
    Exception{"isolated", Property::kSharesGpus, kOneByOne},
    Exception{"allox", Property::kSharesGpus, kOneByOne},
    Exception{"gandiva", Property::kSharesGpus, "its pairs start together"},
    Exception{"fifo-by-type", Property::kSharesGpus, kOneByOne},
    Exception{"max-min", Property::kLetsJobsRun, kPreempts},
    Exception{"max-min-water-filling", Property::kLetsJobsRun, kPreempts},
    Exception{"finish-time-fairness", Property::kLetsJobsRun, kPreempts},
    Exception{"makespan", Property::kLetsJobsRun, kPreempts},
    Exception{"max-throughput", Property::kLetsJobsRun, kPreempts},
    Exception{"isolated", Property::kLetsJobsRun, kPreempts},
    Exception{"allox", Property::kLetsJobsRun, kPreempts},
    Exception{"gandiva", Property::kLetsJobsRun, kPreempts},
    Exception{"fifo-by-type", Property::kLetsJobsRun, kPreempts},
    Exception{"allox", Property::kPreemptsOften, kKeepsTypes},
    Exception{"fifo-by-type", Property::kPreemptsOften, kKeepsTypes},
    Exception{"optimus", Property::kPreemptsOften, kGangsStay},
    Exception{"sia", Property::kPreemptsOften, kGangsStay},
    Exception{"pollux", Property::kOrderOfTheQueue, "its search draws for the jobs in their order"},
    Exception{"sia", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"max-min", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"max-min-water-filling", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"finish-time-fairness", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"makespan", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"max-throughput", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"isolated", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"allox", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"gandiva", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"fifo-by-type", Property::kOrderOfTheQueue, kTiesByAge},
    Exception{"incremental-matching", Property::kOrderOfJoins, "the oldest joins"},
};

bool is_exception(std::string_view policy, Property property) {
  return std::ranges::any_of(kExceptions, [&](const Exception& e) {
    return e.policy == policy && e.property == property;
  });
}

std::vector<std::string_view> policies_with(Property property) {
  std::vector<std::string_view> names;
  for (const PolicyEntry& e : policy_catalog()) {
    if (!is_exception(e.name, Property::kRandomTraces) && !is_exception(e.name, property)) {
      names.push_back(e.name);
    }
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string_view>& test) {
  std::string name(test.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TEST(PropertyExceptions, AreOfTheCatalogue) {
  for (const Exception& e : kExceptions) {
    EXPECT_NE(find_policy(e.policy), nullptr) << e.policy << ": " << e.reason;
  }
  for (const PolicyEntry& entry : policy_catalog()) {
    EXPECT_EQ(is_exception(entry.name, Property::kRandomTraces), needs_program(entry))
        << entry.name;
  }
}

class Properties : public testing::TestWithParam<std::string_view> {};

TEST_P(Properties, InvariantsHoldOnRandomTraces) {
  const PolicyEntry& entry = *find_policy(GetParam());
  std::map<LogKind, int> seen;
  int runs = 0, joined = 0;
  bool profiled = false, probed = false;
  for (std::uint64_t seed = 0; seed < random_runs(3000U); ++seed) {
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
    const PolicyTraits traits = entry.traits_for(parameters_for(entry, s));
    const auto policy = make();
    const RunResult r = run(s, world, *policy, traits);
    profiled |= traits.measures_profiles ||
                (policy->belief() != nullptr && policy->belief()->needs_profile());
    probed |= policy->probe_planner() != nullptr;
    const Violations v = check_all(facts(s, world, r, traits));
    ASSERT_TRUE(v.empty()) << entry.name << ", seed " << seed << first_few(v);
    if (seed % 4 == 0) {  // the same run again gives equal entries
      const auto again = make();
      const RunResult second = run(s, world, *again, traits);
      ASSERT_EQ(r.log, second.log) << entry.name << ", seed " << seed;
      ASSERT_EQ(r.passes, second.passes);
    }
    for (const LogEntry& e : r.log) ++seen[e.kind];
    for (const EpisodeRecord& e : r.record.episodes) joined += !e.together;
    ++runs;
  }
  // The traces cover the intended cases.
  EXPECT_GT(runs, random_finds(2000));
  EXPECT_GT(seen[LogKind::kFinish], random_finds(8000));
  EXPECT_GT(seen[LogKind::kOom], random_finds(100));
  EXPECT_GT(seen[LogKind::kFail], random_finds(50));
  if (is_exception(entry.name, Property::kSharesGpus)) {
    EXPECT_EQ(joined, 0) << entry.name << " shares GPUs: it is no exception from kSharesGpus";
  } else {
    EXPECT_GT(joined, random_finds(200))
        << entry.name << " does not share GPUs. Where it is not meant to: kExceptions";
  }
  const auto happens = [&](LogKind kind) { return seen[kind] > random_finds(1000); };
  const auto never = [&](LogKind kind) { return seen[kind] == 0; };
  const bool preempts = is_exception(entry.name, Property::kLetsJobsRun);
  const bool often = !is_exception(entry.name, Property::kPreemptsOften);
  const int preemptions = seen[LogKind::kPreempt];
  EXPECT_TRUE(!preempts ? preemptions == 0
              : often   ? preemptions > random_finds(1000)
                        : preemptions > 0 && preemptions <= random_runs(1000))
      << preemptions << ' ' << entry.name << ": kLetsJobsRun, see kExceptions";
  const bool for_services = is_exception(entry.name, Property::kPreemptsForJobs);
  EXPECT_EQ(entry.traits_for(Parameters(entry.parameters)).preempts, preempts || for_services)
      << entry.name;
  EXPECT_EQ(entry.traits_for(Parameters(entry.parameters)).takes_probes, probed) << entry.name;
  EXPECT_TRUE(profiled ? happens(LogKind::kProfile) : never(LogKind::kProfile));
  EXPECT_TRUE(probed ? happens(LogKind::kProbed) : never(LogKind::kProbed));
}

/// Jobs name types and differ between them. The cluster is a part of a larger one: its types have any numbers.
TEST_P(Properties, InvariantsHoldOnSeveralGpuTypes) {
  const PolicyEntry& entry = *find_policy(GetParam());
  ScenarioLimits limits;
  limits.types = true;
  int runs = 0, restricted = 0, ran_out = 0, across = 0, probed = 0;
  for (std::uint64_t seed = 0; seed < random_runs(1500U); ++seed) {
    Scenario s = random_scenario(seed, limits);
    if (!can_run(entry, s)) continue;
    const bool plan_once = seed % 5 == 0;
    if (plan_once) s.options.control.probes = 0;
    const ErraticWorld erratic(seed);
    const OnTypesWorld world(erratic, s.on_types.get());
    const Parameters parameters = parameters_for(entry, s);
    const PolicyTraits traits = entry.traits_for(parameters);
    const auto policy = make_policy(entry, s.workload, world, seed, parameters, plan_once);
    const RunResult r = run(s, world, *policy, traits);
    const Violations v = check_all(facts(s, world, r, traits));
    ASSERT_TRUE(v.empty()) << entry.name << ", seed " << seed << first_few(v);
    for (const LogEntry& e : r.log) {
      const bool starts = e.kind == LogKind::kStart || e.kind == LogKind::kProfile;
      restricted += starts && s.workload.jobs[index(e.job)].gpu_models != 0;
      ran_out += e.kind == LogKind::kOom;
      probed += e.kind == LogKind::kProbe;
      const ClusterState state(s.cluster);
      across += std::ranges::any_of(
          e.gpus, [&](GpuId g) { return state.gpu_type(g).id != state.gpu_type(e.gpus[0]).id; });
    }
    ++runs;
  }
  EXPECT_GT(runs, random_finds(900));
  EXPECT_GT(restricted, random_finds(1000));
  EXPECT_GT(ran_out, random_finds(100));
  EXPECT_EQ(across > 0, !entry.traits.one_node) << across;
  EXPECT_EQ(probed > 0, entry.traits_for(Parameters(entry.parameters)).takes_probes) << probed;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Properties,
                         testing::ValuesIn(policies_with(Property::kRandomTraces)), test_name);

/// The decisions of a fresh policy on this view, with the queue in this order.
std::vector<Decision> decide(const PolicyEntry& entry, const Scenario& s, const World& world,
                             const ClusterState& state, std::span<const JobId> waiting,
                             StartMode mode) {
  const auto policy = make_policy(entry, s.workload, world, s.seed, parameters_for(entry, s));
  const std::vector<JobView> jobs = job_views(s.workload);
  std::vector<Decision> out;
  for (const JobId j : waiting) policy->arrived(jobs[index(j)], seconds(5));
  policy->decide(ClusterView(seconds(5), mode, waiting, jobs, state, 0, 1), out);
  return out;
}

std::string text(const std::vector<Decision>& decisions) {
  std::string out;
  for (const Decision& d : decisions) {
    if (const auto* start = std::get_if<StartGroup>(&d)) {
      for (const JobId j : start->jobs) out += std::to_string(index(j)) + " ";
      for (const GpuId g : start->gpus) out += "@" + std::to_string(index(g)) + " ";
    } else if (const auto* preempt = std::get_if<Preempt>(&d)) {
      for (const JobId j : preempt->jobs) out += "-" + std::to_string(index(j)) + " ";
    } else {
      out += "wake " + std::to_string(std::get<WakeAt>(d).at.count());
    }
    out += "; ";
  }
  return out;
}

/// How often a shuffled queue leads to other decisions, and of how many.
struct OrderCount {
  int decisions = 0;
  int others = 0;
  std::uint64_t seed = 0;  ///< of the last other
};

OrderCount count_orders(std::string_view name, StartMode mode) {
  const PolicyEntry& entry = *find_policy(name);
  ScenarioLimits limits;
  limits.gangs = limits.profiling = limits.rounding = false;
  OrderCount count;
  for (std::uint64_t seed = 0; seed < random_runs(300U); ++seed) {
    const Scenario s = random_scenario(seed, limits);
    if (s.cluster.max_jobs_per_gpu == 1) continue;  // no choice: by age
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
    count.decisions += !expected.empty();
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      rng.shuffle(std::span<JobId>(waiting));
      if (text(decide(entry, s, world, state, waiting, mode)) == expected) continue;
      ++count.others;
      count.seed = seed;
    }
  }
  return count;
}

constexpr const char* kOrderHint =
    ": another order of the queue, another decision. Let ties go by JobId; where the oldest is "
    "meant "
    "to go first: kExceptions";

class OrderOfTheQueue : public testing::TestWithParam<std::string_view> {};

TEST_P(OrderOfTheQueue, DoesNotMatterToGroups) {
  const OrderCount count = count_orders(GetParam(), StartMode::kGroup);
  EXPECT_EQ(count.others, 0) << "seed " << count.seed << kOrderHint;
  EXPECT_GT(count.decisions, random_finds(30));
}

TEST_P(OrderOfTheQueue, DoesNotMatterToJoins) {
  if (is_exception(GetParam(), Property::kOrderOfJoins)) return;
  const OrderCount count = count_orders(GetParam(), StartMode::kJoin);
  EXPECT_EQ(count.others, 0) << "seed " << count.seed << kOrderHint;
  // A policy under which jobs share no GPU has nothing to decide there.
  if (is_exception(GetParam(), Property::kSharesGpus)) return;
  EXPECT_GT(count.decisions, random_finds(30));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, OrderOfTheQueue,
                         testing::ValuesIn(policies_with(Property::kOrderOfTheQueue)), test_name);

TEST(PropertyExceptions, GoByTheOrderOfTheQueue) {
  for (const Exception& e : kExceptions) {
    const bool joins = e.property == Property::kOrderOfJoins;
    if (!joins && e.property != Property::kOrderOfTheQueue) continue;
    const StartMode mode = joins ? StartMode::kJoin : StartMode::kGroup;
    EXPECT_GT(count_orders(e.policy, mode).others, 0) << e.policy << ": " << e.reason;
  }
}

/// Data that policies may not see must have no effect: the same trace in a world with other keys of the
/// workloads leads to the same first decision of every policy that does not read the truth.
TEST(Blindness, WorkAndWorldDoNotReachADecision) {
  ScenarioLimits limits;
  limits.profiling = limits.rounding = false;
  for (const PolicyEntry& entry : built_in_policies()) {
    if (entry.needs == PolicyNeeds::kTruth || entry.traits.needs_estimates) continue;  // granted it
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
}  // namespace corun::test::properties_test
