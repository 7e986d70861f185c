#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/results/replay_result.hpp"

/// Results files: HDF5, one tidy table per question, every column with its unit. The layout is
/// documented in docs/results.md; equal inputs give equal bytes.
namespace corun {

inline constexpr int kResultsSchemaVersion = 1;

struct PolicyHeader {
  std::string label;       ///< how the output calls it; all different
  std::string name;        ///< in the catalogue
  std::string parameters;  ///< JSON text
  bool granted_truth = false;
};

/// What determines the result beside the replications themselves. No clock, no thread count, no
/// device, no output path: those go to the run file.
struct ResultsHeader {
  std::string corun_version;
  std::string commit;
  std::string config;  ///< the effective configuration, YAML
  std::uint64_t seed = 0;
  std::vector<std::string> inputs;     ///< "sha256:... FILE" of every file that was read
  std::vector<PolicyHeader> policies;  ///< in the order of Replication::runs
  std::string measured_on;             ///< the GPU of a live run; empty: simulated
};

/// Writes one results file.
///
/// While a run goes on, finished replications are gathered and written to part files in
/// `<path>.partial/`, half a second after the oldest of them came: each part has the schema of a
/// results file and is written under a temporary name, synced and renamed. A kill at any instant
/// loses what `committed()` does not count yet, and nothing else. A run that is over within that
/// half second writes no part at all.
///
/// The directory is locked while a writer lives, so two programs cannot write the same file. Parts
/// that a killed run left behind are moved aside to `<path>.partial.1` (or .2, ...), never deleted;
/// `notice()` says so.
class ResultsWriter {
 public:
  /// Checks the path and makes the directory. Throws InputError: see checked_output_path; or another
  /// program is writing that file.
  ResultsWriter(const std::string& path, ResultsHeader header,
                std::chrono::milliseconds flush_interval = std::chrono::milliseconds{500});

  /// Without finish() before, takes the parts back: nothing was written. Where writing itself failed
  /// they stay.
  ~ResultsWriter();
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  /// Takes a copy and returns at once; a thread of the writer's own does the writing. Callers take
  /// turns. Throws what an earlier write failed with (InputError: disk full, ...).
  void add(const Replication& replication);

  /// How many added replications a kill would now leave readable. Any thread.
  std::size_t committed() const;

  /// Writes the file from the whole result (add() is not needed for it), renames it over `path` and
  /// removes the parts. Once only. When it throws, `path` is as it was and the parts stay.
  void finish(const ReplayResult& result);

  /// One line for the user about parts of an earlier run; usually empty.
  const std::string& notice() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How a run went, apart from its result.
struct RunInfo {
  double wall_s = 0;
  unsigned threads = 1;
  std::string device;       ///< cpu, or a GPU's name
  std::string started_utc;  ///< ISO 8601; left out when empty
};

/// Writes `<results_path>.run.json`: wall-clock, threads, device, and for each policy the engine that
/// ran it, the time its decisions took (total and longest, and quantiles over scheduling passes) and,
/// where its plans came with a bound, what they may have lost.
void write_run_json(const std::string& results_path, const RunInfo& info,
                    const ResultsHeader& header, const ReplayResult& result);

}  // namespace corun
