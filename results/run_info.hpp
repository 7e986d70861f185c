#pragma once

#include <string>

#include "results/replay_result.hpp"
#include "results/results_header.hpp"

/// The run file `<results_path>.run.json` (docs/results.md): facts of a run that are not its
/// result.
namespace corun::inline results {

struct RunInfo {
  double wall_s = 0;
  unsigned threads = 1;
  std::string device;       ///< cpu, or a GPU's name
  std::string started_utc;  ///< ISO 8601; omitted if empty
};

/// Writes the run file: wall-clock time, threads, device, and per policy its decision times (total,
/// longest, quantiles over scheduling passes) and, if its plans have bounds, their possible losses.
/// Throws InputError if the file cannot be written.
void write_run_json(const std::string& results_path, const RunInfo& info,
                    const ResultsHeader& header, const ReplayResult& result);

}  // namespace corun::inline results
