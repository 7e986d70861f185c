#pragma once

#include <string>
#include <vector>

#include "report/report_sharing.hpp"

/// The timeline of GPU occupancy: replication 0 (the first that the file has) of each policy.
namespace corun::inline report {

/// Adds `timeline`, `gpus` and `gpu_types`. A policy whose bars do not fit the limits, or whose events the results file
/// cut, is shown as shades: how busy groups of GPUs are, from its episodes. Throws the source's damaged().
void add_timeline(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions);

}  // namespace corun::inline report
