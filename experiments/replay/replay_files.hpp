#pragma once

#include <optional>
#include <string>

#include "experiments/experiment/experiment.hpp"

/// The output files of a replay.
namespace corun {

struct ReplayFiles {
  std::optional<std::string> output;     ///< results file, with its run file beside it
  std::optional<std::string> timeline;   ///< directory
  std::optional<std::string> knowledge;  ///< CSV
};

/// Checks before a long run that all output files can be written, differ from each other and are no
/// input files. Makes the directory of the timeline. Throws InputError naming the flag.
void check_replay_files(const Experiment& experiment, const std::optional<std::string>& config,
                        const ReplayFiles& files);

}  // namespace corun
