#pragma once

#include <cstddef>
#include <variant>

#include "models/formulas/contention_formula.hpp"
#include "models/formulas/gp_batch.hpp"
#include "models/formulas/kind_table_formula.hpp"
#include "models/formulas/trees_batch.hpp"

/// The models whose equation is compiled for every device, with all that it needs of a list of jobs.
///
/// Two sorts. Short equations stand in the innermost loop, beside the cost of the pair and the choice of
/// the cheapest: a View of plain pointers, Jobs that own what they point to. Long ones fill tiles of
/// speeds first, which are then read as a View of their own (speed_tile.hpp).
///
/// To add one: its header, one line here, and for a short one a line in lanes.hpp and lanes.inl and
/// on_gpu() in short_formulas_on_gpu.cuh; for a long one a class in speed_source.cpp and one in speeds_on_gpu.cuh.
namespace corun {

struct PairFormula {
  std::variant<ContentionJobs, KindTableJobs, GpBatch, TreesBatch> jobs;

  std::size_t size() const {
    return std::visit([](const auto& all) { return all.size(); }, jobs);
  }
};

/// Whether an equation stands in the innermost loop.
template <class Jobs>
concept ShortFormula = requires(const Jobs& jobs) {
  jobs.view();
};

}  // namespace corun
