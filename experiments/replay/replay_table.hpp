#pragma once

#include <iosfwd>
#include <string>

#include "experiments/experiment/experiment.hpp"
#include "experiments/results/replay_result.hpp"

/// A replay for people.
namespace corun {

/// The comparison as an aligned table, beside what the JRS paper reports where the workload is its
/// queue, and two lines that say who wins.
void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result);

/// Lines: what the plans of each policy may have lost, where that is bounded, and the policy whose
/// scheduling passes take longest, by their 99th percentile. Empty where decisions were not timed.
std::string decision_notes(const Experiment& experiment, const ReplayResult& result);

}  // namespace corun
