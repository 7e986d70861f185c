#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "traces/gavel_throughputs.hpp"
#include "traces/pair_table.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// The visible table of workload sources. To add a trace format, write traces/<format>.{hpp,cpp} and
/// one line in catalog.cpp.
namespace corun {

struct TraceRequest {
  std::string path;                   ///< of sources that read a file
  int jobs = 24;                      ///< of sources that generate
  std::optional<double> load;         ///< offered work over capacity; empty: all jobs at time 0
  int gpus = 1;                       ///< capacity that `load` refers to
  std::uint64_t seed = 0;             ///< of the replication
  std::optional<std::string> labels;  ///< packing labels of workloads, of sources that know them
  const PairTable* pairs = nullptr;   ///< read from `path`, of sources that draw jobs from a table
  const GavelThroughputs* rates = nullptr;  ///< of sources that count steps (reads_rates)
};

struct TraceEntry {
  std::string_view name;
  std::string_view description;
  bool reads_file = false;
  bool generates = false;  ///< differs from seed to seed; `jobs` and `load` apply. One that reads a
                           ///< file as well draws from a pair table
  Trace (*make)(const TraceRequest& request, WorkloadKeys& keys) = nullptr;
  /// Whether a file begins as this format does; nullptr: the format must be named.
  bool (*looks_like)(const TraceHead& head) = nullptr;
  bool reads_rates =
      false;  ///< jobs are counted in steps: world.path has the rates that make it time
};

std::span<const TraceEntry> trace_catalog();
/// nullptr when there is none of that name.
const TraceEntry* find_trace(std::string_view name);
/// The format of a file by how it begins; of several the first of the table. InputError if none fits.
const TraceEntry& recognise_trace(const std::string& path);

}  // namespace corun
