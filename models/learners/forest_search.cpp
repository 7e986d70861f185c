#include "models/learners/forest_search.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "sim/base/parallel_for.hpp"

namespace corun::inline models {
namespace {

/// The numbers of trees of the grid, each once, ascending.
std::vector<int> milestones(const std::vector<int>& trees) {
  std::vector<int> sorted = trees;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

/// Grows the forest to `trees` in blocks that end at each smaller milestone.
void grow_to(RegressionForest& forest, const std::vector<int>& milestones, int trees) {
  for (const int m : milestones) {
    if (m > trees) return;
    if (m > forest.trees()) forest.grow(m - forest.trees());
  }
}

}  // namespace

ForestChoice choose_forest(const MatrixView& predictors, std::span<const double> target,
                           const ForestGrid& grid, const CrossValidation& options, int threads) {
  if (grid.depths.empty() || grid.features.empty() || grid.trees.empty()) {
    throw std::invalid_argument("forest: an axis of the grid is empty");
  }
  if (*std::ranges::min_element(grid.trees) < 1) {
    throw std::invalid_argument("forest: a forest needs a tree");
  }
  if (threads < 1) throw std::invalid_argument("forest: less than one thread");
  const std::vector<Split> splits = split(predictors, target, options);
  const std::vector<int> steps = milestones(grid.trees);

  const std::size_t shapes = grid.depths.size() * grid.features.size();
  const auto shape_of = [&](std::size_t i) {
    ForestShape shape;
    shape.depth = grid.depths[i / grid.features.size()];
    shape.features = grid.features[i % grid.features.size()];
    shape.seed = options.seed;
    return shape;
  };

  ForestChoice choice;
  choice.errors.assign(shapes * grid.trees.size(), 0);
  parallel_for(shapes, threads, [&](std::size_t i) {
    // One thread sums over the folds in order, so that the sum does not depend on the schedule.
    for (const Split& s : splits) {
      RegressionForest forest(s.train_view(), s.train_target, shape_of(i));
      for (const int step : steps) {
        grow_to(forest, steps, step);
        const double error = squared_error(forest.predict(s.test_view()), s.test_target);
        for (std::size_t t = 0; t < grid.trees.size(); ++t) {
          if (grid.trees[t] == step) choice.errors[i * grid.trees.size() + t] += error;
        }
      }
    }
  });
  for (double& e : choice.errors) e /= static_cast<double>(target.size());

  const auto best =
      static_cast<std::size_t>(std::ranges::min_element(choice.errors) - choice.errors.begin());
  const std::size_t shape = best / grid.trees.size();
  choice.depth = shape_of(shape).depth;
  choice.features = shape_of(shape).features;
  choice.trees = grid.trees[best % grid.trees.size()];
  choice.error = choice.errors[best];
  RegressionForest forest(predictors, target, shape_of(shape));
  grow_to(forest, steps, choice.trees);
  choice.importance = forest.importance();
  return choice;
}

}  // namespace corun::inline models
