#include "models/learners/exact_boosting.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
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
  std::uint32_t first = 0;  ///< of its rows with a known value, in values_ and residuals_
};

/// A row of a leaf.
struct Dealt {
  double residual;
  float value;  ///< of the column that is searched
};

/// Where a node sends its rows.
struct Way {
  const float* values;
  float threshold;
  bool unknown_right;
  bool is_open;  ///< rows are searched further
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
        order_(columns),
        dealt_(target.size() + 1) {
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
    for (OpenLeaf& leaf : leaves_) leaf.unknown = {};
    for (const std::uint32_t r : sorted_.unknown(column)) {
      if (searched_[r] >= 0) leaf_of(r).unknown.add(residual_[r]);
    }
    deal_rows(column);
    for (OpenLeaf& leaf : leaves_) {
      if (!leaf.is_open) continue;
      if (leaf.unknown.count == 0) {
        search_known(leaf, column);
      } else {
        search_all(leaf, column);
      }
    }
  }

  /// Sorts the rows with a known value by leaf, in the order of the value. Branches would be mispredicted for every
  /// second row, so those that are not searched are written to a place that is overwritten.
  void deal_rows(std::size_t column) {
    std::uint32_t first = 0;
    ends_.resize(leaves_.size() + 1);
    for (std::size_t n = 0; n < leaves_.size(); ++n) {
      leaves_[n].first = ends_[n + 1] = first;
      if (leaves_[n].is_open) first += leaves_[n].all.count;
    }
    ends_.front() = first;
    for (const SortedColumns::Entry& entry : sorted_.known(column)) {
      const std::int32_t leaf = searched_[entry.row];
      std::uint32_t& end = ends_[static_cast<std::size_t>(std::ptrdiff_t{leaf} + 1)];
      dealt_[end] = {residual_[entry.row], entry.value};
      end += leaf != kNotSearched ? 1 : 0;
    }
  }

  /// The rows of a leaf with a known value of the column, in its order.
  std::span<const Dealt> known_of(const OpenLeaf& leaf) const {
    const auto n = static_cast<std::size_t>(&leaf - leaves_.data());
    return {dealt_.data() + leaf.first, dealt_.data() + ends_[n + 1]};
  }

  /// All splits of a leaf whose rows all have a known value.
  void search_known(OpenLeaf& leaf, std::size_t column) const {
    const std::span<const Dealt> rows = known_of(leaf);
    const double* const inverse = inverse_.data();
    LeafRows below;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      below.add(rows[r - 1].residual);
      const LeafRows above = leaf.all - below;
      const double both = below.sum * below.sum * inverse[below.count] +
                          above.sum * above.sum * inverse[above.count];
      const bool is_between = rows[r - 1].value < rows[r].value;
      if (is_between & (both > leaf.best.worth)) {
        consider(leaf, column, between(rows[r - 1].value, rows[r].value), true, below);
      }
    }
  }

  /// All splits of a leaf, with its unknown values on either side.
  void search_all(OpenLeaf& leaf, std::size_t column) const {
    const std::span<const Dealt> rows = known_of(leaf);
    if (rows.empty()) return;
    LeafRows below;
    for (std::size_t r = 1; r < rows.size(); ++r) {
      below.add(rows[r - 1].residual);
      const LeafRows with_unknown = below + leaf.unknown;
      const double right = worth(below) + worth(leaf.all - below);
      const double left = worth(with_unknown) + worth(leaf.all - with_unknown);
      const bool is_between = rows[r - 1].value < rows[r].value;
      if (is_between & ((right > leaf.best.worth) | (left > leaf.best.worth))) {
        const float threshold = between(rows[r - 1].value, rows[r].value);
        consider(leaf, column, threshold, true, below);
        consider(leaf, column, threshold, false, with_unknown);
      }
    }
    below.add(rows.back().residual);
    // Known values on the left, unknown ones on the right.
    consider(leaf, column,
             std::nextafter(rows.back().value, std::numeric_limits<float>::infinity()), true,
             below);
  }

  OpenLeaf& leaf_of(std::uint32_t row) { return leaves_[static_cast<std::size_t>(searched_[row])]; }

  /// A number above `low` and at most `high`, their middle unless that is rounded to `low`.
  static float between(float low, float high) {
    const float middle = low + (high - low) / 2;
    return middle > low ? middle : high;
  }

  /// Takes the split if it is the best so far.
  void consider(OpenLeaf& leaf, std::size_t column, float threshold, bool unknown_right,
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
    // A leaf that is not split leaves no row to the right, whatever the column.
    ways_.clear();
    for (const OpenLeaf& leaf : leaves_) {
      if (leaf.is_open) {
        ways_.push_back(
            {sorted_.values(leaf.best.column), leaf.best.threshold, leaf.best.unknown_right, true});
      } else {
        ways_.push_back({sorted_.values(0), std::numeric_limits<float>::infinity(), false, false});
      }
    }
    for (std::size_t r = 0; r < node_.size(); ++r) {
      const Way& way = ways_[node_[r]];
      const float x = way.values[r];
      const bool is_right = (x >= way.threshold) | (std::isnan(x) & way.unknown_right);
      node_[r] = 2 * node_[r] + (is_right ? 1 : 0);
      const bool is_searched = (searched_[r] >= 0) & way.is_open;
      searched_[r] = is_searched ? static_cast<std::int32_t>(node_[r]) : kNotSearched;
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
  std::vector<Dealt> dealt_;         ///< rows by leaf, each leaf in ascending order of the column
  std::vector<std::uint32_t> ends_;  ///< in dealt_, of the rows not searched, then of each leaf
  std::vector<Way> ways_;            ///< of the leaves of a level
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
