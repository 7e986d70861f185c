#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "results/replay_result.hpp"
#include "results/results_writer.hpp"
#include "runner/experiment/experiment.hpp"
#include "support/made_directory.hpp"
#include "support/output_file.hpp"

/// The output files of a replay.
namespace corun::inline runner {

struct ReplayFiles {
  std::optional<std::string> output;     ///< results file, with its run file beside it
  std::optional<std::string> timeline;   ///< directory
  std::optional<std::string> knowledge;  ///< CSV
  std::optional<std::string> figure;     ///< SVG
  std::optional<std::string> volcano;    ///< YAML
  std::string containers = {};           ///< with volcano: CSV, found
  Existing existing = Existing::kKeepOthers;
};

/// What forbids to keep this many job rows until the results file is written, on a machine with this much
/// memory [bytes]; empty if they fit.
std::string rows_problem(std::size_t jobs, std::size_t policies, std::size_t replications,
                         double memory_bytes);

/// Checks before a long run that all output files can be written, differ from each other, are no
/// input files and replace nothing that must stay (output_file.hpp, results_identity.hpp), and that the rows of
/// a results file fit in memory. Makes the directory of the timeline, which must live until write_replay_texts(). Throws
/// InputError naming the flag.
[[nodiscard]] MadeDirectory check_replay_files(const Experiment& experiment,
                                               const std::optional<std::string>& config,
                                               const ReplayFiles& files);

/// Writes the results and returns their path. Results of an interrupted run replace no file: they go
/// beside it.
std::string finish_results(ResultsWriter& writer, const std::string& output,
                           const ReplayResult& result);

/// Writes the timelines, the history of knowledge and the jobs for Volcano if they are asked for; all run
/// replication 0 again.
void write_replay_texts(const Experiment& experiment, const ReplayFiles& files);

/// Writes the figure if it is asked for, and returns its path, else "". The figure of an interrupted
/// run replaces no file: it goes beside it.
std::string write_replay_figure(const Experiment& experiment, const ReplayResult& result,
                                const ReplayFiles& files);

}  // namespace corun::inline runner
