#include "models/predictors/residual_trees.hpp"

#include <utility>
#include <vector>

#include "models/knowledge/boosting.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"

namespace corun {

namespace {

constexpr BoostingShape kResidualShape{.rounds = 400,
                                       .depth = 5,
                                       .learning_rate = 0.04,
                                       .subsample = 0.5,
                                       .columns = 0.4,
                                       .lambda = 1,
                                       .leaf_weight = 3,
                                       .seed = 0,
                                       .parallel = 1};

}  // namespace

ResidualRows ResidualRows::only(std::span<const std::size_t> rows) const {
  ResidualRows some;
  some.columns = columns;
  for (const std::size_t row : rows) {
    const auto from = features.begin() + static_cast<std::ptrdiff_t>(row * columns);
    some.features.insert(some.features.end(), from, from + static_cast<std::ptrdiff_t>(columns));
    some.residual.push_back(residual[row]);
    some.weight.push_back(weight[row]);
  }
  return some;
}

TreeEnsemble fit_residual_trees(const ResidualRows& rows, const PredictorOptions& options,
                                int count) {
  std::vector<TreeEnsemble> ensembles(static_cast<std::size_t>(count));
  parallel_for(ensembles.size(), options.threads, [&](std::size_t e) {
    BoostingShape shape = kResidualShape;
    shape.seed = Rng(options.seed, Stream::kBoosting, e).next() & 0x7fffffffU;
    ensembles[e] =
        GradientBoosting(rows.features, rows.columns, rows.residual, shape, rows.weight).trees();
  });
  TreeEnsemble all = std::move(ensembles[0]);
  for (std::size_t e = 1; e < ensembles.size(); ++e) all.append(ensembles[e]);
  for (float& leaf : all.leaf) leaf /= static_cast<float>(count);
  return all;
}

}  // namespace corun
