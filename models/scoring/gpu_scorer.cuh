#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "models/scoring/cuda_support.hpp"
#include "models/scoring/gpu_scorer.hpp"
#include "models/scoring/scoring_kernels.cuh"
#include "models/scoring/short_formulas_on_gpu.cuh"
#include "models/scoring/speeds_on_gpu.cuh"
#include "models/vector_units/top_lists.hpp"

/// The host side of GpuScorer, which launches the kernels of scoring_kernels.cuh. Compiled by nvcc in
/// gpu_scorer.cu, and as ordinary C++ by the tests, whose fibers run the kernels.
namespace corun::inline models::CORUN_GPU {

/// Blocks of `rows` that cover `count`.
inline unsigned blocks(std::size_t count, std::size_t rows) {
  return static_cast<unsigned>((count + rows - 1) / rows);
}

/// Rows of a tile, of `row_bytes` each, such that `streams` tiles take half of the free memory; `wanted`, if
/// it is above 0. From 1 to n.
inline std::size_t rows_that_fit(std::size_t row_bytes, int streams, std::size_t wanted,
                                 std::size_t n) {
  if (wanted > 0) return std::min(wanted, n);
  const std::size_t fit = free_memory() / 2 / (row_bytes * static_cast<std::size_t>(streams));
  return std::clamp<std::size_t>(fit, 1, n);
}

/// A stream with memory for the results of a tile on the GPU and on the host.
template <class A, class B>
struct Lane {
  Stream stream;
  DeviceBuffer<A> a;
  DeviceBuffer<B> b;
  PinnedBuffer<A> host_a;
  PinnedBuffer<B> host_b;
  std::size_t i0 = 0, i1 = 0;  ///< rows in progress

