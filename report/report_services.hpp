#pragma once

#include <string>
#include <vector>

#include "report/report_sharing.hpp"

/// The services of a report.
namespace corun::inline report {

/// Adds `services` (web/src/data.js): requests within the goal, load, latency and replicas over time, and who shared with the
/// replicas. Nothing without services in the file. Throws the source's damaged().
void add_services(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions);

}  // namespace corun::inline report
