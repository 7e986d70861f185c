#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runner/experiment/experiment.hpp"
#include "runner/replay/variation.hpp"
#include "sim/records/metrics.hpp"

/// The parts of a replay's result that its output shows.
namespace corun::inline runner {

struct ReplayView {
  /// The policy to which the others are compared; empty for a single policy.
  std::optional<std::size_t> baseline;
  /// The metrics that were asked for, in that order; empty: all, and the usual tables.
  std::vector<Metric> metrics;
  /// What varies between replications; nothing: not asked for.
  Variations variations = {};

  /// The metrics that were asked for, else all.
  std::vector<Metric> all_metrics() const;
};

/// The name of the file of the jobs, else of the source: "log.csv", "jrs-queue".
std::string workload_name(const Config& config);

/// The view of a run of these policies. `baseline`: the label or name of one of them (--baseline); by
/// default the first policy named random, else the first of all. `metrics`: names (--metrics). Throws
/// InputError that begins with the flag.
ReplayView replay_view(const Experiment& experiment, const std::optional<std::string>& baseline,
                       const std::optional<std::string>& metrics);

}  // namespace corun::inline runner
