#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The Standard Workload Format of the Parallel Workloads Archive: Chapin et al., "Benchmarks and
/// standards for the evaluation of parallel job schedulers", JSSPP 1999. Lines that begin with `;`
/// are comments; every other line is a job of 18 numbers between blanks, -1 if not known. These are read:
///
/// | field | meaning                                                                              |
/// |-------|-------------------------------------------------------------------------------------|
/// | 1     | number of the job: its name                                                          |
/// | 2     | submit time [s]                                                                      |
/// | 4     | run time [s]                                                                         |
/// | 5, 8  | processors allocated, and asked for: GPUs; field 8, or field 5 if that is not known |
/// | 11    | status: 0 failed, 1 completed, 5 cancelled                                           |
/// | 16    | partition: its virtual cluster, if the file has any                                 |
///
/// A processor counts as a GPU. Left out and counted: jobs without processors, without run time (cancelled
/// before they began, or not known), or with a repeated number.
namespace corun::inline traces {

/// InputError, with line and column, for anything else.
Trace read_standard_workload(const std::string& path, const LogRules& rules = {});
Trace read_standard_workload(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_standard_workload(const TraceHead& head);

/// Writes the jobs, numbered from 1 in order of arrival. Times are rounded to whole seconds, run times to
/// at least one. Data without a field of the format (names, profiles, shares of a GPU) are lost.
void write_standard_workload(std::ostream& out, const Trace& trace);

}  // namespace corun::inline traces
