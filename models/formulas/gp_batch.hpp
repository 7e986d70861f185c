#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/formulas/gp_formula.hpp"
#include "models/formulas/pair_tile.hpp"

/// A Gaussian process and the jobs to predict, in the layout of gp_formula.hpp. GpModel::batch() makes it,
/// for predict() and for PairScorer.
namespace corun::inline models {

namespace gp {

/// The kernels of this formula for one vector instruction set (models/vector_units/kernels.hpp).
struct Kernels {
  /// Arrays passed to the kernels have room for a multiple of this many jobs.
  static constexpr std::size_t kPadding = 32;
  /// Known co-runners whose identity rows (gp::Layout) are computed at a time.
  static constexpr std::size_t kLines = 64;
  /// Length of the `scratch` array that prepare(), log_slowdown() and speeds() need, in doubles.
  static std::size_t scratch(const Problem& problem) {
    const Model& model = problem.model;
    const std::size_t known = problem.layout.known < kLines ? problem.layout.known : kLines;
    return kPadding * (model.width() + 3 * model.owns + model.rows + 2 * model.co_runners +
                       known * model.co_runners + 3 * kLines) +
           model.co_runners + kPadding;
  }

  /// Computes the kernel arrays of gp::Jobs for jobs from .. to - 1, and for the jobs up to the next multiple
  /// of kPadding. `from` is a multiple of kPadding.
  void (*describe)(const Problem&, std::size_t from, std::size_t to);
  /// Computes the states of slowed jobs: `states` is jobs x layout.size(), row-major.
  void (*prepare)(const Problem&, const SlowedJobs&, double* states, double* scratch);
  /// Predicts job `slowed`, from its state, beside each of some co-runners: one entry of `out` per co-runner.
  void (*log_slowdown)(const Problem&, std::size_t slowed, const double* state, const CoRunners&,
                       double* scratch, LogSlowdown* out);
  /// Predicts all pairs of a tile. `states`: of the tile's rows, rows x layout.size().
  void (*speeds)(const Problem&, const PairTile&, const double* states, double* scratch,
                 const TileSpeeds& out);
};

}  // namespace gp

struct GpBatch {
  using Kernels = gp::Kernels;

  // The model. problem() sets its pointers.
  gp::Model formula;
  std::vector<double> own_places, co_runner_places, own_rates, co_runner_rates, weights,
      weighted_pressures;
  std::vector<std::uint32_t> first, own_of;
  std::span<const double> precision;  ///< the model's: it must outlive this and not learn

  // The jobs, in the caller's order, as in gp::Jobs, which has the shapes; `stride` is a multiple of
  // gp::Kernels::kPadding.
  std::size_t count = 0;
  std::size_t stride = 0;
  std::vector<double> x, u, t, m;
  std::vector<std::int32_t> own, line;
  /// Columns of the fitted co-runners that are among the jobs. Every state has one identity row for each.
  std::vector<std::uint32_t> known;
  // Computed by gp::describe_co_runner() and gp::describe_own().
  std::vector<double> co_runner, smooth, alone, identity;

  /// The model and the jobs, with each given array at at(array): a copy in the memory of the device that
  /// reads it. The arrays that describe() computes are those of this batch.
  template <class At>
  gp::Problem problem(const At& at) {
    gp::Problem out;
    gp::Model& model = out.model = formula;
    model.own_places = at(own_places);
    model.co_runner_places = at(co_runner_places);
    model.own_rates = at(own_rates);
    model.co_runner_rates = at(co_runner_rates);
    model.first = at(first);
    model.own_of = at(own_of);
    model.weights = at(weights);
    model.precision = at(precision);
    model.weighted_pressures = at(weighted_pressures);
    out.jobs = {
        count,    stride,           at(x),         at(u),        at(t),          at(m), at(own),
        at(line), co_runner.data(), smooth.data(), alone.data(), identity.data()};
    out.layout = {formula.width(), known.size()};
    return out;
  }
  gp::Problem problem() {
    return problem([](const auto& numbers) { return numbers.data(); });
  }
  std::size_t size() const { return count; }
};

}  // namespace corun::inline models
