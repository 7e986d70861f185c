#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"

/// oracle: matching on the world's expected costs. The only policy that knows them, and the output marks
/// it. It is an upper bound for pairing policies with a perfect model but without knowledge of the noise of
/// single co-runs.
namespace corun::inline policies {

PolicyEntry oracle_entry() {
  static const std::vector<ParameterSpec> parameters = {
      objective_parameter(),
      window_parameter(),
  };
  return {.name = "oracle",
          .description = "matching on the world's expected costs: the bound (reads the truth)",
          .needs = PolicyNeeds::kTruth,
          .parameters = parameters,
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            RecommenderOptions options;
            options.objective = objective_from(c.parameters.choice("objective"));
            options.window = window_of(c.parameters);
            return std::make_unique<Recommender>(std::move(options), std::move(c));
          },
          .traits = {.plans_groups = true}};
}

}  // namespace corun::inline policies
