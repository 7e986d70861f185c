#pragma once

#include <cstddef>
#include <variant>

#include "models/formulas/contention_formula.hpp"
#include "models/formulas/gp_batch.hpp"
#include "models/formulas/kind_table_formula.hpp"
#include "models/formulas/short_formula.hpp"
#include "models/formulas/trees_batch.hpp"

/// The list of formulas: models whose equation is compiled for every device, each as all that it needs of a list
/// of jobs. models/README.md says how to add one.
///
/// Two sorts. Short equations stand in the innermost loop, beside the cost of the pair and the choice of
/// the cheapest (short_formula.hpp). Long ones fill tiles of speeds first, which are then read as a View of their own
/// (speed_tile.hpp): their batch of jobs names the Kernels that the processor has for them.
namespace corun {

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

}  // namespace corun
