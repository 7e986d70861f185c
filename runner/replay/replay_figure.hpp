#pragma once

#include <string>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "support/output_file.hpp"

/// `corun replay --figure FILE`: the completion times (JCT) of the jobs under each policy, and the mean
/// metrics with their intervals, as SVG.
///
/// The distribution covers the jobs of all replications that metrics cover. It is a histogram of fixed
/// bins (LogHistogram), so memory does not grow with the jobs: the shares of jobs at the bins' ends are
/// exact, and a time between two ends is known up to their ratio, 2^(1/32), about 2 %.
namespace corun::inline runner {

/// The figure of a result with counted completion times (ReplayOptions::count_jct). Its last line is a
/// comment that identifies the experiment.
std::string replay_figure(const Experiment& experiment, const ReplayResult& result);

/// Throws InputError that begins with --figure if the file at `path` holds something else than a figure
/// of this experiment (configuration and inputs), unless it may be replaced.
void check_figure_replaceable(const Experiment& experiment, const std::string& path,
                              Existing existing);

}  // namespace corun::inline runner
