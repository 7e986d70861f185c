#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "results/replay_result.hpp"
#include "results/results_header.hpp"

/// Writes one results file: HDF5, one tidy table per question, every column with its unit
/// (result_columns.hpp, docs/results.md). Equal inputs give equal bytes.
///
/// During a run, finished replications are written to part files in `<path>.partial/`, each batch
/// `flush_interval` (half a second) after its first replication. A part has the schema of a results
/// file and is written atomically. A kill at any instant loses only
/// replications that `committed()` does not count yet. A run shorter than the interval writes no
/// part. partial_directory.hpp explains parts of a killed run and second writers.
namespace corun::inline results {

/// The place of errors about a results file: the flag that names it.
inline constexpr const char* kOutputFlag = "--output";

class ResultsWriter {
 public:
  /// Checks the path and makes the directory. Throws InputError as checked_output_path() and
  /// PartialDirectory.
  ResultsWriter(const std::string& path, ResultsHeader header,
                std::chrono::milliseconds flush_interval = std::chrono::milliseconds{500});

  /// Without finish(), removes the parts, unless writing failed and some replications were
  /// committed.
  ~ResultsWriter();
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  /// Copies the replication and returns; a thread of the writer writes it. Thread-safe. Throws the
  /// error of an earlier failed write (InputError: disk full, ...).
  void add(const Replication& replication);

  /// Number of added replications that a kill would now leave readable. Thread-safe.
  std::size_t committed() const;

  /// Writes the file from the whole result, whether or not it was added, renames it over `path` (or
  /// `elsewhere`, in the same directory, if given) and removes the parts. Call it once. Throws
  /// InputError on failure; that file is then unchanged and the parts stay.
  void finish(const ReplayResult& result, const std::string& elsewhere = "");

  /// One line for the user about parts of an earlier run; usually empty.
  const std::string& notice() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corun::inline results
