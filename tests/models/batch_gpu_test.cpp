#include "models/batch/batch_gpu.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "models/batch/batch_engine.hpp"
#include "tests/support/batch_cases.hpp"
#include "tests/support/fiber_cuda.hpp"
// After it: its CUDA is that of the fibers.
#include "models/batch/batch_gpu.cuh"

namespace corun::test {
namespace {

/// As BatchReplay does it, for one plan under many seeds: what came back, by replication.
struct Result {
  MetricValues metrics;
  BatchSums sums;
};
std::map<std::size_t, Result> on_gpu(const BatchGpu& gpu, const BatchCase& c,
                                     std::size_t replications, const BatchGpu::Options& options,
                                     std::uint32_t widest = BatchShape::kMostOnGpu) {
  const BatchExperiment experiment(c.cluster, c.workload);
  std::vector<std::unique_ptr<BatchEngine>> engines;
  for (unsigned t = 0; t < options.threads; ++t) {
    engines.push_back(std::make_unique<BatchEngine>(experiment, *c.world));
  }
  const BatchShape shape{experiment.workload().jobs, experiment.workload().gpus,
                         static_cast<std::uint32_t>(c.groups.size()), widest};
  std::map<std::size_t, Result> results;
  std::vector<int> filled(replications, 0);
  std::mutex mutex;
  const auto fill = [&](unsigned thread, std::size_t r, const BatchInput& input) {
    engines[thread]->fill(c.groups, r, shape, input);
    ++filled[r];
  };
  const auto take = [&](unsigned, std::size_t r, const BatchOutput& output) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(filled[r], 1);
    if (output.counted[0] == 0) return;
    EXPECT_TRUE(results.emplace(r, Result{metrics_of(output, shape), sums_of(output)}).second);
  };
  gpu.run(experiment.workload(), shape, replications, fill, take, options);
  EXPECT_EQ(std::ranges::count(filled, 1), static_cast<std::ptrdiff_t>(replications));
  return results;
}

void expect_right(const std::map<std::size_t, Result>& results, const BatchCase& c) {
  const BatchExperiment experiment(c.cluster, c.workload);
  BatchEngine engine(experiment, *c.world);
  for (const auto& [r, result] : results) {
    ASSERT_TRUE(engine.run(c.groups, r));
    const BatchSums& sums = engine.sums();
    EXPECT_EQ(result.sums.passes, sums.passes);
    EXPECT_EQ(result.sums.busy_ns, sums.busy_ns);
    EXPECT_EQ(result.sums.util_s, sums.util_s);
    EXPECT_EQ(result.sums.util_known_s, sums.util_known_s);
    EXPECT_EQ(result.sums.mem_s, sums.mem_s);
    EXPECT_EQ(result.sums.mem_known_s, sums.mem_known_s);
    for (int p = 0; p < 4; ++p) EXPECT_EQ(result.sums.corun_s[p], sums.corun_s[p]);
    ASSERT_EQ(first_difference(engine.metrics(), result.metrics), "") << "replication " << r;
  }
}

/// A case with noise and company, so that replications differ.
BatchCase lively_case(std::uint64_t seed, std::uint32_t most_members) {
  for (;; seed += 1000) {
    BatchCase c = random_batch_case(seed, 24, most_members);
    c.noise_seed = 0;
    if (c.groups.size() > 3) return c;
  }
}

/// What a GPU must do, whatever kind of GPU it is.
void expect_parity(const BatchGpu& gpu) {
  for (const std::size_t replications : {0, 1, 31, 32, 33, 300}) {
    for (const std::size_t tile : {0, 1, 64}) {
      for (const std::uint32_t widest : {2U, 4U}) {
        SCOPED_TRACE(testing::Message() << replications << " replications, tile " << tile
                                        << ", groups of up to " << widest);
        const BatchCase c = lively_case(replications + tile, widest);
        const auto results = on_gpu(gpu, c, replications, {.threads = 2, .tile = tile}, widest);
        EXPECT_EQ(results.size(), replications);
        expect_right(results, c);
      }
    }
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const BatchCase c = random_batch_case(seed);
    const auto results = on_gpu(gpu, c, 5, {});
    EXPECT_EQ(results.size(), 5U);
    expect_right(results, c);
  }
}

class BatchFibers : public testing::Test {
 protected:
  BatchFibers() { fiber_cuda::device = {}; }
  ~BatchFibers() override {
    EXPECT_EQ(fiber_cuda::device.objects, 0) << "buffers or streams were left behind";
    EXPECT_EQ(fiber_cuda::device.broken, "");
  }
  const emulated::BatchDriver gpu_;
};

TEST_F(BatchFibers, TheKernelGivesWhatTheProcessorGives) { expect_parity(gpu_); }

TEST(BatchCuda, TheKernelGivesWhatTheProcessorGives) {
  const BatchGpu* gpu = cuda_batch();
  if (gpu == nullptr) GTEST_SKIP() << "SKIPPED: built without the CUDA toolkit";
  try {
    on_gpu(*gpu, lively_case(1, 2), 1, {});
  } catch (const DeviceError& e) {
    std::fprintf(stderr, "no usable GPU: %s\n", e.what());
    GTEST_SKIP() << "SKIPPED: no usable GPU: " << e.what();
  }
  expect_parity(*gpu);
}

TEST_F(BatchFibers, WhatDoesNotFitTheShapeIsLeftToTheProcessor) {
  const BatchCase c = lively_case(5, 4);
  std::size_t widest = 0;
  for (const auto& group : c.groups) widest = std::max(widest, group.size());
  ASSERT_GT(widest, 2U);
  EXPECT_TRUE(on_gpu(gpu_, c, 40, {}, 2).empty());
}

TEST_F(BatchFibers, RunsWithoutEndAreLeftToTheProcessor) {
  BatchCase c;
  c.cluster = cluster(1, 1);
  c.workload = workload({job(seconds(1'000'000'000)), job(seconds(1'000'000'000))});
  c.world = std::make_unique<ShareWorld>(1e9);
  c.groups = {{J(0), J(1)}};
  EXPECT_TRUE(on_gpu(gpu_, c, 3, {}, 2).empty());
}

TEST_F(BatchFibers, TilesShrinkUntilThereIsMemory) {
  const BatchCase c = lively_case(7, 2);
  const auto all = on_gpu(gpu_, c, 400, {}, 2);
  EXPECT_EQ(all.size(), 400U);
  const int launches = fiber_cuda::device.launches;
  fiber_cuda::device = {};
  fiber_cuda::device.memory = 400'000;  // planned from free memory
  EXPECT_EQ(on_gpu(gpu_, c, 400, {}, 2).size(), 400U);
  EXPECT_GT(fiber_cuda::device.launches, launches);
  fiber_cuda::device = {};
  fiber_cuda::device.memory = 400'000;  // found out
  const auto results = on_gpu(gpu_, c, 400, {.tile = 100'000}, 2);
  EXPECT_EQ(results.size(), 400U);
  expect_right(results, c);
}

TEST_F(BatchFibers, SurvivesOrReportsEveryAllocationThatFails) {
  const BatchCase c = lively_case(8, 2);
  on_gpu(gpu_, c, 100, {}, 2);
  const int allocations = fiber_cuda::device.allocations;
  ASSERT_GT(allocations, 20);
  int survived = 0;
  for (int n = 0; n < allocations; ++n) {
    SCOPED_TRACE(n);
    fiber_cuda::device = {};
    fiber_cuda::device.fail_allocation = n;
    try {
      const auto results = on_gpu(gpu_, c, 100, {}, 2);
      EXPECT_EQ(results.size(), 100U);
      expect_right(results, c);
      ++survived;
    } catch (const DeviceError& e) {
      EXPECT_NE(std::string(e.what()).find("out of memory"), std::string::npos) << e.what();
    }
    EXPECT_EQ(fiber_cuda::device.objects, 0);
  }
  EXPECT_GT(survived, allocations - 10);  // the lists of the jobs cannot be had smaller
}

TEST_F(BatchFibers, ADeviceThatGoesAwayLeavesNoWrongNumber) {
  const BatchCase c = lively_case(9, 2);
  on_gpu(gpu_, c, 200, {.tile = 32}, 2);
  const int calls = fiber_cuda::device.calls;
  const BatchExperiment experiment(c.cluster, c.workload);
  const BatchShape shape{experiment.workload().jobs, experiment.workload().gpus,
                         static_cast<std::uint32_t>(c.groups.size()), 2};
  std::size_t most_taken = 0;
  int failures = 0;
  for (int n = 0; n < calls; n += 7) {
    SCOPED_TRACE(n);
    fiber_cuda::device = {};
    fiber_cuda::device.lost_after = n;
    BatchEngine engine(experiment, *c.world);
    std::map<std::size_t, Result> results;
    try {
      gpu_.run(
          experiment.workload(), shape, 200,
          [&](unsigned, std::size_t r, const BatchInput& input) {
            engine.fill(c.groups, r, shape, input);
          },
          [&](unsigned, std::size_t r, const BatchOutput& output) {
            results.emplace(r, Result{metrics_of(output, shape), sums_of(output)});
          },
          {.tile = 32});
    } catch (const DeviceError&) {
      ++failures;
    }
    expect_right(results, c);
    most_taken = std::max(most_taken, results.size());
    fiber_cuda::device.lost_after = -1;
    EXPECT_EQ(fiber_cuda::device.objects, 0);
  }
  EXPECT_GT(failures, 5);
  EXPECT_GT(most_taken, 32U);
}

TEST_F(BatchFibers, NoCodeForTheDeviceIsAnError) {
  fiber_cuda::device.launch_status = cudaErrorNoKernelImageForDevice;
  try {
    on_gpu(gpu_, lively_case(10, 2), 10, {});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(),
                 "the GPU failed while running replications: no kernel image is available for "
                 "execution on the device");
  }
}

TEST_F(BatchFibers, WhatAFillThrowsIsThrown) {
  struct Stop {};
  const BatchCase c = lively_case(11, 2);
  const BatchExperiment experiment(c.cluster, c.workload);
  const BatchShape shape{experiment.workload().jobs, experiment.workload().gpus,
                         static_cast<std::uint32_t>(c.groups.size()), 2};
  const auto fill = [](unsigned, std::size_t r, const BatchInput& input) {
    input.count[0] = 0;
    if (r == 77) throw Stop{};
  };
  EXPECT_THROW(gpu_.run(experiment.workload(), shape, 100, fill,
                        [](unsigned, std::size_t, const BatchOutput&) {}, {.threads = 2}),
               Stop);
}

}  // namespace
}  // namespace corun::test
