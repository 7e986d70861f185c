#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/knowledge/statistic.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// A job's number is the row of its file. It is no rank: with the same jobs in other rows every job runs as
/// before. Ties may go by number, so all submit times, work and profiles differ here.
namespace corun::test::renumbering_test {
namespace {

/// Speeds in [0.2, 1], drawn for each set of jobs by the names of the jobs.
class NamedWorld final : public World {
 public:
  /// `names[j]` is the name of JobId j.
  NamedWorld(std::uint64_t seed, std::vector<std::uint32_t> names)
      : seed_(seed), names_(std::move(names)) {}

  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise,
                    std::span<double> out) const override {
    const auto names_of = [this](std::span<const JobId> jobs) {
      std::vector<std::uint32_t> names;
      for (const JobId j : jobs) names.push_back(names_[index(j)]);
      std::ranges::sort(names);
      return names;
    };
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::vector<std::uint32_t> key = names_of(co_runners.residents);
      key.push_back(0xffffffffU);
      for (const std::uint32_t name : names_of(co_runners.formed)) key.push_back(name);
      key.push_back(names_[index(co_runners.residents[i])]);
      key.push_back(static_cast<std::uint32_t>(noise.value_or(0)));
      if (co_runners.gpu_type != 0) key.push_back(co_runners.gpu_type);
      out[i] = 0.2 + 0.8 * Rng(seed_, Stream::kTest, hash_entity(key)).uniform();
    }
    return Provenance::kMeasured;
  }

 private:
  std::uint64_t seed_;
  std::vector<std::uint32_t> names_;
};

/// A scenario in which no two jobs are alike.
Scenario distinct_scenario(std::uint64_t seed, bool types = false) {
  // Probes of equally unknown pairs are ties.
  Scenario s = random_scenario(seed, {.probing = false, .types = types});
  s.options.simulation.noise_seed.reset();
  Rng rng(seed, Stream::kTest, 20);
  for (JobSpec& j : s.workload.jobs) {
    j.submit = from_seconds(1 + 40 * rng.uniform());
    j.work = from_seconds(1 + 30 * rng.uniform());
    j.profile.gpu_util_pct = 100 * rng.uniform();
    j.profile.mem_alloc_pct = 100 * rng.uniform();
    j.profile.mem_time_pct = 100 * rng.uniform();
  }
  s.workload = workload(std::move(s.workload.jobs));
  return s;
}

/// Job `names[i]` of the scenario becomes job i.
Scenario renumbered(const Scenario& s, std::span<const std::uint32_t> names) {
  Scenario other = s;
  for (std::size_t i = 0; i < names.size(); ++i) {
    other.workload.jobs[i] = s.workload.jobs[names[i]];
  }
  other.workload = workload(std::move(other.workload.jobs));
  return other;
}

/// Numbers a job keeps in any run, by name: first start, last start, end, GPU, failures, preemptions.
using Story =
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint32_t, int, int>>;

Story story(const RunResult& r, std::span<const std::uint32_t> names) {
  Story s(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const JobRecord& j = r.record.jobs[i];
    s[names[i]] = {j.first_start.value_or(kNever).count(),
                   j.last_start.count(),
                   j.finish.count(),
                   static_cast<std::uint32_t>(index(j.gpu)),
                   j.ooms,
                   j.preemptions};
  }
  return s;
}

std::vector<std::uint32_t> in_order(std::size_t jobs) {
  std::vector<std::uint32_t> names(jobs);
  std::iota(names.begin(), names.end(), 0U);
  return names;
}

std::vector<std::uint32_t> shuffled(std::size_t jobs, std::uint64_t seed) {
  std::vector<std::uint32_t> names = in_order(jobs);
  Rng rng(seed, Stream::kTest, 21);
  rng.shuffle(std::span(names));
  return names;
}

/// What the policies believe.
enum class Believed : std::uint8_t {
  kClusters,  ///< the means of clusters of profiles
  kTruth,     ///< the costs of each pair: no two are equal
};

