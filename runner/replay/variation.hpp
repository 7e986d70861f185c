#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/draws.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay.hpp"

/// What varies between the replications of a replay, and how much of its intervals each kind of draw makes.
namespace corun::inline runner {

struct Variation {
  Drawn drawn{};
  /// Of the variance of the metric over replications, a fraction: what this kind does alone, over the sum of all
  /// kinds, averaged over the policies that vary. Empty: not measured, too few replications, or the metric does not
  /// vary.
  std::optional<double> share;
};

struct Variations {
  bool measured = false;         ///< else what may vary by the configuration
  std::vector<Variation> kinds;  ///< the largest share first, if it was measured
};

/// Replications from which the kinds are measured, by more runs of each kind that the configuration draws, in which all
/// else is as in the first replication: one run, and from kFewestForShares on a tenth of the replications, at most
/// kMostRunsOfKind, so that all of them cost a small part of the replay.
inline constexpr std::size_t kFewestForVariations = 20;
inline constexpr std::size_t kFewestForShares = 50;
inline constexpr std::size_t kMostRunsOfKind = 10;

/// Called after each run of a kind: how many are done, of how many. From several threads, one at a time.
using VariationProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Empty if no metric of any policy varies. Runs replications on options.threads threads, which call none of its
/// functions; empty if options.stop is set meanwhile.
Variations variations_of(const Experiment& experiment, const ReplayResult& result, Metric metric,
                         const ReplayOptions& options, const VariationProgress& on_run = {});

/// "between replications vary: order of arrivals (80 % of the variance of JCT), ..."; empty without kinds.
/// `metric`: its name in tables.
std::string text_of(const Variations& variations, const std::string& metric);

}  // namespace corun::inline runner
