#pragma once

#include <cstddef>
#include <optional>

#include "models/interference/catalog.hpp"

/// How well a model predicts pairs of a table that its fit has not seen.
namespace corun::inline models {

/// Mean absolute errors of ISD = 1/speed - 1 [fraction], over both directions of all pairs, each predicted by a fit
/// without it.
struct HeldOutError {
  double model = 0;
  double mean = 0;  ///< of a constant: the mean ISD of the other folds
  std::size_t pairs = 0;

  bool lost() const { return model >= mean; }
};

/// Cross-validation in five folds; all rows of a pair of jobs are in one. Groups of three and more take no part.
/// Nothing for fewer than kFewestHeldOut pairs, and where a fold cannot be fitted. Five fits long.
inline constexpr std::size_t kFewestHeldOut = 10;
std::optional<HeldOutError> held_out_error(const InterferenceModelEntry& entry,
                                           const SpeedTable& table, const FitOptions& options);

}  // namespace corun::inline models
