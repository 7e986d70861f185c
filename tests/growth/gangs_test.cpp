#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/engine/detail_recorder.hpp"
#include "sim/engine/round_backend.hpp"
#include "sim/records/metrics.hpp"
#include "tests/helpers/scenarios.hpp"

/// The work of a run grows with the size of its gangs, not with the square. Counted are the basic blocks that the engine and
/// the policies execute (both are compiled for this program with -fsanitize-coverage=trace-pc), and memory that is
/// allocated, 64 bytes as a block: copies are one block.
namespace {

std::uint64_t executed_blocks = 0;

}  // namespace

// Each compiler has its own name for it, and clang-tidy reads this file.
#ifdef __clang__
#define CORUN_UNCOUNTED __attribute__((no_sanitize("coverage")))
#else
#define CORUN_UNCOUNTED __attribute__((no_sanitize_coverage))
#endif

/// Called by each basic block.
extern "C" CORUN_UNCOUNTED void __sanitizer_cov_trace_pc() { ++executed_blocks; }

CORUN_UNCOUNTED void* operator new(std::size_t bytes) {
  executed_blocks += bytes / 64;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace corun::test::gangs_test {
namespace {

struct Case {
  std::string_view policy;
  bool rounds = false;
};
[[maybe_unused]] void PrintTo(const Case& c, std::ostream* out) { *out << c.policy; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const PolicyEntry& entry : built_in_policies()) {
    all.push_back({entry.name, false});
    if (!entry.traits.always_colocates) all.push_back({entry.name, true});
  }
  return all;
}

std::string test_name(const testing::TestParamInfo<Case>& test) {
  std::string name(test.param.policy);
  std::ranges::replace(name, '-', '_');
  return name + (test.param.rounds ? "_in_rounds" : "");
}

/// Ten gangs of `gpus` / 4 to `gpus` GPUs, which share, wait for each other and preempt each other, and two small jobs; on
/// nodes of 8 GPUs, or for policies that place a job on one node, on nodes that hold any gang.
Scenario gangs(int gpus, bool one_node) {
  Scenario s;
  s.cluster = one_node ? cluster(2, gpus, 1, 1000) : cluster(2 * gpus / 8, 8, 1, 1000);
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 10; ++i) {
    const int gang = i % 3 == 0 ? gpus : i % 3 == 1 ? gpus / 2 : gpus / 4;
    jobs.push_back(job(seconds(1000 - 90 * i)).at(seconds(40 * i)).gpus(gang).memory(300).util(30));
  }
  jobs.push_back(job(seconds(50)).at(seconds(5)).memory(300).util(30));
  jobs.push_back(job(seconds(50)).at(seconds(100)).gpus(2).memory(300).util(90));
  s.workload = workload(std::move(jobs));
  s.options.control.start = StartMode::kJoin;
  return s;
}

/// Blocks that a run with all its records and metrics executes.
std::uint64_t blocks_of(const Case& c, int gpus) {
  const PolicyEntry& entry = *find_policy(c.policy);
  Scenario s = gangs(gpus, entry.traits.one_node);
  const ShareWorld world(0.25);
  Parameters parameters(entry.parameters);
  // Service is GPUs x time: with a fixed threshold jobs of larger gangs would come to the next queue sooner, and make
  // room for others more often.
  if (entry.name == "las") parameters.set("thresholds_s", std::vector<double>{100.0 * gpus});
  // A short search: its work is the same in each generation.
  if (entry.name == "pollux") parameters.set("generations", std::int64_t{10});
  const PolicyTraits traits = entry.traits_for(parameters);
  const auto policy = make_policy(entry, s.workload, world, 1, parameters);
  LevelSlices slices(Time{0}, s.cluster.gpu_count());
  DetailRecorder details(s.cluster, s.workload, policy->belief(), {1'000'000, 10'000'000, true},
                         &slices);
  const std::uint64_t before = executed_blocks;
  RunRecord record;
  if (c.rounds) {
    RoundBackend backend(s.cluster, s.workload, world, {seconds(60), {}});
    ControlLoop loop(backend, {*policy, "policy", traits}, job_views(s.workload), {});
    EventLog log;
    loop.run(&log, &details);
    record = backend.take_record();
  } else {
    RunOptions options = s.options;
    options.traits = traits;
    options.observer = &details;
    record = run(s.cluster, s.workload, world, *policy, options).record;
  }
  details.take();
  EXPECT_EQ(at(compute_metrics(record), Metric::kJobs), 12);
  return executed_blocks - before;
}

class Gangs : public testing::TestWithParam<Case> {};

TEST_P(Gangs, WorkGrowsWithTheirSize) {
  constexpr int kSmall = 256;
  constexpr int kTimes = 8;
  const std::uint64_t small = blocks_of(GetParam(), kSmall);
  const std::uint64_t large = blocks_of(GetParam(), kSmall * kTimes);
  EXPECT_GT(small, 10'000U) << "the engine is compiled without counting";
  // With the square it would be up to 64 times.
  EXPECT_LE(static_cast<double>(large), 1.5 * kTimes * static_cast<double>(small))
      << "blocks: " << small << ", and " << large << " for gangs that are " << kTimes
      << " times as large";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Gangs, testing::ValuesIn(cases()), test_name);

}  // namespace

}  // namespace corun::test::gangs_test
