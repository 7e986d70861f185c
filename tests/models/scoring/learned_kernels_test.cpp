// The kernels of the learned models, on the processor's vector units and, by fibers, those of the GPU: they
// give the bits of predict() for all sizes and tiles.
// The first include replaces the CUDA runtime.
// clang-format off
#include "tests/helpers/fiber_cuda.hpp"
// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/formulas/ranked_trees.hpp"
#include "models/interference/boosted_trees.hpp"
#include "models/interference/gp_model.hpp"
#include "models/scoring/gp_kernels.cuh"
#include "models/scoring/trees_kernels.cuh"
#include "models/vector_units/kernels.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::learned_kernels_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Jobs of two rates and three percentages, and co-runs among them.
SpeedTable table_of(std::size_t jobs, std::size_t co_runs) {
  Rng rng(jobs, Stream::kTest);
  SpeedTable table;
  table.features = {{"rate_a", FeatureScale::kLog},
                    {"rate_b", FeatureScale::kLog},
                    {"gpu_util_pct", FeatureScale::kLinear},
                    {"mem_time_pct", FeatureScale::kLinear},
                    {"mem_alloc_pct", FeatureScale::kLinear}};
  for (std::size_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(1000 + j));
    const double size = rng.normal();
    const std::vector<double> features{std::exp(size), std::exp(size + rng.uniform()),
                                       100 * rng.uniform(), 80 * rng.uniform(), 60 * rng.uniform()};
    table.values.insert(table.values.end(), features.begin(), features.end());
  }
  for (std::size_t r = 0; r < co_runs; ++r) {
    const std::uint32_t a = rng.below(static_cast<std::uint32_t>(jobs));
    const std::uint32_t b = rng.below(static_cast<std::uint32_t>(jobs));
    const auto speed = [&](std::uint32_t i, std::uint32_t j) {
      return std::exp(-4e-5 * table.of(i)[2] * table.of(j)[2] - 0.02 * std::fabs(rng.normal()));
    };
    // Some pairs are measured in one direction only: a job may have no row as the slowed job or as the
    // co-runner.
    table.rows.push_back({a, b, speed(a, b), r % 5 == 0 ? kNaN : speed(b, a)});
  }
  return table;
}

/// Every third of `count` jobs is one of the table, the others are similar; some features are not known.
struct Asked {
  std::vector<double> values;
  std::vector<PairJob> jobs;

  Asked(const SpeedTable& table, std::size_t count) {
    Rng rng(2, Stream::kTest);
    const std::size_t width = table.features.size();
    values.reserve(count * width);
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t like = j % table.jobs.size();
      for (std::size_t f = 0; f < width; ++f) {
        values.push_back(rng.uniform() < 0.02 ? kNaN
                                              : table.of(like)[f] * (0.9 + 0.2 * rng.uniform()));
      }
      jobs.push_back({j % 3 == 0 ? table.jobs[like] : kUnknownWorkload,
                      std::span(values).subspan(j * width, width)});
    }
  }
};

/// Speed and deviation of every job of one range beside every job of another, row-major.
struct Speeds {
  std::vector<double> speed, sd;
  explicit Speeds(std::size_t size = 0) : speed(size, -1), sd(size, -1) {}
};
struct Range {
  std::size_t first = 0, count = 0;
};

void expect_same(const Speeds& a, const Speeds& b, const std::string& what) {
  ASSERT_EQ(a.speed.size(), b.speed.size()) << what;
  for (std::size_t n = 0; n < a.speed.size(); ++n) {
    ASSERT_EQ(a.speed[n], b.speed[n]) << what << ", " << n;
    ASSERT_EQ(a.sd[n], b.sd[n]) << what << ", " << n;
  }
}

Speeds predicted(const InterferenceModel& model, const Asked& asked, Range own, Range co_runner) {
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < own.count; ++i) {
    for (std::size_t j = 0; j < co_runner.count; ++j) {
      pairs.push_back({own.first + i, co_runner.first + j});
    }
  }
  Speeds out;
  for (const SpeedPrediction& p : model.predict(asked.jobs, pairs)) {
    out.speed.push_back(p.speed);
    out.sd.push_back(p.sd);
  }
  return out;
}

PairTile tile_of(Range own, Range co_runner) {
  return {own.first, own.first + own.count, co_runner.first, co_runner.first + co_runner.count};
}
/// Row-major, or column-major if `turned`.
TileSpeeds to(Speeds& out, Range own, Range co_runner, bool turned) {
  return {turned ? 1 : co_runner.count, turned ? own.count : 1, out.speed.data(), out.sd.data()};
}

