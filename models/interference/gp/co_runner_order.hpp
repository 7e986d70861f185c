#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/interference/gp/training_set.hpp"

/// The order in which predictions read observations (gp_formula.hpp): those of the first co-runner first, and
/// within a co-runner as they came. Jobs that are slowed, and jobs beside them, have columns by their first
/// observation.
namespace corun::gp {

class CoRunnerOrder {
 public:
  /// The next observation of `rows`: all before it are there. Returns its place, the last of its co-runner's;
  /// those behind move up.
  std::size_t add(const Rows& rows);

  /// Column of a job, kNew: in no observation.
  std::int32_t own_column(std::uint32_t job) const { return slowed_column_[job]; }
  std::int32_t co_runner_column(std::uint32_t job) const { return co_runner_column_[job]; }
  /// Jobs of the columns.
  const std::vector<std::uint32_t>& owns() const { return slowed_; }
  const std::vector<std::uint32_t>& co_runners() const { return co_runners_; }
  /// Where the observations of each co-runner begin; their number.
  const std::vector<std::uint32_t>& first() const { return first_; }
  /// The observations.
  const std::vector<std::uint32_t>& observations() const { return order_; }

 private:
  std::vector<std::int32_t> slowed_column_, co_runner_column_;
  std::vector<std::uint32_t> slowed_, co_runners_;
  std::vector<std::uint32_t> first_{0};
  std::vector<std::uint32_t> order_;
};

}  // namespace corun::gp
