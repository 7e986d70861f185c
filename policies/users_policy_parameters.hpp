#pragma once

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"

/// Parameters of policies that a user writes: a program (external.cpp) or a class of Python.
namespace corun::inline policies {

struct UsersPolicyOptions {
  bool joins = false;     ///< it may place jobs beside running ones
  bool believes = false;  ///< it has the belief of the configuration
};

inline const ParametersOf<UsersPolicyOptions>& users_policy_parameters() {
  static const auto all =
      ParametersOf<UsersPolicyOptions>()
          .choice(
              "start", &UsersPolicyOptions::joins, {{"control", false}, {"join", true}},
              "join: it may place jobs beside running ones whatever control.start says; control: "
              "as that says")
          .choice("belief", &UsersPolicyOptions::believes, {{"none", false}, {"configured", true}},
                  "configured: it has the belief of the configuration, and may ask for pairs");
  return all;
}

inline PolicyNeeds users_policy_needs(const Parameters& parameters) {
  const bool believes = users_policy_parameters().read(parameters).believes;
  return believes ? PolicyNeeds::kBelief : PolicyNeeds::kNothing;
}

inline PolicyTraits users_policy_traits(const Parameters& parameters) {
  const bool joins = users_policy_parameters().read(parameters).joins;
  return {.always_colocates = joins, .preempts = true, .sees_all = true};
}

}  // namespace corun::inline policies
