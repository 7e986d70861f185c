#pragma once

#include <string>

#include "experiments/results/replay_result.hpp"
#include "experiments/results/results_header.hpp"

/// How a run went, apart from its result: the run file `<results_path>.run.json` (docs/results.md).
namespace corun {

struct RunInfo {
  double wall_s = 0;
  unsigned threads = 1;
  std::string device;       ///< cpu, or a GPU's name
  std::string started_utc;  ///< ISO 8601; left out when empty
};

/// Writes the run file: wall-clock, threads, device, and for each policy the time its decisions took
/// (total and longest, and quantiles over scheduling passes) and, where its plans came with a bound, what
/// they may have lost. Throws InputError where it cannot be written.
void write_run_json(const std::string& results_path, const RunInfo& info,
                    const ResultsHeader& header, const ReplayResult& result);

}  // namespace corun
