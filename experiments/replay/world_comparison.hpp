#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/base/json.hpp"
#include "experiments/config/config.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/results/replay_result.hpp"

/// `corun replay --worlds`: whether the ranking of policies by mean ISD survives a change of world.
namespace corun {

/// The configuration with another world: a model, or "measured+cluster-mean", which is measured with that
/// fallback. Throws InputError: a fallback for another model.
Config in_world(Config config, const std::string& world);

/// One world: its name and what came out.
struct WorldResult {
  std::string world;
  const Experiment* experiment = nullptr;
  const ReplayResult* result = nullptr;
};

/// The policies of one world by mean ISD, beside those of another.
struct WorldRanking {
  /// Policies, least ISD first; equal ones in the order of the configuration, those whose ISD is not
  /// defined (no job finished) last.
  std::vector<std::size_t> order;
  /// Kendall's tau-b between both worlds, over the policies whose ISD is defined in both. It corrects for
  /// ties, a pair of policies with one ISD. Empty where it is not defined: fewer than three policies, or
  /// all tied in one of the worlds.
  std::optional<double> tau;
  /// Both worlds order and tie the same policies.
  bool same = true;
};

/// `isd` and `reference`: mean ISD by policy in both worlds, equally many; NaN: not defined.
WorldRanking rank_world(std::span<const double> isd, std::span<const double> reference);

/// Per world the ranking, and tau with the first world ("-": not defined). `a = b`: a tie.
void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds);
/// The same as `worlds` of `world`, `ranking` (labels) and `tau` (null: not defined), and `survives`.
Json ranking_json(const std::vector<WorldResult>& worlds);

}  // namespace corun
