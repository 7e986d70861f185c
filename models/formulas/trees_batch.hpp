#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/formulas/ranked_trees.hpp"
#include "models/formulas/trees_formula.hpp"

/// Boosted trees and the jobs they are asked about, as trees_formula.hpp wants them: what
/// BoostedTrees::batch() gives, for predict() and for whoever scores whole queues.
namespace corun {

struct TreesBatch {
  trees::Ensemble trees;  ///< the model's: it must stay
  trees::Ranked ranked;   ///< likewise, the same trees
  double mean = 0;
  std::array<std::vector<trees::Knot>, 3> knots;

  // The jobs, in the order asked: lines of `count` numbers.
  trees::Shape shape;
  std::size_t count = 0;
  std::vector<double> logs, linears;
  std::vector<double> own, partner;
  std::vector<std::uint8_t> unknown;

  trees::Model model() const {
    trees::Model out;
    out.trees = trees;
    out.mean = mean;
    for (std::size_t u = 0; u < knots.size(); ++u) {
      out.knots[u] = knots[u].data();
      out.knot_count[u] = static_cast<std::uint32_t>(knots[u].size());
    }
    return out;
  }
  std::size_t size() const { return count; }
  trees::Jobs jobs() const {
    return {shape,          count,      count,          logs.data(),
            linears.data(), own.data(), partner.data(), unknown.data()};
  }
};

}  // namespace corun
