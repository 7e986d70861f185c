#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// The Standard Workload Format of the Parallel Workloads Archive: Chapin et al., "Benchmarks and
/// standards for the evaluation of parallel job schedulers", JSSPP 1999. Lines that begin with `;`
/// are comments; every other line is a job of 18 numbers between blanks, -1 where not known. Read
/// are:
///
/// | field | meaning                                                                              |
/// |-------|-------------------------------------------------------------------------------------|
/// | 1     | number of the job: its name                                                          |
/// | 2     | submit time [s]                                                                      |
/// | 4     | run time [s]                                                                         |
/// | 5, 8  | processors allocated, and asked for: GPUs; field 8, or field 5 where that is not known |
/// | 16    | partition: its virtual cluster, where the file has any                               |
///
/// A processor is taken as a GPU. Counted and left out: jobs without processors, without run time
/// (cancelled before they began, or not known), or of a number that came before.
namespace corun {

/// InputError, with line and column, for anything else.
Trace read_standard_workload(const std::string& path);
Trace read_standard_workload(std::istream& in, const std::string& name);
bool looks_like_standard_workload(const TraceHead& head);

/// Writes the jobs, numbered from 1 in order of arrival. Times are rounded to whole seconds, a run
/// takes at least one; what the format has no field for (names, profiles, shares of a GPU) is lost.
void write_standard_workload(std::ostream& out, const Trace& trace);

}  // namespace corun
