#pragma once

#include <string>

#include "support/json.hpp"

/// The part of a report on a sweep.
namespace corun::inline report {

/// Adds `sweep`, `policies`, `coverage` and `reductions`. `path` is a results file of a sweep; throws as
/// read_sweep_results() and answer_sweep(). Locks hdf5_mutex().
void add_sweep(const std::string& path, Json& out);

}  // namespace corun::inline report