RunResult run_with(const PolicyEntry& entry, const Scenario& s,
                   std::span<const std::uint32_t> names, std::uint64_t seed, Believed believed,
                   double epsilon = 0) {
  const NamedWorld co_runs(s.seed, {names.begin(), names.end()});
  const DrawnOnTypes on_types(s.seed, false, {names.begin(), names.end()});
  const OnTypesWorld world(co_runs, s.on_types ? &on_types : nullptr);
  Parameters parameters = parameters_for(entry, s);
  for (const ParameterSpec& p : entry.parameters) {
    if (p.name == "epsilon") parameters.set("epsilon", epsilon);
  }
  const bool plan_once = s.seed % 5 == 0;
  std::unique_ptr<Policy> policy;
  if (believed == Believed::kTruth && entry.needs_for(parameters) == PolicyNeeds::kBelief) {
    std::vector<Duration> solo;
    for (const JobSpec& j : s.workload.jobs) solo.push_back(j.work);
    policy = entry.make({parameters, std::make_unique<TruthBelief>(world, std::move(solo), false),
                         seed, plan_once});
  } else {
    policy = make_policy(entry, s.workload, world, seed, parameters, plan_once);
  }
  Scenario numbered = s;
  if (!s.options.on_types.empty()) {
    numbered.options.on_types = views_on_types(on_types, s.workload.jobs.size(), s.cluster);
  }
  return run(numbered, world, *policy, entry.traits_for(parameters));
}

/// incremental-matching pairs jobs, and beliefs about clusters hold many to be alike.
bool ties(const PolicyEntry& entry, Believed believed) {
  return entry.name == "incremental-matching" && believed == Believed::kClusters;
}

/// `random` draws, also without exploration.
bool draws(const PolicyEntry& entry) { return entry.name == "random"; }
bool explores(const PolicyEntry& entry) {
  return std::ranges::any_of(entry.parameters,
                             [](const ParameterSpec& p) { return p.name == "epsilon"; });
}

std::vector<std::string_view> policies_that(bool (*are)(const PolicyEntry&)) {
  std::vector<std::string_view> names;
  for (const PolicyEntry& e : built_in_policies()) {
    if (are(e)) names.push_back(e.name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string_view>& test) {
  std::string name(test.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

class Renumbering : public testing::TestWithParam<std::string_view> {};
class RenumberingOfDraws : public testing::TestWithParam<std::string_view> {};

TEST_P(Renumbering, ChangesNothing) {
  const PolicyEntry& entry = *find_policy(GetParam());
  for (const Believed believed : {Believed::kClusters, Believed::kTruth}) {
    if (ties(entry, believed)) continue;
    int runs = 0;
    for (std::uint64_t seed = 0; seed < random_runs(400U); ++seed) {
      const Scenario s = distinct_scenario(seed, seed % 4 == 3);
      if (!can_run(entry, s)) continue;
      const auto before = in_order(s.workload.jobs.size());
      const auto after = shuffled(s.workload.jobs.size(), seed);
      ASSERT_EQ(story(run_with(entry, s, before, seed, believed), before),
                story(run_with(entry, renumbered(s, after), after, seed, believed), after))
          << entry.name << ", seed " << seed;
      ++runs;
    }
    EXPECT_GT(runs, random_finds(200));
  }
}

/// Policies that draw: the mean completion time over many seeds stays.
TEST_P(RenumberingOfDraws, KeepsTheDistribution) {
  const PolicyEntry& entry = *find_policy(GetParam());
  constexpr int kSeeds = 400;
  for (std::uint64_t scenario = 0; scenario < std::max(1U, random_runs(8U)); ++scenario) {
    const Scenario s = distinct_scenario(scenario);
    const auto before = in_order(s.workload.jobs.size());
    const auto after = shuffled(s.workload.jobs.size(), scenario);
    const Scenario other = renumbered(s, after);
    Statistic differences;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto jct = [&](const Scenario& of, const std::vector<std::uint32_t>& names) {
        return at(
            compute_metrics(run_with(entry, of, names, seed, Believed::kClusters, 0.5).record),
            Metric::kJctS);
      };
      const double difference = jct(other, after) - jct(s, before);
      if (!std::isnan(difference)) differences.add(difference);
    }
    const double sd = std::sqrt(differences.variance() / kSeeds);
    EXPECT_LE(std::fabs(differences.mean()), 4 * sd + 1e-9)
        << entry.name << ", scenario " << scenario;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, Renumbering,
    testing::ValuesIn(policies_that([](const PolicyEntry& e) { return !draws(e); })), test_name);
INSTANTIATE_TEST_SUITE_P(Catalogue, RenumberingOfDraws,
                         testing::ValuesIn(policies_that([](const PolicyEntry& e) {
                           return draws(e) || explores(e);
                         })),
                         test_name);

}  // namespace
}  // namespace corun::test::renumbering_test
