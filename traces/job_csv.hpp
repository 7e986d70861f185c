#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// corun's own trace of jobs: a CSV with a header, one row per job. Columns may have any order; an empty
/// field of an optional column means "not known".
///
///   job            the job's name, each once; without the column, the number of the row from 1
///   submit_s       required; [s] 0 or more, up to 4e9 (seconds since 1970 fit); or in all rows a date such
///                  as 2020-06-09 18:41:01, and the first of them is 0 s
///   solo_s         required; [s] run time alone on the reference GPU type, above 0
///   gpus           gang size, 1 or more; 1 if empty
///   priority       larger goes first; 0 if empty
///   gpu_util_pct   profile: maximum GPU utilisation [%], 0 to 100
///   mem_alloc_pct  profile: maximum share of memory reserved [%], 0 to 1000
///   mem_time_pct   profile: share of time memory was accessed [%], 0 to 100
///   mem_used_mib   true memory demand [MiB]; unknown demand never causes OOM
///   cpu_milli      CPU asked of the node [1/1000]; 0 if empty
///   memory_mib     main memory asked of the node [MiB]; 0 if empty
///   epoch_s        solo time of one epoch [s], above 0
///   workload       the workload's name in co-run measurements (workload_names.hpp)
///   cluster        cluster of the profile, 0 or more
///   uncertainty    sum of the profile's distances to all centres, 0 or more
///   imputed        1 if the profile stands in for an unpublished one, else 0
///   gpu_milli      share of its GPU asked for [1/1000], 1 to 1000; 1000 if empty, and with several GPUs
///   gpu_models     GPU models on which it may run, joined by `|`; any if empty
///   virtual_cluster  name of its queue, which has nodes of its own; the empty name is an ordinary name
///   steps          solo_s in whole training steps, 0 or more; 0 (not known) if empty
///   packing_label  load on co-runners for lucid: 0 tiny, 1 medium, 2 jumbo
///   zoo            a model of the zoo (`corun list zoo`), which the job trains: its profile is predicted as far
///                  as the row does not have it
///   batch          samples of its training step, 1 or more; 1 if empty
///   solo_s@TYPE    [s] run time alone on a GPU of TYPE, 1e-9 to 9e7; "-": does not run there
///   mem_used_mib@TYPE  memory demand on a GPU of TYPE [MiB]
///
/// The last two stand once for each TYPE, of any number of GPU types: Trace::on_types, in the order in
/// which the header names them. TYPE is kept as it is written; the reader knows no GPU types.
///
/// Times are kept to the nanosecond. Identifiers follow the order of rows; arrivals follow `submit_s`, rows
/// of one instant in file order. Other columns are left out (Trace::unread_columns), but a name that is
/// nearly that of a missing column above is refused.
namespace corun::inline traces {

/// Parses "arrival=submit_s,hours=solo_s*3600,note=": a column of the file, its name above and, for numbers
/// in s, % or MiB but memory_mib, a factor; with nothing after "=" the column is left out. InputError at
/// `place` for any other text, for names that are not above, and for a name given twice.
std::vector<RenamedColumn> parse_renamed_columns(const std::string& text, const std::string& place);

/// InputError for anything that the table above excludes, and for a file without jobs. A file with renamed
/// columns is a log that others wrote: jobs without GPUs or run time (0 or empty) are left out and
/// counted, a repeated name gets "#" and the number of its row, and solo_s may be a clock time, "HH:MM:SS" or "D-HH:MM:SS". A header without
/// commas sets the separator: ';', tab or '|'.
Trace read_job_csv(const std::string& path, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed = {});
/// The same from a stream; `name` stands for the file in messages.
Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed = {});
bool looks_like_job_csv(const TraceHead& head);

/// Writes all columns, in the table's order, but leaves out those of the last nine that no job uses.
/// Reading it back gives the same jobs with the same identifiers, and arrivals as by order_arrivals();
/// `source`, `reference_type`, features and `shuffled_by_default` are not part of the file, nor is a type on
/// which nothing is known of any job. Names must have no tabs and line breaks, as from every reader.
void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys);

}  // namespace corun::inline traces
