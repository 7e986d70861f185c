#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"

/// balance and min-slowdown: JRS "balancing between Ind_SD and Pac_Sav" and "emphasizing Ind_SD". They
/// differ in the cost of a pair alone (objective_cost()); recommender.hpp has the algorithm.
namespace corun::inline policies {

namespace {

std::span<const ParameterSpec> pairing_policy_parameters() {
  static const std::vector<ParameterSpec> specs = {pairing_parameter(), order_parameter(),
                                                   epsilon_parameter(), explore_parameter(),
                                                   risk_parameter(),    window_parameter()};
  return specs;
}

template <Objective objective>
std::unique_ptr<Policy> make_pairing_policy(PolicyContext context) {
  return std::make_unique<Recommender>(recommender_options(objective, context.parameters),
                                       std::move(context));
}

}  // namespace

PolicyEntry balance_entry() {
  return {.name = "balance",
          .description = "JRS balance: maximise mean PS minus mean ISD per cluster pair",
          .needs = PolicyNeeds::kBelief,
          .parameters = pairing_policy_parameters(),
          .make = make_pairing_policy<Objective::kBalance>,
          .traits_with = pairing_traits};
}

PolicyEntry min_slowdown_entry() {
  return {.name = "min-slowdown",
          .description = "JRS min-slowdown: minimise the summed ISD of cluster pairs",
          .needs = PolicyNeeds::kBelief,
          .parameters = pairing_policy_parameters(),
          .make = make_pairing_policy<Objective::kMinSlowdown>,
          .traits_with = pairing_traits};
}

}  // namespace corun::inline policies
