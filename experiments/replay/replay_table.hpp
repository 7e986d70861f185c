#pragma once

#include <iosfwd>
#include <string>

#include "experiments/experiment/experiment.hpp"
#include "experiments/results/replay_result.hpp"

/// The result of a replay as text.
namespace corun {

/// The comparison as an aligned table, with the JRS paper's results if the workload is its queue,
/// and two lines that name the best policies.
void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result);

/// Lines on the possible loss of each policy's plans, if bounded, and on the policy with the
/// longest scheduling passes by their 99th percentile. Empty if decisions were not timed.
std::string decision_notes(const Experiment& experiment, const ReplayResult& result);

}  // namespace corun
