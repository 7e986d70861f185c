#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/live/run/recorded_policy.hpp"
#include "traces/trace.hpp"

/// The directory that `corun live run` leaves behind, as it is read again. docs/live.md has the table of
/// its files. Readers throw InputError, of one line that tells which command makes the file.
namespace corun::live {

inline constexpr const char* kQueueFile = "queue.csv";
inline constexpr const char* kReplayFile = "replay.yaml";
inline constexpr const char* kPredictionFile = "prediction.csv";
inline constexpr const char* kResultsFile = "results.h5";

/// DIRECTORY/POLICY.jobs.csv and the like; what is no letter, digit, '-', '_' or '.' of a label becomes '_'.
std::string policy_file(const std::string& directory, const std::string& label,
                        const std::string& ending);

/// The same configuration for a file in `directory`: files that lie there by their names, others by whole
/// paths, so that the directory can be moved and read from anywhere. What is nowhere stays as it is.
Config seen_from(Config config, const std::string& directory);

/// A row of POLICY.jobs.csv: one run of one job.
struct JobsRow {
  RecordedRun run;
  bool finished = false;
  std::optional<double> predicted_isd;  ///< before the run; a fraction
  std::optional<double> predicted_jct_s;
};

/// Every row is of a job of this queue and on one of so many GPUs; a job finishes once at most. The event
/// log of the same run, POLICY.events.csv, has the same starts and ends.
std::vector<JobsRow> read_run(const std::string& directory, const std::string& label,
                              const Trace& queue, std::size_t gpus);

/// What prediction.csv says of this metric, by policy.
std::map<std::string, double> read_prediction(const std::string& directory,
                                              const std::string& metric);

}  // namespace corun::live
