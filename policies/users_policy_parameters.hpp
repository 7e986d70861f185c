#pragma once

#include <string>

#include "policies/parameters.hpp"

/// Parameters of policies that a user writes: a program (external.cpp) or a class of Python.
namespace corun::inline policies {

inline ParameterSpec start_parameter() {
  return {.name = "start",
          .description =
              "join: it may place jobs beside running ones whatever control.start says; "
              "control: as that says",
          .kind = ParameterKind::kChoice,
          .fallback = std::string("control"),
          .choices = {"control", "join"}};
}
inline bool joins(const Parameters& parameters) { return parameters.choice("start") == "join"; }

inline ParameterSpec belief_parameter() {
  return {
      .name = "belief",
      .description = "configured: it has the belief of the configuration, and may ask for pairs",
      .kind = ParameterKind::kChoice,
      .fallback = std::string("none"),
      .choices = {"none", "configured"}};
}
inline bool believes(const Parameters& parameters) {
  return parameters.choice("belief") == "configured";
}

}  // namespace corun::inline policies
