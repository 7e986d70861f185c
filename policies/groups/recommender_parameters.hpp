#pragma once

#include "policies/groups/pairing.hpp"
#include "policies/groups/recommender.hpp"
#include "policies/parameters_of.hpp"

/// Parameters that all policies built on the recommender share.
namespace corun::inline policies {

inline constexpr NumberText kRiskText{
    0, 100, "standard deviations of a single co-run's cost that are added to its mean"};
inline constexpr NumberText kWindowText{
    2, 100000,
    "waiting jobs in a plan, the oldest; null: 256 with a belief about individual jobs, else 512"};

/// A parameter `objective`, at the place `at` of the options.
template <typename Options, typename At>
void add_objective(ParametersOf<Options>& parameters, At at) {
  parameters.choice("objective", at,
                    {{"min-slowdown", Objective::kMinSlowdown},
                     {"balance", Objective::kBalance},
                     {"max-packing", Objective::kMaxPacking}},
                    "the objective: min-slowdown, balance or max-packing (pairs only)");
}

/// The parameters of balance and min-slowdown, and some of max-packing's.
inline void add_pairing(ParametersOf<RecommenderOptions>& parameters) {
  using Chosen = RecommenderOptions;
  parameters
      .choice(
          "pairing", &Chosen::pairing, {kPairings.begin(), kPairings.end()},
          "how pairs are chosen: matching (least total cost), greedy-rank (the paper's rule) or "
          "given (see order)")
      .number("order", &Chosen::order,
              {0, 2, "ranking of cluster pairs for pairing: given, e.g. [[1, 1], [0, 2]]"})
      .number("epsilon", &Chosen::epsilon,
              {0, 1,
               "probability that a slot ignores the precedence of low uncertainty; not read with "
               "explore: thompson"})
      .choice("explore", &Chosen::explore,
              {{"epsilon", Explore::kEpsilon}, {"thompson", Explore::kThompson}},
              "epsilon, or thompson: each pass plans on costs drawn from the belief's distribution")
      .number("risk", &Chosen::risk, kRiskText)
      .number("window", &Chosen::window, kWindowText);
}

/// With epsilon, places in a group go to random jobs of a cluster.
inline PolicyTraits pairing_traits(const RecommenderOptions& options) {
  PolicyTraits traits{.plans_groups = true, .takes_probes = true};
  traits.groups_alike_in_order = options.epsilon == 0 || options.explore == Explore::kThompson;
  return traits;
}

}  // namespace corun::inline policies
