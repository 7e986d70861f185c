#pragma once

#include <iosfwd>
#include <string>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay_view.hpp"

/// The result of a replay as text.
namespace corun::inline runner {

/// The comparison: a table of times (JCT, its percentiles, queueing delay, makespan) and, if jobs shared
/// GPUs, a table of sharing (ISD, PS), with what the configuration says was published of each policy; or
/// one table of the metrics that the view names. Then the best policies and footnotes.
void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
                 const ReplayView& view);

/// Lines on the possible loss of each policy's plans, if bounded, and on the policy with the
/// longest scheduling passes by their 99th percentile. Empty if decisions were not timed.
std::string decision_notes(const Experiment& experiment, const ReplayResult& result);

}  // namespace corun::inline runner
