#pragma once

#include <cstddef>
#include <variant>

#include "models/formulas/contention_formula.hpp"
#include "models/formulas/gp_batch.hpp"
#include "models/formulas/kind_table_formula.hpp"
#include "models/formulas/short_formula.hpp"
#include "models/formulas/trees_batch.hpp"

/// The list of formulas: the models whose equation is compiled for every device, each as the data of the
/// model and of a list of jobs. models/README.md says how to add one.
///
/// There are two kinds. A short equation is evaluated in the innermost loop, with the cost of the pair and
/// the choice of the cheapest (short_formula.hpp). A long equation first fills tiles of speeds, which that
/// loop then reads (speed_tile.hpp); its batch of jobs names its Kernels for the processor.
namespace corun::inline models {

template <class... Jobs>
struct FormulaList {
  using Any = std::variant<Jobs...>;
};
using Formulas = FormulaList<ContentionJobs, KindTableJobs, GpBatch, TreesBatch>;

struct PairFormula {
  Formulas::Any jobs;

  std::size_t size() const {
    return std::visit([](const auto& all) { return all.size(); }, jobs);
  }
  bool is_short() const {
    return std::visit([]<class Jobs>(const Jobs&) { return ShortFormula<Jobs>; }, jobs);
  }
};

}  // namespace corun::inline models
