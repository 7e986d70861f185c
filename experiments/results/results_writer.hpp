#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "experiments/results/replay_result.hpp"
#include "experiments/results/results_header.hpp"

/// Writes one results file: HDF5, one tidy table per question, every column with its unit
/// (result_columns.hpp, docs/results.md). Equal inputs give equal bytes.
///
/// While a run goes on, finished replications are gathered and written to part files in
/// `<path>.partial/`, `flush_interval` (half a second) after the oldest of them came: each part has the schema of a
/// results file and is written under a temporary name, synced and renamed. A kill at any instant
/// loses what `committed()` does not count yet, and nothing else. A run that is over within that
/// half second writes no part at all. What becomes of parts that a killed run left, and of a second
/// writer: partial_directory.hpp.
namespace corun {

/// Where errors about a results file point: at the flag that names it.
inline constexpr const char* kOutputFlag = "--output";

class ResultsWriter {
 public:
  /// Checks the path and makes the directory. Throws InputError: see checked_output_path and
  /// PartialDirectory.
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

}  // namespace corun
