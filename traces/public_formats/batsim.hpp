#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace_builder.hpp"

/// Workloads of Batsim (Dutot et al., JSSPP 2016; its documentation, "Workload"): one JSON object.
///
///   {"jobs": [{"id": NAME, "subtime": [s], "res": GPUs, "profile": NAME}],
///    "profiles": {NAME: {"type": "delay", "delay": [s]}}}
///
/// A resource counts as a GPU. A delay is the run time; other profiles compute on machines that the file does not
/// describe: their jobs are left out and counted, as those without resources, run time or submit time (or below 0).
/// Other keys are ignored.
namespace corun::inline traces {

/// InputError for anything else, and for text that is not JSON.
Trace read_batsim(const std::string& path, const LogRules& rules = {});
Trace read_batsim(std::istream& in, const std::string& name, const LogRules& rules = {});
bool looks_like_batsim(const TraceHead& head);

}  // namespace corun::inline traces
