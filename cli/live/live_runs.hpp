#pragma once

#include <string>

#include "evaluation/validation/validation.hpp"
#include "live/validation/run_validation.hpp"

/// Live runs in the terms of `corun validate`, so that one page and one set of figures judge both.
namespace corun::live {

/// Whether it has the files of `corun live run`.
bool is_live_directory(const std::string& directory);

/// A row per policy for what was predicted (given the policy) and for what was replayed (given the allocation). Jobs
/// count as in PolicyValidation; those that did not finish in the prediction are left out there, and rows without jobs.
/// `title`: of the directory.
Validation as_validation(const RunValidation& run, const std::string& title, bool policy,
                         bool allocation);

}  // namespace corun::live
