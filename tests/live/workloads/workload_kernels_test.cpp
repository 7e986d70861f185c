// The kernels of the built-in workloads, on the processor, compared with plain loops.
#include <chrono>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

// The runtime must come before the kernels.
// clang-format off
#include "tests/helpers/fiber_cuda.hpp"
#include "live/workloads/workload_kernels.cuh"
// clang-format on

namespace corun::live::emulated::workload_kernels_test {
namespace {

class WorkloadKernels : public ::testing::Test {
 protected:
  WorkloadKernels() { fiber_cuda::device = {}; }
  ~WorkloadKernels() override {
    EXPECT_EQ(fiber_cuda::device.objects, 0) << "something was not given back";
    EXPECT_EQ(fiber_cuda::device.broken, "");
  }
};

std::vector<float> randoms(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  CORUN_LAUNCH(fill, dim3(3), dim3(kThreads), 0, nullptr, values.data(), count, seed, 1.0F);
  return values;
}

TEST_F(WorkloadKernels, FillIsUniformAndItsOwnForEachSeed) {
  const auto values = randoms(10001, 7);
  double sum = 0;
  double squares = 0;
  for (const float x : values) {
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  // Mean 0 and mean square 1/3; six standard errors.
  EXPECT_NEAR(sum / 10001, 0, 6 * std::sqrt(1 / 3.0 / 10001));
  EXPECT_NEAR(squares / 10001, 1 / 3.0, 6 * std::sqrt(4 / 45.0 / 10001));
  EXPECT_EQ(values, randoms(10001, 7));
  EXPECT_NE(values, randoms(10001, 8));
}

TEST_F(WorkloadKernels, MultiplyEqualsThreeLoopsForEverySize) {
  for (const int n : {1, 15, 16, 64, 65, 131}) {
    const auto size = static_cast<std::size_t>(n) * n;
    const auto a = randoms(size, 1);
    const auto b = randoms(size, 2);
    std::vector<float> c(size, -7);
    const auto tiles = static_cast<unsigned>((n + kTile - 1) / kTile);
    CORUN_LAUNCH(multiply, dim3(tiles, tiles), dim3(16, 16), 0, nullptr, a.data(), b.data(),
                 c.data(), n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double exact = 0;
        for (int k = 0; k < n; ++k) exact += static_cast<double>(a[i * n + k]) * b[k * n + j];
        // n roundings of sums below n.
        ASSERT_NEAR(c[i * n + j], exact, 6e-8 * n * n) << n << ": " << i << ", " << j;
      }
    }
  }
}

TEST_F(WorkloadKernels, ConvolveEqualsItsSum) {
  constexpr int kIn = 3;
  constexpr int kFilters = 2;
  for (const auto& [height, width] : {std::pair{1, 1}, {5, 7}, {11, 37}}) {
    const auto pixels = static_cast<std::size_t>(height) * width;
    const auto in = randoms(kIn * pixels, 3);
    const auto weight = randoms(std::size_t{kFilters} * kIn * 9, 4);
    std::vector<float> out(kFilters * pixels, -7);
    CORUN_LAUNCH(convolve, dim3((width + 31) / 32, (height + 7) / 8, kFilters), dim3(32, 8), 0,
                 nullptr, in.data(), weight.data(), out.data(), kIn, height, width);
    const auto at = [&, h = height, w = width](int c, int y, int x) {
      return y < 0 || y >= h || x < 0 || x >= w ? 0.0 : double{in[c * pixels + y * w + x]};
    };
    for (int f = 0; f < kFilters; ++f) {
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          double exact = 0;
          for (int c = 0; c < kIn; ++c) {
            for (int d = 0; d < 9; ++d) {
              exact += weight[(f * kIn + c) * 9 + d] * at(c, y + d / 3 - 1, x + d % 3 - 1);
            }
          }
          ASSERT_NEAR(out[f * pixels + y * width + x], exact, 1e-5);
        }
      }
    }
  }
}

TEST_F(WorkloadKernels, UpdateEqualsTheOptimiser) {
  const auto gradient = randoms(1000, 5);
  auto weight = randoms(1000, 6);
  auto moment = randoms(1000, 7);
  const auto w = weight;
  const auto m = moment;
  // Fewer threads than elements.
  CORUN_LAUNCH(update, dim3(2), dim3(kThreads), 0, nullptr, weight.data(), gradient.data(),
               moment.data(), 999);
  for (int i = 0; i < 999; ++i) {
    const double next = 0.9 * m[i] + 0.1 * gradient[i];
    ASSERT_NEAR(moment[i], next, 1e-6);
    ASSERT_NEAR(weight[i], 0.999 * w[i] - 0.01 * next, 1e-6);
  }
  EXPECT_EQ(weight[999], w[999]) << "past the end";
}

