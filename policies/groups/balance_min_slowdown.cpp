#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"
#include "policies/parameters_of.hpp"

/// balance and min-slowdown: JRS "balancing between Ind_SD and Pac_Sav" and "emphasizing Ind_SD". They
/// differ in the cost of a pair alone (objective_cost()); recommender.hpp has the algorithm.
namespace corun::inline policies {

namespace {

template <Objective objective>
const ParametersOf<RecommenderOptions>& pairing_parameters() {
  static const auto all = [] {
    ParametersOf<RecommenderOptions> parameters({.objective = objective});
    add_pairing(parameters);
    return parameters;
  }();
  return all;
}

template <Objective objective>
PolicyEntry pairing_entry(std::string_view name, std::string_view description) {
  return {.name = name,
          .description = description,
          .needs = PolicyNeeds::kBelief,
          .parameters = pairing_parameters<objective>().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            RecommenderOptions options = pairing_parameters<objective>().read(c.parameters);
            return std::make_unique<Recommender>(std::move(options), std::move(c));
          },
          .traits_with =
              [](const Parameters& p) {
                return pairing_traits(pairing_parameters<objective>().read(p));
              }};
}

}  // namespace

PolicyEntry balance_entry() {
  return pairing_entry<Objective::kBalance>(
      "balance", "JRS balance: maximise mean PS minus mean ISD per cluster pair");
}

PolicyEntry min_slowdown_entry() {
  return pairing_entry<Objective::kMinSlowdown>(
      "min-slowdown", "JRS min-slowdown: minimise the summed ISD of cluster pairs");
}

}  // namespace corun::inline policies
