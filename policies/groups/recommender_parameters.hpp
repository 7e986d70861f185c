#pragma once

#include "policies/groups/recommender.hpp"

/// Parameters that all policies built on the recommender share.
namespace corun::inline policies {

inline ParameterSpec pairing_parameter() {
  return {.name = "pairing",
          .description =
              "how pairs are chosen: matching (least total cost), greedy-rank (the "
              "paper's rule) or given (see order)",
          .kind = ParameterKind::kChoice,
          .fallback = std::string("matching"),
          .choices = pairing_names()};
}

inline ParameterSpec order_parameter() {
  return {.name = "order",
          .description = "ranking of cluster pairs for pairing: given, e.g. [[1, 1], [0, 2]]",
          .kind = ParameterKind::kClusterPairs,
          .fallback = {},
          .min = 0,
          .max = 2,
          .choices = {}};
}

inline ParameterSpec epsilon_parameter() {
  return {.name = "epsilon",
          .description =
              "probability that a slot ignores the precedence of low uncertainty; not read with "
              "explore: thompson",
          .kind = ParameterKind::kNumber,
          .fallback = 0.0,
          .min = 0,
          .max = 1,
          .choices = {}};
}

inline ParameterSpec explore_parameter() {
  return {.name = "explore",
          .description =
              "epsilon, or thompson: each pass plans on costs drawn from the belief's "
              "distribution",
          .kind = ParameterKind::kChoice,
          .fallback = std::string("epsilon"),
          .choices = {"epsilon", "thompson"}};
}

inline ParameterSpec risk_parameter() {
  return {.name = "risk",
          .description = "standard deviations of a single co-run's cost that are added to its mean",
          .kind = ParameterKind::kNumber,
          .fallback = 0.0,
          .min = 0,
          .max = 100,
          .choices = {}};
}

inline ParameterSpec objective_parameter() {
  return {.name = "objective",
          .description = "the objective: min-slowdown, balance or max-packing (pairs only)",
          .kind = ParameterKind::kChoice,
          .fallback = std::string("min-slowdown"),
          .choices = {"min-slowdown", "balance", "max-packing"}};
}

inline Objective objective_from(std::string_view name) {
  if (name == "balance") return Objective::kBalance;
  return name == "max-packing" ? Objective::kMaxPacking : Objective::kMinSlowdown;
}

inline ParameterSpec window_parameter() {
  return {
      .name = "window",
      .description =
          "waiting jobs in a plan, the oldest; null: 256 with a belief about individual jobs, else "
          "512",
      .kind = ParameterKind::kInteger,
      .fallback = {},
      .min = 2,
      .max = 100000,
      .choices = {}};
}

inline std::optional<std::size_t> window_of(const Parameters& parameters) {
  const std::optional<std::int64_t> window = parameters.integer("window");
  return window ? std::optional(static_cast<std::size_t>(*window)) : std::nullopt;
}

/// With epsilon, places in a group go to random jobs of a cluster.
inline PolicyTraits pairing_traits(const Parameters& parameters) {
  PolicyTraits traits{.plans_groups = true, .takes_probes = true};
  traits.groups_alike_in_order =
      parameters.number("epsilon") == 0 || parameters.choice("explore") == "thompson";
  return traits;
}

/// Reads the shared parameters.
inline RecommenderOptions recommender_options(Objective objective, const Parameters& parameters) {
  RecommenderOptions options;
  options.objective = objective;
  options.pairing = pairing_from(parameters.choice("pairing"));
  options.order = parameters.cluster_pairs("order");
  options.epsilon = parameters.number("epsilon");
  options.explore =
      parameters.choice("explore") == "thompson" ? Explore::kThompson : Explore::kEpsilon;
  options.risk = parameters.number("risk");
  options.window = window_of(parameters);
  return options;
}

}  // namespace corun::inline policies
