#pragma once

#include <string>
#include <vector>

#include "experiments/experiment/experiment.hpp"

/// `--timeline DIR`: the events of replication 0, one CSV per policy.
namespace corun {

/// The file of each policy in this directory, named after its label, all different.
std::vector<std::string> timeline_files(const Experiment& experiment, const std::string& directory);

/// Runs replication 0 once more. Throws InputError where a file cannot be written.
void write_timelines(const Experiment& experiment, const std::string& directory);

}  // namespace corun
