#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/formulas/gp_formula.hpp"
#include "models/formulas/pair_tile.hpp"

/// A Gaussian process and the jobs it is asked about, as gp_formula.hpp wants them: what
/// GpModel::batch() gives, for predict() and for whoever scores whole queues.
namespace corun {

namespace gp {

/// What the processor has of this formula for one instruction set (vector_units/kernels.hpp).
struct Kernels {
  /// Arrays that are handed in have room for whole multiples of it.
  static constexpr std::size_t kPadding = 32;
  /// Known co-runners whose lines are worked out at a time.
  static constexpr std::size_t kLines = 64;
  /// Doubles that prepare(), log_slowdown() and speeds() want as `scratch`.
  static std::size_t scratch(const Problem& problem) {
    const Model& model = problem.model;
    const std::size_t known = problem.layout.known < kLines ? problem.layout.known : kLines;
    return kPadding * (model.width() + 3 * model.owns + model.rows + 2 * model.co_runners +
                       known * model.co_runners + 3 * kLines) +
           model.co_runners + kPadding;
  }

  /// Works out what Jobs has of the jobs from .. to - 1, rounded up to whole vectors; `from` is a
  /// multiple of kPadding.
  void (*describe)(const Problem&, std::size_t from, std::size_t to);
  /// The states of slowed jobs, layout.size() numbers each.
  void (*prepare)(const Problem&, const SlowedJobs&, double* states, double* scratch);
  /// Slowed job `own` with its state beside some co-runners.
  void (*log_slowdown)(const Problem&, std::size_t slowed, const double* state, const CoRunners&,
                       double* scratch, LogSlowdown* out);
  /// All pairs of a tile, from the states of its rows' jobs.
  void (*speeds)(const Problem&, const PairTile&, const double* states, double* scratch,
                 const TileSpeeds& out);
};

}  // namespace gp

struct GpBatch {
  using Kernels = gp::Kernels;

  // The model. Its pointers are set by problem().
  gp::Model formula;
  std::vector<double> own_places, co_runner_places, own_rates, co_runner_rates, weights,
      weighted_pressures;
  std::vector<std::uint32_t> first, own_of;
  std::span<const double> precision;  ///< the model's: it must stay, and learn nothing

  // The jobs, in the order asked: lines of `stride` numbers, a multiple of gp::Kernels::kPadding.
  std::size_t count = 0;
  std::size_t stride = 0;
  std::vector<double> x, u, t, m;
  std::vector<std::int32_t> own, line;
  /// The co-runners of the data that are among the jobs: a line in every state for each.
  std::vector<std::uint32_t> known;
  // Filled in by gp::describe_co_runner() and gp::describe_own().
  std::vector<double> co_runner, smooth, alone, identity;

  /// With the arrays that are given where `at` says, as at(array): in the memory that is to be read. What describe()
  /// works out lies here.
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

}  // namespace corun
