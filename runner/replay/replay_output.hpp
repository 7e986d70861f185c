#pragma once

#include <iosfwd>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay_view.hpp"
#include "support/json.hpp"

/// The result of a replay as JSON and CSV. For text tables: replay_table.hpp.
namespace corun::inline runner {

/// The object that `corun replay --format json` prints: the view's metrics, and the differences of all
/// pairs of policies. Undefined metrics are null.
Json to_json(const Experiment& experiment, const ReplayResult& result, const ReplayView& view);

/// Columns policy,metric,mean,mean_lo,mean_hi,versus,diff,lo,hi: one row per policy and metric of the
/// view, in the metrics' own units. `versus` is the baseline's label, `diff` the paired difference to it
/// with its interval; all four are empty in the baseline's rows. The first row of a policy that broke a rule has metric
/// failed_runs, the share of replications in which it did so.
void print_csv(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
               const ReplayView& view);

}  // namespace corun::inline runner
