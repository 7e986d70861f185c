#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// corun's own trace of jobs: a CSV with a header, one row per job. Columns may have any order; an empty
/// field of an optional column means "not known".
///
///   job            the job's name, each once; without the column, the number of the row from 1
///   submit_s       required; [s] 0 or more, up to 4e9 (seconds since 1970 fit); or one of the other forms of
///                  SubmitTimeColumn (logs/time_columns.hpp), and the first of dates is 0 s
///   solo_s         required; run time alone on the reference GPU type [s], or a form of RunTimeColumn
///   gpus           gang size, or a form of parse_gpus() (logs/cells.hpp); 1 without the column
///   priority       larger goes first; 0 if empty
///   gpu_util_pct   profile: maximum GPU utilisation [%], 0 to 100
///   mem_alloc_pct  profile: maximum share of memory reserved [%], 0 to 1000
///   mem_time_pct   profile: share of time memory was accessed [%], 0 to 100
///   mem_used_mib   true memory demand [MiB], or with its unit (parse_memory_mib()); unknown demand never causes OOM
///   cpu_milli      CPU asked of the node [1/1000]; 0 if empty
///   memory_mib     main memory asked of the node, the same; 0 if empty
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
///   gpus_min, gpus_max  an elastic job may run on any number of GPUs between them; `gpus` if one is empty
///   parallel_share share of the work that several GPUs do in parallel (Amdahl), 0 to 1; 1 if empty. With n GPUs an elastic
///                  job is (1 - p + p / gpus) / (1 - p + p / n) times as fast as with `gpus`
///   run_nodes      nodes on which solo_s was measured, 1 or more; not told if empty
///   message_mib    what its GPUs exchange in each step, above 0 [MiB]; needs `steps`; not told if empty
///   state          how the job ended (logs/job_states.hpp): rows of jobs that did not end are left out
///   solo_s@TYPE    [s] run time alone on a GPU of TYPE, 1e-9 to 9e7; "-": does not run there
///   mem_used_mib@TYPE  memory demand on a GPU of TYPE [MiB]
///
/// The last two stand once for each TYPE, of any number of GPU types: Trace::measured_types, in the order in
/// which the header names them. TYPE is kept as it is written; the reader knows no GPU types.
///
/// Times are kept to the nanosecond. Identifiers follow the order of rows. Other columns are left out (Trace::unread_columns), but a name that is
/// nearly that of a missing column above is refused.
namespace corun::inline traces {

/// Beginnings of the columns that each GPU type has, before its name, and a solo_s of the first.
inline constexpr std::string_view kSoloOn = "solo_s@";
inline constexpr std::string_view kMemoryOn = "mem_used_mib@";
inline constexpr std::string_view kDoesNotRun = "-";

/// Parses "arrival=submit_s,hours=solo_s*3600,end-start=solo_s,note=": a column of the file, in quotes if its name
/// has a comma, or arithmetic on columns (logs/column_expression.hpp), its name above and, for numbers, a factor;
/// with nothing after "=" the column is left out. InputError at `place` for any other text, for names that are not
/// above, and for a name given twice.
/// RenamedColumn::ours of a column that jobs carry (Trace::carried), whatever its name resembles.
inline constexpr std::string_view kCarriedOnly = "*";

std::vector<RenamedColumn> parse_renamed_columns(const std::string& text, const std::string& place);

/// Rows without GPUs, run time (or with 0) or submit time, and those whose state `rules` exclude, are left out and
/// counted. A file with renamed columns is a log that others wrote: job steps are left out, too, a repeated name
/// gets "#" and the number of its row, columns called state, status or phase are read as `state`, and gangs of
/// shares become whole GPUs. A header without commas sets the separator: ';', tab or '|'. InputError for anything
/// else that the table above excludes, for a file without jobs, and as TraceBuilder::take() says.
Trace read_job_csv(const std::string& path, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed = {}, const LogRules& rules = {});
/// The same from a stream; `name` stands for the file in messages.
Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed = {}, const LogRules& rules = {});
bool looks_like_job_csv(const TraceHead& head);

/// The names of the table's columns, without those that each GPU type has.
std::vector<std::string_view> job_csv_columns();

/// Writes all columns but `state`, in the table's order, but leaves out those from gpu_milli on that no job uses.
/// Reading it back gives the same jobs with the same identifiers; `source`, `reference_type`, features and `shuffled_by_default` are not part of the file, nor is a type on
/// which nothing is known of any job. Names must have no tabs and line breaks, as from every reader.
void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys);

}  // namespace corun::inline traces