TEST_F(WorkloadKernels, GatherReadsWhatTheHashSays) {
  const auto table = randoms(1009, 8);
  std::vector<float> sums(300, -7);
  CORUN_LAUNCH(gather, dim3(2), dim3(kThreads), 0, nullptr, table.data(), 1009, sums.data(), 299,
               1000, 5);
  std::vector<double> exact(299);
  for (std::uint32_t r = 0; r < 1000; ++r) {
    exact[r % 299] += table[scramble(r ^ (5 * 0x9e3779b9U)) % 1009];
  }
  for (std::size_t t = 0; t < 299; ++t) ASSERT_NEAR(sums[t], exact[t], 1e-6) << t;
  EXPECT_EQ(sums[299], -7) << "past the end";
}

/// Small, and with every part but convolutions and waits for the host.
Recipe small_recipe() {
  Recipe recipe;
  recipe.name = "small";
  recipe.memory_mib = 0.25;
  recipe.matrix = 70;
  recipe.products = 2;
  recipe.update_mib = 0.4;
  recipe.lookups = 5000;
  recipe.small_kernels = 3;
  return recipe;
}

TEST_F(WorkloadKernels, AStepDoesWhatTheRecipeSays) {
  const Recipe recipe = small_recipe();
  RecipeOnGpu work(recipe, 1);
  // The memory of the recipe, and that of its products and reads.
  EXPECT_NEAR(static_cast<double>(fiber_cuda::device.held),
              0.25 * 1024 * 1024 + 3 * 70 * 70 * 4 + kSums * 4, 16);
  const int filled = fiber_cuda::device.launches;
  work.step();
  // Updates of 0.4 MiB in 0.25 MiB: all of it, then a part from its start on.
  EXPECT_EQ(fiber_cuda::device.launches - filled, 2 + 2 + 1 + 3);
  work.step();  // the rest, all of it, a part from its start on
  EXPECT_EQ(fiber_cuda::device.launches - filled, (2 + 2 + 1 + 3) + (2 + 3 + 1 + 3));

  int products = 0;
  work.multiply_by([&](const float*, const float*, float*, int n) {
    EXPECT_EQ(n, 70);
    ++products;
  });
  work.step();
  EXPECT_EQ(products, 2);
}

TEST_F(WorkloadKernels, UpdatesGoRoundTheWholeMemoryEvenly) {
  Recipe recipe;
  recipe.memory_mib = 0.1;  // 8738 elements of each array
  recipe.update_mib = 0.06;
  RecipeOnGpu all(recipe, 3);
  for (int i = 0; i < 5; ++i) all.step();  // three times round
  recipe.update_mib = 0.1;
  RecipeOnGpu whole(recipe, 3);
  for (int i = 0; i < 3; ++i) whole.step();
  EXPECT_EQ(all.checksum(), whole.checksum());
  whole.step();
  EXPECT_NE(all.checksum(), whole.checksum());
}

TEST_F(WorkloadKernels, ResultsDependOnTheSeedAlone) {
  const auto sum = [](std::uint64_t seed) {
    RecipeOnGpu work(small_recipe(), seed);
    work.step();
    return work.checksum();
  };
  EXPECT_EQ(sum(1), sum(1));
  EXPECT_NE(sum(1), sum(2));
  EXPECT_TRUE(std::isfinite(sum(1)));
}

TEST_F(WorkloadKernels, ConvolutionsCoverTheImage) {
  Recipe recipe;
  recipe.memory_mib = 0.05;
  recipe.image = 20;
  recipe.convolutions = 1;
  RecipeOnGpu work(recipe, 1);
  const double before = work.checksum();
  work.step();
  EXPECT_NE(work.checksum(), before);
  EXPECT_TRUE(std::isfinite(work.checksum()));
}

TEST_F(WorkloadKernels, HostWorkTakesItsTime) {
  Recipe recipe;
  recipe.memory_mib = 0.05;
  recipe.small_kernels = 10;
  recipe.host_us = 2000;
  RecipeOnGpu work(recipe, 1);
  const auto start = std::chrono::steady_clock::now();
  work.step();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{20});
}

TEST_F(WorkloadKernels, TooLittleMemoryIsSaidSo) {
  fiber_cuda::device.memory = 200'000;
  EXPECT_THROW(RecipeOnGpu(small_recipe(), 1), GpuOutOfMemory);
}

TEST_F(WorkloadKernels, EveryCallMayFail) {
  Recipe recipe = small_recipe();
  recipe.matrix = 20;  // for the speed of this test
  recipe.lookups = 0;
  int last = 0;
  {
    fiber_cuda::device = {};
    RecipeOnGpu work(recipe, 1);
    work.step();
    last = fiber_cuda::device.calls;
  }
  ASSERT_GT(last, 10);
  for (int n = 0; n < last; ++n) {
    fiber_cuda::device = {};
    fiber_cuda::device.lost_after = n;
    EXPECT_THROW(
        {
          RecipeOnGpu work(recipe, 1);
          work.step();
        },
        GpuError)
        << "call " << n;
    EXPECT_EQ(fiber_cuda::device.objects, 0) << "call " << n;
  }
  fiber_cuda::device = {};
}

}  // namespace
}  // namespace corun::live::emulated::workload_kernels_test
