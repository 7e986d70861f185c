#pragma once

#include <string>
#include <vector>

#include "runner/experiment/experiment.hpp"
#include "support/output_file.hpp"

/// `--timeline DIR`: the events of replication 0, one CSV per policy.
namespace corun::inline runner {

/// The file of each policy in this directory, named after its label; all differ.
std::vector<std::string> timeline_files(const Experiment& experiment, const std::string& directory);

/// Their contents. Runs replication 0 again.
std::vector<OutputText> timeline_texts(const Experiment& experiment, const std::string& directory);

}  // namespace corun::inline runner
