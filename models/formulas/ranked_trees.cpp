#include "models/formulas/ranked_trees.hpp"

#include <algorithm>
#include <limits>

namespace corun::inline models {

namespace {

constexpr std::size_t kMostRanks = std::numeric_limits<std::int16_t>::max();
constexpr std::size_t kMostLines = std::numeric_limits<std::uint16_t>::max();

}  // namespace

RankedTrees::RankedTrees(const trees::Ensemble& trees) {
  using trees::Ranked;
  if (trees.depth == 0 || trees.depth > Ranked::kDepth || trees.trees == 0) return;
  const std::size_t inner = trees.inner();
  const std::size_t nodes = inner * trees.trees;

  // A line of ranks for each test that occurs, with its distinct thresholds.
  std::vector<std::vector<float>> of_test(2 * std::size_t{trees.columns});
  for (std::size_t n = 0; n < nodes; ++n) {
    of_test[static_cast<std::size_t>(trees.test[n])].push_back(trees.threshold[n]);
  }
  std::vector<std::uint16_t> line_of(of_test.size(), 0);
  std::vector<float> threshold;
  std::vector<std::uint32_t> first{0};
  std::vector<std::int32_t> test;
  for (std::size_t t = 0; t < of_test.size(); ++t) {
    std::vector<float>& all = of_test[t];
    if (all.empty()) continue;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::size_t size = 1;
    while (size < all.size()) size = 2 * size + 1;
    if (size > kMostRanks || test.size() == kMostLines) return;
    line_of[t] = static_cast<std::uint16_t>(test.size());
    test.push_back(static_cast<std::int32_t>(t));
    threshold.insert(threshold.end(), all.begin(), all.end());
    threshold.insert(threshold.end(), size - all.size(), std::numeric_limits<float>::infinity());
    first.push_back(static_cast<std::uint32_t>(threshold.size()));
  }

  // A leaf of a shallower tree becomes a subtree whose leaves all have its value.
  const std::size_t copies = Ranked::kLeaves / (inner + 1);
  for (std::size_t t = 0; t < trees.trees; ++t) {
    for (std::size_t n = 0; n < Ranked::kInner; ++n) {
      std::uint16_t line = 0;
      std::size_t rank = 0;  // any rank will do: the leaves below are equal
      if (n < inner) {
        const std::size_t at = t * inner + n;
        line = line_of[static_cast<std::size_t>(trees.test[at])];
        const std::vector<float>& all = of_test[static_cast<std::size_t>(trees.test[at])];
        rank = static_cast<std::size_t>(
            std::lower_bound(all.begin(), all.end(), trees.threshold[at]) - all.begin() + 1);
      }
      line_.push_back(line);
      rank_.push_back(static_cast<std::int16_t>(rank));
    }
    for (std::size_t l = 0; l < Ranked::kLeaves; ++l) {
      leaf_.push_back(trees.leaf[t * (inner + 1) + l / copies]);
    }
  }
  trees_ = trees.trees;
  columns_ = trees.columns;
  test_ = std::move(test);
  first_ = std::move(first);
  threshold_ = std::move(threshold);
}

trees::Ranked RankedTrees::view() const {
  return {trees_,       columns_,      static_cast<std::uint32_t>(test_.size()),
          line_.data(), rank_.data(),  leaf_.data(),
          test_.data(), first_.data(), threshold_.data()};
}

}  // namespace corun::inline models
