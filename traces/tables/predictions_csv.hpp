#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "traces/tables/measurements.hpp"

namespace corun::inline traces {

/// The rows as read, in order, each followed by the predicted speeds pred_norm_a, pred_norm_b and their standard
/// deviations pred_sd_a, pred_sd_b; the lines of a table of groups by pred_norm and pred_sd. That is the order within a
/// prediction. NaN is an empty field. A table without fields is written as job_a, job_b, norm_a, norm_b. InputError if a
/// column of these names exists already; std::invalid_argument if there is not one prediction per row or line.
void write_predictions(std::ostream& out, const Measurements& table,
                       std::span<const std::vector<double>> predictions);

}  // namespace corun::inline traces