/// By a vector unit; the result is column-major if `turned`.
Speeds by_lanes(const Kernels& all, GpBatch& batch, Range own, Range co_runner, bool turned) {
  const gp::Kernels& kernels = all.of<GpBatch>();
  const gp::Problem problem = batch.problem();
  kernels.describe(problem, 0, batch.count);
  std::vector<double> states(own.count * problem.layout.size(), -1);
  std::vector<double> scratch(gp::Kernels::scratch(problem));
  kernels.prepare(problem, {own.first, own.count, batch.known.data()}, states.data(),
                  scratch.data());
  Speeds out(own.count * co_runner.count);
  kernels.speeds(problem, tile_of(own, co_runner), states.data(), scratch.data(),
                 to(out, own, co_runner, turned));
  return out;
}
Speeds by_lanes(const Kernels& kernels, const TreesBatch& batch, Range own, Range co_runner, bool) {
  std::vector<std::uint32_t> of, beside;
  for (std::size_t i = 0; i < own.count; ++i) {
    for (std::size_t j = 0; j < co_runner.count; ++j) {
      of.push_back(static_cast<std::uint32_t>(own.first + i));
      beside.push_back(static_cast<std::uint32_t>(co_runner.first + j));
    }
  }
  const trees::Jobs jobs = batch.jobs();
  std::vector<float> scratch(trees::Kernels::scratch(batch.trees));
  std::vector<double> sums(of.size());
  kernels.of<TreesBatch>().sums(batch.trees, batch.ranked, jobs,
                                {of.data(), beside.data(), of.size()}, scratch.data(), sums.data());
  Speeds out;
  for (std::size_t q = 0; q < of.size(); ++q) {
    const std::size_t unknown = std::size_t{jobs.unknown[of[q]]} + jobs.unknown[beside[q]];
    const LogSlowdown log_slowdown = batch.model().log_slowdown(sums[q], unknown);
    out.speed.push_back(speed_of_log_slowdown(log_slowdown.t));
    out.sd.push_back(out.speed.back() * log_slowdown.sd);
  }
  return out;
}

/// The part of `out` for the rows from `from`.
TileSpeeds part(Speeds& out, Range own, Range co_runner, bool turned, std::size_t from) {
  TileSpeeds all = to(out, own, co_runner, turned);
  all.speed += from * all.row_stride;
  all.sd += from * all.row_stride;
  return all;
}

/// By the GPU's kernels, with the states of `tile` slowed jobs at a time.
Speeds by_fibers(GpBatch& batch, Range own, Range co_runner, bool turned, std::size_t tile) {
  const emulated::Stream stream;
  const emulated::GpOnGpu model(batch, stream);
  emulated::DeviceBuffer<double> states(tile * model.state_size());
  emulated::DeviceBuffer<double> scratch(tile * model.scratch_size());
  Speeds out(own.count * co_runner.count);
  for (std::size_t from = 0; from < own.count; from += tile) {
    const Range some{own.first + from, std::min(tile, own.count - from)};
    model.prepare(some.first, some.count, scratch.data(), states.data(), stream);
    model.speeds(tile_of(some, co_runner), states.data(), part(out, own, co_runner, turned, from),
                 stream);
  }
  stream.wait();
  EXPECT_EQ(fiber_cuda::device.broken, "");
  return out;
}
Speeds by_fibers(const TreesBatch& batch, Range own, Range co_runner, bool turned,
                 std::size_t tile) {
  const emulated::Stream stream;
  const emulated::TreesOnGpu model(batch, stream);
  Speeds out(own.count * co_runner.count);
  for (std::size_t from = 0; from < own.count; from += tile) {
    const Range some{own.first + from, std::min(tile, own.count - from)};
    model.speeds(tile_of(some, co_runner), part(out, own, co_runner, turned, from), stream);
  }
  stream.wait();
  EXPECT_EQ(fiber_cuda::device.broken, "");
  return out;
}

Speeds turned(const Speeds& from, std::size_t rows) {
  Speeds out(from.speed.size());
  const std::size_t columns = rows > 0 ? from.speed.size() / rows : 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      out.speed[j * rows + i] = from.speed[i * columns + j];
      out.sd[j * rows + i] = from.sd[i * columns + j];
    }
  }
  return out;
}

template <class Model>
class LearnedKernels : public testing::Test {};
using Models = testing::Types<GpModel, BoostedTrees>;
TYPED_TEST_SUITE(LearnedKernels, Models);

