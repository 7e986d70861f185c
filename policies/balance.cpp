#include "policies/entries.hpp"
#include "policies/recommender_parameters.hpp"

/// balance: JRS "balancing between Ind_SD and Pac_Sav". See recommender.hpp for the algorithm,
/// objective_cost() for the score.
namespace corun {

PolicyEntry balance_entry() {
  static const std::vector<ParameterSpec> parameters = {pairing_parameter(), order_parameter(),
                                                        epsilon_parameter(), explore_parameter(),
                                                        risk_parameter(),    window_parameter()};
  return {.name = "balance",
          .description = "JRS balance: maximise mean PS minus mean ISD per cluster pair",
          .needs = PolicyNeeds::kBelief,
          .parameters = parameters,
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Recommender>(
                recommender_options(Objective::kBalance, c.parameters), std::move(c));
          }};
}

}  // namespace corun
