#pragma once

#include <cstddef>
#include <span>

#include "models/learners/boosting.hpp"
#include "models/learners/tree_ensemble.hpp"

/// Gradient-boosted regression trees as in boosting.hpp, for some thousand rows: a library's work per tree, beyond the
/// search, takes most of the time there.
///
/// A tree splits its leaves level by level. The rows of a leaf, r their residuals and n their number, are worth
///
///   (sum r)^2 / (n + lambda)       value of the leaf: learning_rate (sum r) / (n + lambda)
///
/// A leaf is split where both parts together are worth most: at each of its values of the features drawn for the level, rows
/// with an unknown feature on either side (Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016, equations 5
/// to 7 and algorithm 3, without gamma). Rows and features are drawn by sim/rng.hpp, so the same arguments give the same bits
/// on every machine.
namespace corun::inline models {

/// `rows`, `columns`, `target`: as in GradientBoosting. `shape.parallel` must be 1. std::invalid_argument as there.
TreeEnsemble boosted_exactly(std::span<const float> rows, std::size_t columns,
                             std::span<const float> target, const BoostingShape& shape);

}  // namespace corun::inline models
