#pragma once

#include <string>

#include "live/run/queue_run.hpp"
#include "support/json.hpp"

/// Printed output of `corun live run`: measured and predicted metrics of each policy.
namespace corun::live {

/// {"gpu", "gpus", "policies": [{"policy", "complete", "decisions_repeat", "metrics",
/// "measured_minus_predicted"}]}; undefined metrics are null.
Json queue_run_json(const QueueRun& run);

/// policy,metric,measured,predicted.
std::string queue_run_csv(const QueueRun& run);

/// A table of means, then one of the errors of the prediction if there are any.
std::string queue_run_table(const QueueRun& run);

}  // namespace corun::live
