#include "policies/entries.hpp"
#include "policies/recommender_parameters.hpp"

/// min-slowdown: JRS "emphasizing Ind_SD". See recommender.hpp for the algorithm,
/// objective_cost() for the score.
namespace corun {

PolicyEntry min_slowdown_entry() {
  static const std::vector<ParameterSpec> parameters = {pairing_parameter(), order_parameter(),
                                                        epsilon_parameter(), explore_parameter(),
                                                        risk_parameter(),    window_parameter()};
  return {.name = "min-slowdown",
          .description = "JRS min-slowdown: minimise the summed ISD of cluster pairs",
          .needs = PolicyNeeds::kBelief,
          .parameters = parameters,
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Recommender>(
                recommender_options(Objective::kMinSlowdown, c.parameters), std::move(c));
          }};
}

}  // namespace corun
