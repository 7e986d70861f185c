#include "models/learners/tree_ensemble.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace corun::inline models {

std::vector<double> TreeEnsemble::sums(std::span<const float> rows) const {
  constexpr std::size_t kBlock = 16;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::size_t count = columns > 0 ? rows.size() / columns : 0;
  const std::size_t inner = (std::size_t{1} << static_cast<unsigned>(depth)) - 1;
  std::vector<double> out(count, 0);
  // Two values for every feature, which differ for NaN: the first is below all thresholds, the second above.
  // A node's test is the position of the value to compare.
  const std::size_t width = 2 * columns;
  std::vector<float> values(kBlock * width, 0);
  for (std::size_t from = 0; from < count; from += kBlock) {
    const std::size_t block = std::min(kBlock, count - from);
    for (std::size_t r = 0; r < block; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const float x = rows[(from + r) * columns + c];
        values[r * width + 2 * c] = std::isnan(x) ? -kInfinity : x;
        values[r * width + 2 * c + 1] = std::isnan(x) ? kInfinity : x;
      }
    }
    std::array<double, kBlock> sum{};
    for (std::size_t t = 0; t < trees(); ++t) {
      const std::int32_t* const tests = test.data() + t * inner;
      const float* const thresholds = threshold.data() + t * inner;
      std::array<std::uint32_t, kBlock> node{};
      for (int level = 0; level < depth; ++level) {
        for (std::size_t r = 0; r < kBlock; ++r) {
          const std::uint32_t n = node[r];
          const float x = values[r * width + static_cast<std::size_t>(tests[n])];
          node[r] = 2 * n + 1 + static_cast<std::uint32_t>(x >= thresholds[n]);
        }
      }
      const float* const leaves = leaf.data() + t * (inner + 1);
      for (std::size_t r = 0; r < kBlock; ++r) sum[r] += leaves[node[r] - inner];
    }
    std::copy_n(sum.begin(), block, out.begin() + static_cast<std::ptrdiff_t>(from));
  }
  return out;
}

void TreeEnsemble::append(const TreeEnsemble& more) {
  if (more.columns != columns || more.depth != depth) {
    throw std::invalid_argument("trees: of another depth or for other features");
  }
  test.insert(test.end(), more.test.begin(), more.test.end());
  threshold.insert(threshold.end(), more.threshold.begin(), more.threshold.end());
  leaf.insert(leaf.end(), more.leaf.begin(), more.leaf.end());
}

void TreeEnsemble::check() const {
  const auto require = [](bool fine, const char* what) {
    if (!fine) throw std::invalid_argument(std::string("trees: ") + what);
  };
  require(depth >= 0 && depth <= kMostDepth, "a depth that is not possible");
  const std::size_t leaves = std::size_t{1} << static_cast<unsigned>(depth);
  require(leaf.size() % leaves == 0, "leaves are missing");
  require(test.size() == trees() * (leaves - 1) && threshold.size() == test.size(),
          "inner nodes are missing");
  require(std::all_of(
              test.begin(), test.end(),
              [&](std::int32_t t) { return t >= 0 && static_cast<std::size_t>(t) < 2 * columns; }),
          "a test of a feature that is not there");
  require(std::none_of(threshold.begin(), threshold.end(), [](float x) { return std::isnan(x); }),
          "a threshold is no number");
  require(std::all_of(leaf.begin(), leaf.end(), [](float x) { return std::fabs(x) <= 1e6F; }),
          "a leaf is not possible");
}

}  // namespace corun::inline models
