#pragma once

#include <iosfwd>

#include "experiments/base/json.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/results/replay_result.hpp"

/// The result of a replay as JSON and CSV. For text tables: replay_table.hpp.
namespace corun {

/// The object that `corun replay --format json` prints; undefined metrics are null.
Json to_json(const Experiment& experiment, const ReplayResult& result);

/// Columns policy,versus,metric,mean,lo,hi: one row per policy and metric (`versus` empty), then
/// one per ordered pair of policies and metric.
void print_csv(std::ostream& out, const Experiment& experiment, const ReplayResult& result);

}  // namespace corun
