#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/interference/gp/inverse_root.hpp"

/// The inverse of a covariance matrix, P = inv(K) = inv(L)' inv(L), as predictions read it
/// (gp::Model::precision): the lower triangle, row by row, what is off the diagonal doubled. Rows are in
/// the order of predictions (co_runner_order.hpp), which is not that of the root. One more row costs
/// O(size^2).
namespace corun::gp {

class Precision {
 public:
  Precision() = default;
  /// order[a]: which row of the root row a of this one is.
  Precision(const InverseRoot& root, const std::vector<std::uint32_t>& order);
  /// One more row and column at `at`. `line`: the root's new row, in the new order.
  void insert(std::size_t at, const std::vector<double>& root_row);
  std::span<const double> packed() const { return packed_; }

 private:
  std::size_t size_ = 0;
  std::vector<double> packed_;
};

}  // namespace corun::gp