  explicit Lane(std::size_t elements)
      : a(elements), b(elements), host_a(elements), host_b(elements) {}
};

/// Divides [0, n) into tiles of `rows`, which the lanes take in turns. start(lane) queues the kernels for the
/// lane's rows; finish(lane) reads the results, which are then in the lane's host memory.
template <class A, class B, class Start, class Finish>
void in_tiles(std::size_t n, std::size_t rows, int streams, std::size_t row_elements,
              const Start& start, const Finish& finish) {
  std::vector<Lane<A, B>> lanes;
  const std::size_t tiles = (n + rows - 1) / rows;
  const std::size_t count = std::min(tiles, static_cast<std::size_t>(std::max(streams, 1)));
  lanes.reserve(count);
  for (std::size_t l = 0; l < count; ++l) lanes.emplace_back(rows * row_elements);
  const auto settle = [&](Lane<A, B>& lane) {
    if (lane.i0 == lane.i1) return;
    lane.stream.wait();
    finish(lane);
    lane.i0 = lane.i1;
  };
  for (std::size_t t = 0; t < tiles; ++t) {
    Lane<A, B>& lane = lanes[t % count];
    settle(lane);
    lane.i0 = t * rows;
    lane.i1 = std::min(n, lane.i0 + rows);
    start(lane);
    const std::size_t elements = (lane.i1 - lane.i0) * row_elements;
    lane.a.copy_to(lane.host_a.span().first(elements), lane.stream);
    lane.b.copy_to(lane.host_b.span().first(elements), lane.stream);
  }
  for (Lane<A, B>& lane : lanes) settle(lane);
}

class Scorer final : public GpuScorer {
 public:
  std::string probe() const override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess) throw DeviceError(cudaGetErrorString(status));
    if (devices == 0) throw DeviceError("no CUDA device");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "being asked what it is");
    const Stream stream;
    DeviceBuffer<int> seen(1);
    check(cudaMemsetAsync(seen.data(), 0, sizeof(int), stream), "clearing memory");
    CORUN_LAUNCH(mark<1>, dim3(1), dim3(1), 0, stream, seen.data());
    check_launch("starting a first kernel");
    int value = 0;
    seen.copy_to({&value, 1}, stream);
    stream.wait();
    if (value != 1) throw DeviceError("a first kernel ran without effect");
    return properties.name;
  }

  std::size_t most_co_runners() const override { return 256; }

  std::vector<CoRunner> top_co_runners(PairFormula& formula, const SoloTimes& solo,
                                       const CostRule& rule, std::size_t k,
                                       std::span<const double> prices,
                                       const GpuOptions& options) const override {
    return std::visit(
        [&](auto& jobs) { return by_objective(jobs, solo, rule, k, prices, options); },
        formula.jobs);
  }

  void all_pairs(PairFormula& formula, const GpuOptions& options, std::span<double> speed,
                 std::span<double> sd) const override {
    if (formula.size() == 0) return;
    std::visit([&](auto& jobs) { matrix(jobs, options, speed, sd); }, formula.jobs);
  }

  bool knows_co_runners(const PairFormula& formula) const override { return formula.is_short(); }

  void co_runner_speeds(PairFormula& formula, std::span<const std::uint32_t> members,
                        std::span<const std::size_t> first, std::span<double> out) const override {
    std::vector<std::uint32_t> begins(members.size());
    std::vector<std::uint32_t> ends(members.size());
    for (std::size_t s = 0; s + 1 < first.size(); ++s) {
      for (std::size_t m = first[s]; m < first[s + 1]; ++m) {
        begins[m] = static_cast<std::uint32_t>(first[s]);
        ends[m] = static_cast<std::uint32_t>(first[s + 1]);
      }
    }
    const auto run = [&]<class Jobs>(Jobs& jobs) {
      if constexpr (ShortFormula<Jobs>) {
        const Stream stream;
        const OnGpu<Jobs> held(jobs, stream);
        const auto& view = held.view();
        using View = typename Jobs::View;
        const DeviceBuffer<std::uint32_t> all(members, stream);
        const DeviceBuffer<std::uint32_t> from(std::span<const std::uint32_t>(begins), stream);
        const DeviceBuffer<std::uint32_t> to(std::span<const std::uint32_t>(ends), stream);
        const DeviceBuffer<double> speeds(members.size());
        CORUN_LAUNCH(CORUN_GPU::co_runner_speeds<View>,
                     dim3(blocks(members.size(), CoRunnerKernel::kThreads)),
                     dim3(CoRunnerKernel::kThreads), 0, stream, view, all.data(), from.data(),
                     to.data(), static_cast<std::uint32_t>(members.size()), speeds.data());
        check_launch("starting to predict sets");
        speeds.copy_to(out, stream);
        stream.wait();
      }
    };
    std::visit(run, formula.jobs);
  }

 private:
  template <class Jobs>
  static std::vector<CoRunner> by_objective(Jobs& jobs, const SoloTimes& solo, const CostRule& rule,
                                            std::size_t k, std::span<const double> prices,
                                            const GpuOptions& options) {
    const auto with = [&](auto objective) {
      if (rule.risk > 0) {
        return top(jobs, solo, CostFormula<true, objective.value>{rule.risk}, k, prices, options);
      }
      return top(jobs, solo, CostFormula<false, objective.value>{}, k, prices, options);
    };
    switch (rule.objective) {
      case Objective::kBalance:
        return with(std::integral_constant<Objective, Objective::kBalance>{});
      case Objective::kMaxPacking:
        return with(std::integral_constant<Objective, Objective::kMaxPacking>{});
      default:
        return with(std::integral_constant<Objective, Objective::kMinSlowdown>{});
    }
  }

  /// Long equations. Every two blocks of jobs are visited once: the speeds of both directions are computed,
  /// then the lists of block a's jobs among block b's, and of b's among a's.
  template <class Jobs, class Cost>
  requires(!ShortFormula<Jobs>) static std::vector<CoRunner> top(Jobs& jobs, const SoloTimes& solo,
                                                                 const Cost& cost, std::size_t k,
                                                                 std::span<const double> prices,
                                                                 const GpuOptions& options) {
    using Shape = TopCoRunnersKernel<Cost>;
    const std::size_t n = jobs.size();
    std::vector<CoRunner> out(n * k);
    const Stream stream;
    SpeedsOnGpu<Jobs> speeds(jobs, stream);
    const DeviceBuffer<double> seconds(std::span(solo.seconds), stream);
    const DeviceBuffer<double> inverse(std::span(solo.inverse), stream);
    const DeviceBuffer<double> held_prices(prices, stream);
    const Ranking ranking{static_cast<std::uint32_t>(n), held_prices.data()};
    const SoloView times{seconds.data(), inverse.data()};
    const DeviceBuffer<double> list_cost(n * k);
    const DeviceBuffer<std::uint32_t> list_position(n * k);
    const PinnedBuffer<double> host_cost(n * k);
    const PinnedBuffer<std::uint32_t> host_position(n * k);
    // Beyond some thousands of rows, a larger block only saves the work that is done once per block.
    constexpr std::size_t kMostRows = 4096;
    const std::size_t most = std::min(options.rows > 0 ? options.rows : kMostRows, n);
    with_shrinking_tile(most, 1, [&](std::size_t rows) {
      const DeviceBuffer<double> ab_speed(rows * rows), ab_sd(rows * rows);
      const DeviceBuffer<double> ba_speed(rows * rows), ba_sd(rows * rows);
      typename SpeedsOnGpu<Jobs>::Prepared of_a(speeds, rows);
      typename SpeedsOnGpu<Jobs>::Prepared of_b(speeds, rows);
      const auto choose = [&](const SpeedBlocksView& view, const PairTile& tile, bool resume) {
        const CoRunnerLists lists{static_cast<unsigned>(k), resume, list_cost.data() + tile.i0 * k,
                                  list_position.data() + tile.i0 * k};
        CORUN_LAUNCH((CORUN_GPU::top_co_runners<SpeedBlocksView, Cost>),
                     dim3(blocks(tile.rows(), Shape::kRows)), dim3(Shape::kThreads),
                     Shape::shared_bytes(k), stream, view, times, cost, ranking, GpuTile::of(tile),
                     lists);
        check_launch("starting to choose co-runners");
      };
      for (std::size_t a0 = 0; a0 < n; a0 += rows) {
        const std::size_t a1 = std::min(n, a0 + rows);
        speeds.prepare(of_a, a0, a1, stream);
        for (std::size_t b0 = a0; b0 < n; b0 += rows) {
          const std::size_t b1 = std::min(n, b0 + rows);
          const SpeedBlocksView view{static_cast<std::uint32_t>(a0),
                                     static_cast<std::uint32_t>(a1),
                                     static_cast<std::uint32_t>(b0),
                                     static_cast<std::uint32_t>(b1),
                                     ab_speed.data(),
                                     ab_sd.data(),
                                     ba_speed.data(),
                                     ba_sd.data()};
          const PairTile ab{a0, a1, b0, b1};
          speeds.fill(of_a, ab, TileSpeeds::row_major(ab, ab_speed.data(), ab_sd.data()), stream);
          // The first visit of a block starts its lists; it is with a0 = 0. Later visits resume them.
          if (b0 == a0) {
            choose(view, ab, a0 > 0);
            continue;
          }
          speeds.prepare(of_b, b0, b1, stream);
          const PairTile ba{b0, b1, a0, a1};
          speeds.fill(of_b, ba, TileSpeeds::row_major(ba, ba_speed.data(), ba_sd.data()), stream);
          choose(view, ab, true);
          choose(view, ba, a0 > 0);
        }
      }
      list_cost.copy_to(host_cost.span(), stream);
      list_position.copy_to(host_position.span(), stream);
      stream.wait();
    });
    for (std::size_t e = 0; e < n * k; ++e) {
      const auto job = static_cast<std::uint32_t>(e / k);
      out[e] = {position_behind(job, host_position.data()[e], ranking.jobs), host_cost.data()[e]};
    }
    return out;
  }

  template <class Jobs>
  requires(!ShortFormula<Jobs>) static void matrix(Jobs& jobs, const GpuOptions& options,
                                                   std::span<double> speed, std::span<double> sd) {
    const std::size_t n = jobs.size();
    const Stream stream;
    SpeedsOnGpu<Jobs> speeds(jobs, stream);
    constexpr std::size_t kMostRows = 1024;
    const std::size_t most = std::min(options.rows > 0 ? options.rows : kMostRows, n);
    with_shrinking_tile(most, 1, [&](std::size_t rows) {
      const DeviceBuffer<double> of_speed(rows * n), of_sd(rows * n);
      const PinnedBuffer<double> host_speed(rows * n), host_sd(rows * n);
      typename SpeedsOnGpu<Jobs>::Prepared prepared(speeds, rows);
      for (std::size_t i0 = 0; i0 < n; i0 += rows) {
        const std::size_t i1 = std::min(n, i0 + rows);
        const std::size_t count = (i1 - i0) * n;
        speeds.prepare(prepared, i0, i1, stream);
        const PairTile tile{i0, i1, 0, n};
        speeds.fill(prepared, tile, TileSpeeds::row_major(tile, of_speed.data(), of_sd.data()),
                    stream);
        of_speed.copy_to(host_speed.span().first(count), stream);
        of_sd.copy_to(host_sd.span().first(count), stream);
        stream.wait();
        std::copy_n(host_speed.data(), count, speed.data() + i0 * n);
        std::copy_n(host_sd.data(), count, sd.data() + i0 * n);
      }
    });
  }

  template <ShortFormula Jobs, class Cost>
  static std::vector<CoRunner> top(Jobs& jobs, const SoloTimes& solo, const Cost& cost,
                                   std::size_t k, std::span<const double> prices,
                                   const GpuOptions& options) {
    using Shape = TopCoRunnersKernel<Cost>;
    const std::size_t n = jobs.size();
    std::vector<CoRunner> out(n * k);
    const Stream upload;
    const OnGpu<Jobs> held(jobs, upload);
    const DeviceBuffer<double> seconds(std::span(solo.seconds), upload);
    const DeviceBuffer<double> inverse(std::span(solo.inverse), upload);
    const DeviceBuffer<double> held_prices(prices, upload);
    const Ranking ranking{static_cast<std::uint32_t>(n), held_prices.data()};
    upload.wait();
    const auto& view = held.view();
    using View = typename Jobs::View;
    const SoloView times{seconds.data(), inverse.data()};
    const std::size_t most = rows_that_fit(k * (sizeof(double) + sizeof(std::uint32_t)),
                                           options.streams, options.rows, n);
    with_shrinking_tile(most, 1, [&](std::size_t rows) {
      in_tiles<double, std::uint32_t>(
          n, rows, options.streams, k,
          [&](auto& lane) {
            const PairTile tile{lane.i0, lane.i1, 0, n};
            const CoRunnerLists lists{static_cast<unsigned>(k), false, lane.a.data(),
                                      lane.b.data()};
            CORUN_LAUNCH((CORUN_GPU::top_co_runners<View, Cost>),
                         dim3(blocks(tile.rows(), Shape::kRows)), dim3(Shape::kThreads),
                         Shape::shared_bytes(k), lane.stream, view, times, cost, ranking,
                         GpuTile::of(tile), lists);
            check_launch("starting to score pairs");
          },
          [&](const auto& lane) {
            for (std::size_t e = 0; e < (lane.i1 - lane.i0) * k; ++e) {
              const auto job = static_cast<std::uint32_t>(lane.i0 + e / k);
              out[lane.i0 * k + e] = {position_behind(job, lane.host_b.data()[e], ranking.jobs),
                                      lane.host_a.data()[e]};
            }
          });
    });
    return out;
  }

  template <ShortFormula Jobs>
  static void matrix(Jobs& jobs, const GpuOptions& options, std::span<double> speed,
                     std::span<double> sd) {
    const std::size_t n = jobs.size();
    const Stream upload;
    const OnGpu<Jobs> held(jobs, upload);
    upload.wait();
    const auto& view = held.view();
    using View = typename Jobs::View;
    // A grid has at most 65,535 blocks in its second direction.
    const std::size_t most = std::min<std::size_t>(
        rows_that_fit(2 * n * sizeof(double), options.streams, options.rows, n), 1U << 18);
    with_shrinking_tile(most, 1, [&](std::size_t rows) {
      in_tiles<double, double>(
          n, rows, options.streams, n,
          [&](auto& lane) {
            CORUN_LAUNCH(CORUN_GPU::all_pairs<View>,
                         dim3(blocks(n, AllPairsKernel::kThreads),
                              blocks(lane.i1 - lane.i0, AllPairsKernel::kRows)),
                         dim3(AllPairsKernel::kThreads), 0, lane.stream, view,
                         static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(lane.i0),
                         static_cast<std::uint32_t>(lane.i1), lane.a.data(), lane.b.data());
            check_launch("starting to predict pairs");
          },
          [&](const auto& lane) {
            const std::size_t count = (lane.i1 - lane.i0) * n;
            std::copy_n(lane.host_a.data(), count, speed.data() + lane.i0 * n);
            std::copy_n(lane.host_b.data(), count, sd.data() + lane.i0 * n);
          });
    });
  }
};

}  // namespace corun::inline models::CORUN_GPU
