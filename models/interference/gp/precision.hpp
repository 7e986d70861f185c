#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/interference/gp/panels.hpp"

/// The inverse of a covariance matrix, P = inv(K) = inv(L)' inv(L), in the layout of gp::Model::precision:
/// the lower triangle, row by row, with elements off the diagonal doubled. Rows are in the order of
/// predictions (co_runner_order.hpp), which is not that of the root. A new row costs O(size^2).
namespace corun::inline models::gp {

class Precision {
 public:
  Precision() = default;
  /// `precision`: precision_of() the root; order[a]: the row of it that becomes row a of P.
  Precision(const Panels& precision, const std::vector<std::uint32_t>& order);
  /// Adds a row and a column at `at`. `root_row`: the new row of inv(L), in the order of predictions.
  void insert(std::size_t at, const std::vector<double>& root_row);
  std::span<const double> packed() const { return packed_; }

 private:
  std::size_t size_ = 0;
  std::vector<double> packed_;
};

}  // namespace corun::inline models::gp
