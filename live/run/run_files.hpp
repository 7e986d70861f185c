#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/run/recorded_policy.hpp"
#include "live/run/solo_on_gpus.hpp"
#include "runner/config/config.hpp"
#include "traces/trace.hpp"

/// Reads the results directory of `corun live run`; docs/live.md lists its files. Readers throw InputError,
/// which names the command that makes the file, if a file is missing or invalid.
namespace corun::live {

inline constexpr const char* kQueueFile = "queue.csv";
inline constexpr const char* kGpuTypesFile = "gpu_types.yaml";
inline constexpr const char* kReplayFile = "replay.yaml";
inline constexpr const char* kPredictionFile = "prediction.csv";
inline constexpr const char* kResultsFile = "results.h5";

/// DIRECTORY/LABEL with `ending` (".jobs.csv"). A character of the label other than a letter, digit, '-', '_'
/// or '.' becomes '_'.
std::string policy_file(const std::string& directory, const std::string& label,
                        const std::string& ending);

/// The same configuration for a file in `directory`: paths of files below it are relative to it, others are
/// absolute, so that the directory can be moved and read from anywhere. Paths of missing files stay.
Config seen_from(Config config, const std::string& directory);

/// A row of POLICY.jobs.csv: one run of one job.
struct JobsRow {
  RecordedRun run;
  Duration solo{0};  ///< J_a on its GPU
  bool finished = false;
  std::optional<double> predicted_isd;  ///< before the run; a fraction
  std::optional<double> predicted_jct_s;
};

/// The rows of POLICY.jobs.csv. Throws InputError if a row is not of a job of `queue` or not on one of
/// these GPUs, a job finishes twice, or the event log of the run, POLICY.events.csv, contradicts a start or a
/// finish.
std::vector<JobsRow> read_run(const std::string& directory, const std::string& label,
                              const Trace& queue, const SoloOnGpus& alone);

/// The values of this metric in prediction.csv, by policy.
std::map<std::string, double> read_prediction(const std::string& directory,
                                              const std::string& metric);

}  // namespace corun::live
