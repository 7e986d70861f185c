#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/interference/gp/training_set.hpp"

/// The order of the observations in predictions (gp_formula.hpp): by the column of the co-runner, then by
/// arrival. Slowed jobs and co-runners are numbered separately, each by its first observation.
namespace corun::inline models::gp {

class CoRunnerOrder {
 public:
  /// Inserts the next observation of `rows`, in the order of their numbers from 0. Returns its place, behind
  /// the others of its co-runner.
  std::size_t add(const Rows& rows);

  /// Column of a job as the slowed job; kNew if it is so in no observation.
  std::int32_t own_column(std::uint32_t job) const { return slowed_column_[job]; }
  std::int32_t co_runner_column(std::uint32_t job) const { return co_runner_column_[job]; }
  /// The jobs by column.
  const std::vector<std::uint32_t>& owns() const { return slowed_; }
  const std::vector<std::uint32_t>& co_runners() const { return co_runners_; }
  /// Where the observations of each co-runner begin, and the number of observations: co-runners + 1 entries.
  const std::vector<std::uint32_t>& first() const { return first_; }
  /// Numbers of the observations in this order.
  const std::vector<std::uint32_t>& observations() const { return order_; }

 private:
  std::vector<std::int32_t> slowed_column_, co_runner_column_;
  std::vector<std::uint32_t> slowed_, co_runners_;
  std::vector<std::uint32_t> first_{0};
  std::vector<std::uint32_t> order_;
};

}  // namespace corun::inline models::gp
