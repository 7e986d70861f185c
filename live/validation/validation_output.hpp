#pragma once

#include <string>

#include "live/validation/run_validation.hpp"
#include "support/json.hpp"

/// Printed output of `corun live validate`: measured, predicted and replayed figures of each job.
namespace corun::live {

/// {"gpu", "gpus", "policies": [{"policy", "left_out", "isd", "jct_s", "ps", "jobs", "groups"}]}.
Json validation_json(const RunValidation& run);

/// policy,jobs,company,metric,measured,predicted,replayed: rows of jobs and of groups.
std::string validation_csv(const RunValidation& run);

/// For each policy a table of its jobs and one of its co-runs; at the end means and errors.
std::string validation_table(const RunValidation& run);

}  // namespace corun::live
