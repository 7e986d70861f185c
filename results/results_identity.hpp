#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/results_header.hpp"
#include "support/output_file.hpp"

/// Which experiment an existing results file is of: a run may replace the results of the same
/// experiment (effective configuration, with its seed, and inputs) and nothing else.
namespace corun::inline results {

/// The facts in a results file that tell experiments apart; of the files of replays and sweeps.
struct ResultsIdentity {
  std::string kind;  ///< "corun results", "corun sweep"
  std::string corun_version;
  std::string commit;
  std::string config;
  std::vector<std::string> inputs;  ///< "sha256:... FILE"
  std::string measured_on;          ///< the GPU of a live run; empty: simulated
  bool complete = false;
};

/// Empty if there is no such file or it is no results file.
std::optional<ResultsIdentity> identity_of_results(const std::string& path);

/// Throws InputError, which begins with `place`, if the file at `path` or its run file holds
/// something else than results of this experiment, unless it may be replaced.
void check_replaceable(const std::string& path, const ResultsHeader& header,
                       const std::string& place, Existing existing);

/// The same for the run file `<path>.run.json` alone: anything but corun's own run file stays.
void check_run_file(const std::string& path, const std::string& place, Existing existing);

/// A free name beside a results file, for a partial result that must not replace it:
/// "results.interrupted.h5", then "results.interrupted-2.h5" ...
std::string interrupted_name(const std::string& path);

}  // namespace corun::inline results
