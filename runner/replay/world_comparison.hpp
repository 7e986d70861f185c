#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/config/config.hpp"
#include "runner/experiment/experiment.hpp"
#include "support/json.hpp"

/// `corun replay --worlds`: checks whether the ranking of policies by the mean of a metric is the same in several
/// worlds.
namespace corun::inline runner {

/// The configuration with another world: a model, or "measured+MODEL", the measured world with that
/// fallback. Throws InputError for an unknown model and for a fallback of another model.
Config in_world(Config config, const std::string& world);

/// One world: its name, experiment and result.
struct WorldResult {
  std::string world;
  const Experiment* experiment = nullptr;
  const ReplayResult* result = nullptr;
};

/// The ranking of policies in one world, compared with another world.
struct WorldRanking {
  /// Policy indices, least first, ties in the order of the configuration, undefined means last.
  std::vector<std::size_t> order;
  /// Kendall's tau-b between both worlds, over the policies with a defined mean in both. Empty for
  /// fewer than three such policies, or if all tie in one world.
  std::optional<double> tau;
  /// Whether both worlds have the same order and ties.
  bool same = true;
};

/// `means` and `reference`: by policy in both worlds, of equal length, less is better; NaN: undefined.
WorldRanking rank_world(std::span<const double> means, std::span<const double> reference);

/// By the first of these metrics that has a better direction; without one by ISD.
Metric ranking_metric(const std::vector<Metric>& asked);
/// Prints the ranking per world, and tau with the first world ("-": undefined). `a = b`: a tie.
void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds, Metric metric);
/// The same as JSON: `metric`, `worlds` with `world`, `ranking` (labels) and `tau` (null: undefined), and
/// `survives`.
Json ranking_json(const std::vector<WorldResult>& worlds, Metric metric);

}  // namespace corun::inline runner
