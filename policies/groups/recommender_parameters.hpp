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

/// Of a number of jobs that a plan covers.
inline std::string jobs_exceed_plan(const ParameterContext& c) {
  return c.jobs > Recommender::kMatchedJobs ? "" : jobs_exceed_window(c);
}

/// A parameter `objective`, at the place `at` of the options.
template <typename Options, typename At>
void add_objective(ParametersOf<Options>& parameters, At at) {
  parameters
      .choice("objective", at,
              {{"min-slowdown", Objective::kMinSlowdown},
               {"balance", Objective::kBalance},
               {"max-packing", Objective::kMaxPacking}},
              "the objective: min-slowdown, balance or max-packing (pairs only)")
      .only_where(jobs_share);
}

/// The parameters of balance and min-slowdown, and some of max-packing's.
inline void add_pairing(ParametersOf<RecommenderOptions>& parameters) {
  using Chosen = RecommenderOptions;
  parameters
      .choice(
          "pairing", &Chosen::pairing, {kPairings.begin(), kPairings.end()},
          "how pairs are chosen: matching (least total cost), greedy-rank (the paper's rule) or "
          "given (see order)")
      .only_where(jobs_share)
      .number("order", &Chosen::order,
              {0, 2, "ranking of cluster pairs for pairing: given, e.g. [[1, 1], [0, 2]]"})
      .only_where([](const ParameterContext& c) {
        const std::string& pairing = c.parameters.choice("pairing");
        if (pairing != "given") return "pairing is " + pairing;
        return c.believes_by_clusters ? jobs_share(c) : "the belief is about individual jobs";
      })
      .number("epsilon", &Chosen::epsilon,
              {0, 1,
               "probability that a slot ignores the precedence of low uncertainty; not read with "
               "explore: thompson"})
      .only_where([](const ParameterContext& c) {
        return c.parameters.choice("explore") == "thompson" ? "explore is thompson" : jobs_share(c);
      })
      .choice("explore", &Chosen::explore,
              {{"epsilon", Explore::kEpsilon}, {"thompson", Explore::kThompson}},
              "epsilon, or thompson: each pass plans on costs drawn from the belief's distribution")
      .only_where(jobs_share)
      .number("risk", &Chosen::risk, kRiskText)
      .only_where(jobs_share)
      .number("window", &Chosen::window, kWindowText)
      .only_where(jobs_exceed_plan);
}

/// With epsilon, places in a group go to random jobs of a cluster.
inline PolicyTraits pairing_traits(const RecommenderOptions& options) {
  PolicyTraits traits{.plans_groups = true, .takes_probes = true};
  traits.groups_alike_in_order = options.epsilon == 0 || options.explore == Explore::kThompson;
  return traits;
}

}  // namespace corun::inline policies
