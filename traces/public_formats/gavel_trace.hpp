#pragma once

#include <string>
#include <string_view>

#include "traces/tables/gavel_throughputs.hpp"
#include "traces/trace_builder.hpp"

/// Job traces of Gavel (Narayanan et al., OSDI 2020), in four forms:
///
///   CSV with the header job_id,arrival_s,job_type,scale_factor,total_steps
///     and, if they are there, priority_weight and rates of the jobs (tables/gavel_rates_csv.hpp); job_id may be job
///   tab-separated without header, 10 columns: job type, command, working directory, steps argument,
///     needs data 0/1, total steps, scale factor, priority weight, SLO, arrival [s]
///   the same with 12 columns, of Shockwave (Zheng et al., NSDI 2023): job type, command, working directory, steps
///     argument, needs data 0/1, total steps, scale factor, mode, priority weight, SLO, duration, arrival [s]
///   the older 7 columns: job type, command, steps argument, needs data 0/1, total steps,
///     arrival [s], scale factor
///
/// total steps: training steps, 1 or more; scale factor: GPUs, 1 or more; arrival: 0 or more; priority weight:
/// JobSpec::weight, above 0. The other columns are ignored: no policy uses them.
///
/// Steps become time by the rate of the type alone: JobSpec::work = total steps / rate. Jobs are named by
/// job_id, else by their row in the file from 0. Their features are those of the rates. Trace::reference_type
/// is the GPU type of the rates, Trace::measured_types has the others: a rate of 0 means that the job does not run
/// there.
namespace corun::inline traces {

/// Jobs of a type with rates, but none above 0 for this number of GPUs on this GPU type, are left out and
/// counted in Trace::skipped: Gavel's own traces have some. InputError for anything else that the table
/// above excludes, for a file without jobs, without rates (nullptr), and for a type without rates.
Trace read_gavel_trace(const std::string& path, const GavelThroughputs* rates,
                       const LogRules& rules = {});
/// The same from text; `name` stands for the file in messages.
Trace parse_gavel_trace(std::string_view text, const std::string& name,
                        const GavelThroughputs* rates, const LogRules& rules = {});

/// Whether it begins with the header of the CSV, or with as many tabs as one of the other forms and numbers
/// in their numeric columns.
bool looks_like_gavel_trace(const TraceHead& head);

}  // namespace corun::inline traces
