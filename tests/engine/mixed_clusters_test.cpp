#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/jobs_on_types.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// No policy waits for GPUs that cannot be had: on clusters of nodes of different types and sizes every job that fits some
/// placement ends.
namespace corun::test::mixed_clusters_test {
namespace {

/// Nodes of 1 to 8 GPUs of 1 to 3 types, gangs of up to all GPUs, jobs that name types and ask for CPU and memory.
Scenario mixed_scenario(std::uint64_t seed, bool one_node) {
  Rng rng(seed, Stream::kTest, 50);
  Scenario s;
  s.seed = seed;
  std::vector<NodeSpec> nodes;
  const std::uint32_t types = 1 + rng.below(3);
  const std::uint32_t count = 1 + rng.below(5);
  for (std::uint32_t n = 0; n < count; ++n) {
    NodeSpec spec = of_type(rng.below(types), node(static_cast<int>(1 + rng.below(8)), 1, 1000));
    spec.cpu_milli = 1000 * (1 + rng.below(4));
    spec.memory_mib = 100 * (1 + rng.below(4));
    nodes.push_back(spec);
  }
  s.cluster = cluster(std::move(nodes));
  s.cluster.oom = {seconds(1), 1};
  if (rng.below(3) == 0) s.cluster.max_jobs_per_gpu = static_cast<int>(1 + rng.below(3));
  std::vector<JobSpec> jobs;
  const std::uint32_t most = 1 + rng.below(8);
  for (std::uint32_t i = 0; i < most; ++i) {
    JobBuilder j = job(seconds(1 + rng.below(100)));
    j.at(seconds(rng.below(4) * 20));
    if (rng.below(3) == 0) j.models(1U << rng.below(types));
    if (rng.below(4) == 0) j.memory(100 * (1 + rng.below(9)));
    j.util(100 * rng.uniform());
    JobSpec spec = j;
    // On some node, or on all of its types.
    const NodeSpec& host =
        s.cluster.nodes[rng.below(static_cast<std::uint32_t>(s.cluster.nodes.size()))];
    if (spec.gpu_models != 0) spec.gpu_models |= 1U << host.gpu.id;
    const bool wide = !one_node && rng.below(3) == 0;
    const int room = wide ? allowed_gpus(s.cluster, spec, false) : host.gpus;
    spec.gpus = static_cast<int>(1 + rng.below(static_cast<std::uint32_t>(room)));
    if (!wide && rng.below(3) == 0) {
      spec.request = {1 + rng.below(static_cast<std::uint32_t>(host.cpu_milli)),
                      1 + rng.below(static_cast<std::uint32_t>(host.memory_mib))};
    }
    jobs.push_back(spec);
  }
  s.workload = workload(std::move(jobs));
  s.options.control.start = rng.below(2) == 0 ? StartMode::kJoin : StartMode::kGroup;
  if (rng.below(4) > 0) {
    s.on_types = std::make_shared<DrawnOnTypes>(seed, false);
    s.options.on_types = views_on_types(*s.on_types, s.workload.jobs.size(), s.cluster);
  }
  return s;
}

Parameters mixed_parameters(const PolicyEntry& entry, const Scenario& s) {
  Parameters parameters = parameters_for(entry, s);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(entry.parameters, [&](const auto& p) { return p.name == name; });
  };
  if (has("mode")) {
    parameters.set("mode", std::string(s.seed % 2 == 0 ? "non-preemptive" : "preemptive"));
  }
  if (has("patience")) parameters.set("patience", s.seed % 3 == 0 ? 0.0 : 0.5);
  return parameters;
}

std::vector<std::string_view> policies() {
  std::vector<std::string_view> names;
  for (const PolicyEntry& entry : built_in_policies()) names.push_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string_view>& test) {
  std::string name(test.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

class MixedClusters : public testing::TestWithParam<std::string_view> {};

TEST_P(MixedClusters, EveryJobThatFitsEnds) {
  const PolicyEntry& entry = *find_policy(GetParam());
  std::size_t gangs = 0;
  for (std::uint64_t seed = 0; seed < random_runs(1000U); ++seed) {
    const Scenario s = mixed_scenario(seed, entry.traits.one_node);
    const ErraticWorld erratic(seed);
    const OnTypesWorld world(erratic, s.on_types.get());
    const Parameters parameters = mixed_parameters(entry, s);
    const auto policy = make_policy(entry, s.workload, world, seed, parameters);
    RunResult r;
    ASSERT_NO_THROW(r = run(s, world, *policy, entry.traits_for(parameters)))
        << entry.name << ", seed " << seed;
    for (std::size_t j = 0; j < r.record.jobs.size(); ++j) {
      const JobRecord& record = r.record.jobs[j];
      const bool ends = record.finish > record.submit;
      ASSERT_TRUE(ends) << entry.name << ", seed " << seed << ", job " << j;
      ASSERT_TRUE(record.end == JobEnd::kFinished || record.ooms > 0)
          << entry.name << ", seed " << seed << ", job " << j;
      gangs += record.gpus > 1;
    }
  }
  EXPECT_GT(gangs, random_finds(1000U));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, MixedClusters, testing::ValuesIn(policies()), test_name);

RunResult run_srsf(const ClusterSpec& spec, const OwnedWorkload& w, const std::string& mode,
                   const JobsOnTypes* on_types = nullptr) {
  const PolicyEntry& entry = *find_policy("srsf-packed");
  Parameters parameters(entry.parameters);
  parameters.set("mode", mode);
  const ShareWorld alone(0.5);
  const OnTypesWorld world(alone, on_types);
  RunOptions options;
  options.traits = entry.traits_for(parameters);
  if (on_types != nullptr) options.on_types = views_on_types(*on_types, w.jobs.size(), spec);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  return run(spec, w, world, *policy, options);
}

/// A gang of four: the faster type has four GPUs, but on two nodes.
TEST(SrsfPackedWaits, ForGpusOfANodeThatCanHoldTheGangOnly) {
  const ClusterSpec spec = cluster({of_type(0, node(2)), of_type(0, node(2)), of_type(1, node(4))});
  const TableOnTypes on_types({{OnType{1, 100}, OnType{0.4, 100}}});
  for (const char* mode : {"non-preemptive", "preemptive"}) {
    const RunResult r = run_srsf(spec, workload({job(seconds(100)).gpus(4)}), mode, &on_types);
    EXPECT_EQ(r.record.jobs[0].last_start, Time{0}) << mode;
    EXPECT_EQ(r.record.jobs[0].finish, seconds(250)) << mode;
  }
}

/// On large nodes, and for gangs that span many, a choice among thousands of GPUs is no delay.
TEST(SrsfPackedWaits, NotWhereThousandsOfGpusAreFree) {
  for (const char* mode : {"non-preemptive", "preemptive"}) {
    EXPECT_EQ(run_srsf(cluster(1, 2048), workload({job(seconds(9))}), mode).record.jobs[0].finish,
              seconds(9))
        << mode;
    EXPECT_EQ(run_srsf(cluster(1024, 8), workload({job(seconds(9)).gpus(16)}), mode)
                  .record.jobs[0]
                  .finish,
              seconds(9))
        << mode;
  }
}

}  // namespace
}  // namespace corun::test::mixed_clusters_test
