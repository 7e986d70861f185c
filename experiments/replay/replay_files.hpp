#pragma once

#include <optional>
#include <string>

#include "experiments/experiment/experiment.hpp"

/// The files that a replay was asked to write.
namespace corun {

struct ReplayFiles {
  std::optional<std::string> output;     ///< results file; its run file lies beside it
  std::optional<std::string> timeline;   ///< directory
  std::optional<std::string> knowledge;  ///< CSV
};

/// Everything that will be written can be, is written once, and is not what was read. Before a long
/// run, not after it. Makes the directory of the timeline. Throws InputError naming the flag.
void check_replay_files(const Experiment& experiment, const std::optional<std::string>& config,
                        const ReplayFiles& files);

}  // namespace corun
