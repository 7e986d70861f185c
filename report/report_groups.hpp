#pragma once

#include <string>
#include <vector>

#include "report/report_sharing.hpp"

/// Whom a policy serves: completion times by groups of jobs, as `corun replay --by` prints them, and preemptions.
namespace corun::inline report {

/// Adds `groups` and `preemptions` (web/src/data.js). Throws the source's damaged().
void add_groups(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions);

}  // namespace corun::inline report
