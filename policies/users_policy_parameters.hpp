#pragma once

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"

/// Parameters of policies that a user writes: a program (external.cpp) or a class of Python.
namespace corun::inline policies {

struct UsersPolicyOptions {
  bool joins = false;     ///< it may place jobs beside running ones
  bool believes = false;  ///< it has the belief of the configuration
  bool always = false;    ///< it is asked while jobs run and none waits, too
};

inline const ParametersOf<UsersPolicyOptions>& users_policy_parameters() {
  static const auto all =
      ParametersOf<UsersPolicyOptions>()
          .choice(
              "start", &UsersPolicyOptions::joins, {{"control", false}, {"join", true}},
              "join: it may place jobs beside running ones whatever control.start says; control: "
              "as that says")
          .choice("belief", &UsersPolicyOptions::believes, {{"none", false}, {"configured", true}},
                  "configured: it has the belief of the configuration, and may ask for pairs")
          .choice(
              "asked", &UsersPolicyOptions::always, {{"waiting", false}, {"running", true}},
              "waiting: it is asked while jobs wait; running: while jobs run, too, so that it can "
              "preempt or resize them");
  return all;
}

inline PolicyNeeds users_policy_needs(const Parameters& parameters) {
  const bool believes = users_policy_parameters().read(parameters).believes;
  return believes ? PolicyNeeds::kBelief : PolicyNeeds::kNothing;
}

inline PolicyTraits users_policy_traits(const Parameters& parameters) {
  const UsersPolicyOptions options = users_policy_parameters().read(parameters);
  return {.always_colocates = options.joins,
          .moves_running_jobs = options.always,
          .preempts = true,
          .sees_all = true};
}

}  // namespace corun::inline policies
