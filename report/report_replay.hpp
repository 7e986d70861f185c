#pragma once

#include "report/report.hpp"
#include "report/report_source.hpp"

/// The parts of a report on a replay or a live run: policies, intervals, distributions, use over time.
namespace corun::inline report {

/// Adds all keys but `format`, `kind`, `source` and `warnings`. Texts go to out["reductions"]. Throws the source's
/// damaged(), and InputError that begins with the path for a part of a run that did not end.
void add_replay(const ReportSource& source, const ReportLimits& limits, Json& out);

}  // namespace corun::inline report