TYPED_TEST(LearnedKernels, AnySizeAndAnyUnitHaveTheBitsOfPredict) {
  const SpeedTable table = table_of(30, 70);
  const TypeParam model = TypeParam::fit(table, {.effort = test::kLittleEffort});
  for (const std::size_t n : {0, 1, 31, 32, 33, 1000, 10007}) {
    const Asked asked(table, n);
    const Range own{n / 2, std::min<std::size_t>(n - n / 2, n > 100 ? 5 : n)};
    const Range co_runner{0, n};
    auto batch = model.batch(asked.jobs);
    const Speeds expected = predicted(model, asked, own, co_runner);
    for (const Kernels* const kernels : usable_kernels()) {
      const std::string what = std::string(kernels->name) + ", " + std::to_string(n);
      expect_same(by_lanes(*kernels, batch, own, co_runner, false), expected, what);
    }
    expect_same(by_fibers(batch, own, co_runner, false, 1000), expected,
                "gpu " + std::to_string(n));
  }
}

TYPED_TEST(LearnedKernels, TilesAnywhereHaveTheSameBits) {
  const SpeedTable table = table_of(30, 70);
  const TypeParam model = TypeParam::fit(table, {.effort = test::kLittleEffort});
  const Asked asked(table, 300);
  auto batch = model.batch(asked.jobs);
  for (const auto& [own, co_runner, tile] : {std::tuple{Range{0, 7}, Range{290, 10}, 1},
                                             {Range{131, 6}, Range{1, 257}, 4},
                                             {Range{299, 1}, Range{0, 256}, 2},
                                             {Range{10, 5}, Range{33, 1}, 3}}) {
    const Speeds expected = predicted(model, asked, own, co_runner);
    const auto size = static_cast<std::size_t>(tile);
    expect_same(by_fibers(batch, own, co_runner, false, size), expected, "gpu");
    expect_same(by_fibers(batch, own, co_runner, true, size), turned(expected, own.count),
                "gpu, by columns");
    expect_same(by_lanes(best_kernels(), batch, own, co_runner, false), expected, "cpu");
  }
}

TEST(GpKernels, ManyKnownCoRunnersAndWideForms) {
  // More known co-runners than kLines, and panels with more columns than fit into shared memory.
  const SpeedTable table = table_of(90, 150);
  GpModel model = GpModel::fit(table, {});
  Asked asked(table, 90);
  for (std::size_t j = 0; j < 90; ++j) asked.jobs[j].workload = table.jobs[j];
  GpBatch batch = model.batch(asked.jobs);
  ASSERT_GT(batch.known.size(), gp::Kernels::kLines);
  const Range own{40, 9};
  const Range all{0, 90};
  const Speeds expected = predicted(model, asked, own, all);
  for (const Kernels* const kernels : usable_kernels()) {
    expect_same(by_lanes(*kernels, batch, own, all, false), expected, kernels->name);
    expect_same(by_lanes(*kernels, batch, own, all, true), turned(expected, own.count),
                kernels->name);
  }
  expect_same(by_fibers(batch, own, all, false, 5), expected, "gpu");
  // A prediction of one pair has only the two jobs of the pair.
  for (const std::size_t j : {0, 41, 63, 64, 65, 89}) {
    const SpeedPrediction p = model.predict(asked.jobs[44], asked.jobs[j]);
    EXPECT_EQ(p.speed, expected.speed[4 * 90 + j]);
    EXPECT_EQ(p.sd, expected.sd[4 * 90 + j]);
  }
}

TEST(GpKernels, RowsLearntAnywhereAreAsThoseReadFromAFile) {
  const SpeedTable table = table_of(20, 40);
  GpModel model = GpModel::fit(table, {});
  Asked asked(table, 60);
  for (std::size_t n = 0; n < 12; ++n) {
    // Known co-runners, from the first to the last, and new ones.
    PairJob fresh = asked.jobs[20 + n];
    fresh.workload = static_cast<WorkloadKey>(5000 + n % 5);
    PairJob held = asked.jobs[n];
    held.workload = table.jobs[n];
    model.learn(n % 3 == 0 ? held : fresh, held, 0.8, n % 4 == 0 ? kNaN : 0.7);
  }
  const GpModel read = GpModel::load(model.save(), model.features(), model.workloads());
  const Range all{0, 60};
  expect_same(predicted(read, asked, all, all), predicted(model, asked, all, all), "read");
}

