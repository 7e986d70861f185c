#include "models/learners/exact_boosting.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

/// A split must be worth more than its leaf by this.
constexpr double kLeastGain = 1e-6;

/// Features by column, and the rows of each in ascending order of it.
class SortedColumns {
 public:
  struct Entry {
    float value;
    std::uint32_t row;
  };

  SortedColumns(std::span<const float> rows, std::size_t columns)
      : count_(rows.size() / columns), known_(columns), unknown_(columns) {
    values_.reserve(rows.size());
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t r = 0; r < count_; ++r) {
        const float x = rows[r * columns + c];
        values_.push_back(x);
        if (std::isnan(x)) {
          unknown_[c].push_back(static_cast<std::uint32_t>(r));
        } else {
          known_[c].push_back({x, static_cast<std::uint32_t>(r)});
        }
      }
      std::ranges::stable_sort(known_[c], {}, &Entry::value);
    }
  }

  std::size_t columns() const { return known_.size(); }
  std::size_t rows() const { return count_; }
  const float* values(std::size_t column) const { return values_.data() + column * count_; }
  const std::vector<Entry>& known(std::size_t column) const { return known_[column]; }
  const std::vector<std::uint32_t>& unknown(std::size_t column) const { return unknown_[column]; }

 private:
  std::size_t count_;
  std::vector<float> values_;
  std::vector<std::vector<Entry>> known_;
  std::vector<std::vector<std::uint32_t>> unknown_;
};

/// Residuals of some rows.
struct LeafRows {
  double sum = 0;
  std::uint32_t count = 0;

  void add(double residual) {
    sum += residual;
    ++count;
  }
  friend LeafRows operator+(const LeafRows& a, const LeafRows& b) {
    return {a.sum + b.sum, a.count + b.count};
  }
  friend LeafRows operator-(const LeafRows& a, const LeafRows& b) {
    return {a.sum - b.sum, a.count - b.count};
  }
};

struct LeafSplit {
  double worth = 0;  ///< of both parts
  std::size_t column = 0;
  float threshold = 0;
  bool unknown_right = false;
  LeafRows left;
};

/// A node of the current level.
struct OpenLeaf {
  LeafRows all;
  bool is_open = false;  ///< it may be split
  LeafSplit best;
  // Of the column that is searched:
  LeafRows unknown;
  LeafRows below;
  float last = 0;
};

class Booster {
 public:
  Booster(std::span<const float> rows, std::size_t columns, std::span<const float> target,
          const BoostingShape& shape)
      : sorted_(rows, columns),
        shape_(shape),
        residual_(target.begin(), target.end()),
        node_(target.size()),
        searched_(target.size()),
        order_(columns) {
    std::iota(order_.begin(), order_.end(), 0);
    for (std::size_t n = 0; n <= target.size(); ++n) {
      inverse_.push_back(1 / (static_cast<double>(n) + shape.lambda));
    }
    if (shape.lambda == 0) inverse_.front() = 0;  // no rows are worth nothing
    out_.depth = shape.depth;
    out_.columns = columns;
  }

  TreeEnsemble run() && {
    for (int round = 0; round < shape_.rounds; ++round) add_tree(round);
    return std::move(out_);
  }

 private:
  static constexpr std::int32_t kNotSearched = -1;

  double worth(const LeafRows& part) const { return part.sum * part.sum * inverse_[part.count]; }

  void add_tree(int round) {
    Rng rng(shape_.seed, Stream::kBoosting, static_cast<std::uint64_t>(round));
    draw_rows(rng);
    for (int level = 0; level < shape_.depth; ++level) {
      for (const std::size_t column : draw_columns(rng)) search(column);
      split(level);
    }
    const std::size_t first = out_.leaf.size();
    for (const OpenLeaf& leaf : leaves_) {
      out_.leaf.push_back(
          static_cast<float>(shape_.learning_rate * leaf.all.sum * inverse_[leaf.all.count]));
    }
    for (std::size_t r = 0; r < residual_.size(); ++r) residual_[r] -= out_.leaf[first + node_[r]];
  }

  void draw_rows(Rng& rng) {
    const double limit = shape_.subsample * 4294967296.0;
    leaves_.assign(1, {});
    for (std::size_t r = 0; r < residual_.size(); ++r) {
      node_[r] = 0;
      const bool is_drawn = static_cast<double>(rng.next()) < limit;
      searched_[r] = is_drawn ? 0 : kNotSearched;
      if (is_drawn) leaves_.front().all.add(residual_[r]);
    }
    leaves_.front().is_open = true;
  }

