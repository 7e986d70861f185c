#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/tables/gavel_throughputs.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/tables/solo_table.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// The table of workload sources; traces/README.md says how to add a trace format.
namespace corun::inline traces {

struct TraceRequest {
  std::string path;            ///< for sources that read a file
  int jobs = 24;               ///< for sources that generate
  std::optional<double> load;  ///< offered work over capacity; empty: all jobs at time 0
  int gpus = 1;                ///< capacity for `load`
  std::uint64_t seed = 0;      ///< of the replication
  std::optional<std::string>
      part;  ///< of a file with several lists of jobs, for sources that know them
  std::optional<std::string> labels;   ///< packing labels of workloads, for sources that use them
  std::vector<RenamedColumn> columns;  ///< of the file, for sources that take them
  LogRules rules = {};                 ///< which rows are jobs, for sources that read a file
  const Measurements* pairs =
      nullptr;                      ///< read from `path`, for sources that draw jobs from a table
  const SoloTable* solo = nullptr;  ///< the same, for those that draw from a table of solo times
  /// The GPU type of `solo` of which the jobs' work is; empty: its first.
  std::optional<std::string> reference_type;
  const GavelThroughputs* rates = nullptr;  ///< for sources that count steps (reads_rates)
};

struct TraceEntry {
  std::string_view name;
  std::string_view description;
  bool reads_file = false;
  bool generates = false;  ///< depends on the seed; with reads_file: draws jobs from a table
  std::function<Trace(const TraceRequest& request, WorkloadKeys& keys)> make = {};
  /// Whether a file begins in this format; empty: the format must be named.
  std::function<bool(const TraceHead& head)> looks_like = {};
  bool reads_rates =
      false;  ///< jobs are counted in steps: world.path has the rates that convert them to time
  std::string_view measured_on = "";   ///< GPU type of the solo times, if it is one for the source
  bool takes_columns = false;          ///< TraceRequest::columns
  bool draws_from_solo_table = false;  ///< with `generates`: from one of solo times, not of pairs
};

std::span<const TraceEntry> trace_catalog();
/// nullptr if there is no source of that name.
const TraceEntry* find_trace(std::string_view name);
/// The format of a file by its beginning. InputError if none or several fit, if the
/// file cannot be read or is empty, or if it is a pipe or another file that can be read only once.
const TraceEntry& recognise_trace(const std::string& path);

}  // namespace corun::inline traces
