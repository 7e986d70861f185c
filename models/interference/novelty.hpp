#pragma once

#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/speed_table.hpp"

/// Whether a job is far from all jobs of a fit. The distance of two jobs is the root of the sum of squares of the
/// differences of their features, as logarithms and ratios (expand_features()) and in standard deviations over the fit's
/// jobs; features that one of the two lacks count as the mean of the others. A job is far if more than 90 % of the fit's
/// jobs are nearer to their nearest neighbour than it is: of new jobs from the same population one in ten is.
namespace corun::inline models {

class Novelty {
 public:
  /// Nothing is far.
  Novelty() = default;
  /// Of the jobs of a table's rows. std::invalid_argument as expand_features().
  explicit Novelty(const SpeedTable& table);

  /// False for a job without features that the fit's jobs have. std::invalid_argument as expand_features().
  bool is_far(std::span<const double> values, std::span<const SpeedTable::Feature> features) const;

  nlohmann::json save() const;
  /// `state`: from save(), of a model with these features. std::invalid_argument if it is not a possible state.
  static Novelty load(const nlohmann::json& state, std::span<const SpeedTable::Feature> features);

 private:
  /// Infinity if no other job has a feature in common.
  double nearest(const double* job, std::size_t but) const;

  std::size_t width_ = 0;
  std::vector<double> mean_, deviation_;  ///< of the expanded features; deviation 0: not used
  std::vector<double> jobs_;              ///< jobs x width_, standardised; NaN: not known
  double limit_ = -1;  ///< nearest distance beyond which a job is far; below 0: none is
};

}  // namespace corun::inline models
