#pragma once

#include <iosfwd>
#include <string>

#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Tables of the phases of jobs that change: one row per phase, those of a job in their order.
///
///   job, or workload   required, one of the two: the job's name, or the workload of all jobs with these phases
///   solo_s, or share   required, one of the two: the phase's part of the job's run time alone [s], above 0, or as a
///                      share of it, above 0 and at most 1. Those of a job add up to its run time, to 1 ms or 1e-9 of it;
///                      shares add up to 1, to 1e-9
///   as                 the workload as which measured co-runs and solo times know the phase; the job's own if empty
///   gpu_util_pct, mem_alloc_pct, mem_time_pct, mem_used_mib
///                      profile and memory demand, as in a job trace; the job's own if empty
namespace corun::inline traces {

/// Reads a table and gives the jobs that it names their phases: Trace::phases, and the profile of the first phase as the
/// job's. InputError "FILE:LINE:COLUMN: ..." for anything that the table above excludes, for rows of a job that is not
/// in the trace, and for a table that names none of the trace's workloads.
void read_phases(const std::string& path, WorkloadKeys& keys, Trace& trace);
/// The same from a stream; `name` stands for the file in messages.
void read_phases(std::istream& in, const std::string& name, WorkloadKeys& keys, Trace& trace);

}  // namespace corun::inline traces