  /// In ascending order.
  std::vector<std::size_t> draw_columns(Rng& rng) {
    const auto asked =
        static_cast<std::size_t>(shape_.columns * static_cast<double>(order_.size()));
    const std::size_t count = std::max<std::size_t>(1, asked);
    for (std::size_t i = 0; i < count; ++i) {
      const auto left = static_cast<std::uint32_t>(order_.size() - i);
      std::swap(order_[i], order_[i + rng.below(left)]);
    }
    std::vector<std::size_t> out(order_.begin(),
                                 order_.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(out);
    return out;
  }

  /// Tries all splits of all open leaves by a column.
  void search(std::size_t column) {
    for (OpenLeaf& leaf : leaves_) leaf.unknown = leaf.below = {};
    for (const std::uint32_t r : sorted_.unknown(column)) {
      if (searched_[r] >= 0) leaf_of(r).unknown.add(residual_[r]);
    }
    for (const SortedColumns::Entry& entry : sorted_.known(column)) {
      if (searched_[entry.row] < 0) continue;
      OpenLeaf& leaf = leaf_of(entry.row);
      if (leaf.below.count > 0 && leaf.last < entry.value) {
        consider(leaf, column, between(leaf.last, entry.value));
      }
      leaf.below.add(residual_[entry.row]);
      leaf.last = entry.value;
    }
    for (OpenLeaf& leaf : leaves_) {
      if (leaf.unknown.count == 0 || leaf.below.count == 0) continue;
      // Known values on the left, unknown ones on the right.
      consider_one(leaf, column, std::nextafter(leaf.last, std::numeric_limits<float>::infinity()),
                   true, leaf.below);
    }
  }

  OpenLeaf& leaf_of(std::uint32_t row) { return leaves_[static_cast<std::size_t>(searched_[row])]; }

  /// A number above `low` and at most `high`, their middle unless that is rounded to `low`.
  static float between(float low, float high) {
    const float middle = low + (high - low) / 2;
    return middle > low ? middle : high;
  }

  void consider(OpenLeaf& leaf, std::size_t column, float threshold) const {
    consider_one(leaf, column, threshold, true, leaf.below);
    if (leaf.unknown.count > 0) {
      consider_one(leaf, column, threshold, false, leaf.below + leaf.unknown);
    }
  }

  void consider_one(OpenLeaf& leaf, std::size_t column, float threshold, bool unknown_right,
                    const LeafRows& left) const {
    const LeafRows right = leaf.all - left;
    if (left.count < shape_.leaf_weight || right.count < shape_.leaf_weight) return;
    const double both = worth(left) + worth(right);
    if (both > leaf.best.worth) leaf.best = {both, column, threshold, unknown_right, left};
  }

  /// Splits the leaves of a level. Those that are not split become the left child of a node that no row leaves to the right.
  void split(int level) {
    std::vector<OpenLeaf> next(2 * leaves_.size());
    for (std::size_t n = 0; n < leaves_.size(); ++n) {
      OpenLeaf& leaf = leaves_[n];
      const bool is_split =
          leaf.is_open && leaf.best.worth - worth(leaf.all) > kLeastGain && leaf.best.worth > 0;
      leaf.is_open = is_split;
      if (is_split) {
        out_.test.push_back(2 * static_cast<int>(leaf.best.column) +
                            (leaf.best.unknown_right ? 1 : 0));
        out_.threshold.push_back(leaf.best.threshold);
        next[2 * n].all = leaf.best.left;
        next[2 * n + 1].all = leaf.all - leaf.best.left;
        next[2 * n].is_open = next[2 * n + 1].is_open = level + 1 < shape_.depth;
      } else {
        out_.test.push_back(0);
        out_.threshold.push_back(std::numeric_limits<float>::infinity());
        next[2 * n].all = next[2 * n + 1].all = leaf.all;
      }
    }
    for (std::size_t r = 0; r < node_.size(); ++r) {
      const OpenLeaf& leaf = leaves_[node_[r]];
      node_[r] *= 2;
      if (leaf.is_open) {
        const float x = sorted_.values(leaf.best.column)[r];
        node_[r] += std::isnan(x) ? leaf.best.unknown_right : x >= leaf.best.threshold;
      } else {
        searched_[r] = kNotSearched;
      }
      if (searched_[r] >= 0) searched_[r] = static_cast<std::int32_t>(node_[r]);
    }
    leaves_ = std::move(next);
  }

  SortedColumns sorted_;
  const BoostingShape& shape_;
  std::vector<double> residual_;
  std::vector<std::uint32_t> node_;     ///< of each row, at the current level from the left
  std::vector<std::int32_t> searched_;  ///< the same for rows that splits are searched for
  std::vector<std::size_t> order_;      ///< of columns; the first ones are drawn
  std::vector<double> inverse_;         ///< 1 / (n + lambda)
  std::vector<OpenLeaf> leaves_;        ///< of the current level
  TreeEnsemble out_;
};

}  // namespace

TreeEnsemble boosted_exactly(std::span<const float> rows, std::size_t columns,
                             std::span<const float> target, const BoostingShape& shape) {
  check_boosting(rows, columns, target, shape);
  if (shape.parallel != 1) throw std::invalid_argument("boosting: a round has one tree here");
  return Booster(rows, columns, target, shape).run();
}

}  // namespace corun::inline models
