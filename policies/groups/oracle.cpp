#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"
#include "policies/parameters_of.hpp"

/// oracle: matching on the world's expected costs. The only policy that knows them, and the output marks
/// it. It is an upper bound for pairing policies with a perfect model but without knowledge of the noise of
/// single co-runs.
namespace corun::inline policies {

namespace {

const ParametersOf<RecommenderOptions>& oracle_parameters() {
  static const auto all = [] {
    ParametersOf<RecommenderOptions> parameters;
    add_objective(parameters, &RecommenderOptions::objective);
    parameters.number("window", &RecommenderOptions::window, kWindowText)
        .only_where(jobs_exceed_plan);
    return parameters;
  }();
  return all;
}

}  // namespace

PolicyEntry oracle_entry() {
  return {.name = "oracle",
          .description = "matching on the world's expected costs: the bound (reads the truth)",
          .needs = PolicyNeeds::kTruth,
          .parameters = oracle_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            RecommenderOptions options = oracle_parameters().read(c.parameters);
            return std::make_unique<Recommender>(std::move(options), std::move(c));
          },
          .traits = {.plans_groups = true}};
}

}  // namespace corun::inline policies
