#pragma once

#include <string>

#include "experiments/base/json.hpp"
#include "experiments/live/run/queue_run.hpp"

/// What `corun live run` prints: measured beside predicted, policy by policy.
namespace corun::live {

/// {"gpu", "gpus", "policies": [{"policy", "complete", "decisions_repeat", "metrics",
/// "measured_minus_predicted"}]}; metrics that are not defined are null.
Json queue_run_json(const QueueRun& run);

/// policy,metric,measured,predicted.
std::string queue_run_csv(const QueueRun& run);

/// Means as a table, and under it the errors of the prediction where there are any.
std::string queue_run_table(const QueueRun& run);

}  // namespace corun::live