TEST(TreesKernels, DeepTreesAndWideRowsAreReadFromWhereTheyAre) {
  // Ten linear features have 4 x 10 + 90 + 5 columns, so fewer pairs fit into a block.
  SpeedTable table = table_of(20, 60);
  table.features.clear();
  table.values.clear();
  Rng rng(3, Stream::kTest);
  for (std::size_t f = 0; f < 12; ++f) {
    table.features.push_back({"f" + std::to_string(f), FeatureScale::kLinear});
  }
  for (std::size_t v = 0; v < 20 * 12; ++v) table.values.push_back(rng.normal());
  const BoostedTrees fitted = BoostedTrees::fit(table, {});
  const Asked asked(table, 40);
  const TreesBatch batch = fitted.batch(asked.jobs);
  EXPECT_LT(emulated::TreesKernel::threads(batch.trees), emulated::TreesKernel::kMostThreads);
  ASSERT_TRUE(emulated::TreesOnGpu::fits(batch));
  const Range all{0, 40};
  expect_same(by_fibers(batch, all, all, false, 7), predicted(fitted, asked, all, all), "wide");

  // A tree too large for shared memory.
  TreesBatch deep = batch;
  TreeEnsemble trees;
  trees.depth = 11;
  trees.columns = batch.trees.columns;
  const std::size_t inner = (std::size_t{1} << 11U) - 1;
  for (std::size_t n = 0; n < 2 * inner; ++n) {
    trees.test.push_back(
        static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(2 * trees.columns))));
    trees.threshold.push_back(static_cast<float>(rng.normal()));
  }
  for (std::size_t n = 0; n < 2 * (inner + 1); ++n) {
    trees.leaf.push_back(static_cast<float>(rng.normal()));
  }
  trees.check();
  deep.trees = trees.view();
  deep.ranked = {};
  ASSERT_EQ(emulated::TreesKernel::together(deep.trees), 0U);
  for (const Kernels* const kernels : usable_kernels()) {
    expect_same(by_fibers(deep, all, all, false, 40), by_lanes(*kernels, deep, all, all, false),
                kernels->name);
  }
}

/// Trees with normal thresholds, some of them repeated, infinite or equal to a feature.
TreeEnsemble trees_of(int depth, std::size_t count, std::size_t columns, const TreesBatch& batch) {
  Rng rng(static_cast<std::uint64_t>(depth), Stream::kTest);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  TreeEnsemble trees;
  trees.depth = depth;
  trees.columns = columns;
  const std::size_t inner = (std::size_t{1} << static_cast<unsigned>(depth)) - 1;
  for (std::size_t n = 0; n < count * inner; ++n) {
    trees.test.push_back(
        static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(2 * columns))));
    const auto value = static_cast<float>(
        batch.linears[rng.below(static_cast<std::uint32_t>(batch.linears.size()))]);
    const float here = std::isnan(value) ? 1.0F : value;
    const std::array<float, 6> some{
        static_cast<float>(rng.normal()), 0.0F, -0.0F, here, kInfinity, -kInfinity};
    trees.threshold.push_back(some[rng.below(n % 4 == 0 ? 6 : 4)]);
  }
  for (std::size_t n = 0; n < count * (inner + 1); ++n) {
    trees.leaf.push_back(static_cast<float>(rng.normal()));
  }
  trees.check();
  return trees;
}

TEST(TreesKernels, RanksLeadWhereThresholdsDo) {
  const SpeedTable table = table_of(20, 60);
  const BoostedTrees fitted = BoostedTrees::fit(table, {});
  const Asked asked(table, 41);
  const Range all{0, 41};
  TreesBatch batch = fitted.batch(asked.jobs);
  for (int depth = 0; depth <= 6; ++depth) {
    const TreeEnsemble trees = trees_of(depth, 9, fitted.batch({}).trees.columns, batch);
    const RankedTrees ranked(trees.view());
    EXPECT_EQ(ranked.view().trees, depth >= 1 && depth <= 5 ? 9U : 0U) << depth;
    batch.trees = trees.view();
    batch.ranked = ranked.view();
    const Speeds expected = by_fibers(batch, all, all, false, 41);
    for (const Kernels* const kernels : usable_kernels()) {
      expect_same(by_lanes(*kernels, batch, all, all, false), expected,
                  kernels->name + std::string(", depth ") + std::to_string(depth));
    }
  }
}

TEST(TreesKernels, MoreThresholdsThanRanksAreWalked) {
  const SpeedTable table = table_of(20, 60);
  const BoostedTrees fitted = BoostedTrees::fit(table, {});
  TreeEnsemble trees = trees_of(5, 1500, 1, fitted.batch(Asked(table, 5).jobs));
  for (std::size_t n = 0; n < trees.threshold.size(); ++n) {
    trees.threshold[n] = static_cast<float>(n);
  }
  EXPECT_EQ(RankedTrees(trees.view()).view().trees, 1500U);
  trees = trees_of(5, 2500, 1, fitted.batch(Asked(table, 5).jobs));
  for (std::size_t n = 0; n < trees.threshold.size(); ++n) {
    trees.threshold[n] = static_cast<float>(n);
  }
  EXPECT_EQ(RankedTrees(trees.view()).view().trees, 0U);
}

}  // namespace
}  // namespace corun::learned_kernels_test
