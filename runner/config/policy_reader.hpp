#pragma once

#include <span>
#include <vector>

#include "policies/catalog.hpp"
#include "runner/config/config.hpp"
#include "support/yaml_values.hpp"

/// Reads the list of policies of a configuration: names and parameters of a catalogue.
namespace corun::inline runner {

/// The permitted value in messages and lists.
inline constexpr const char* kPoliciesText =
    "a list of policies such as [{name: fcfs}, {name: random}]";

/// Notes the place of a value, unless it is a default.
inline void remember(KeyPlaces& places, const YamlValue& at) {
  if (at.node.source) places.set(at.key, at.node.place());
}

/// Reads `policies`: `- fcfs`, or `- {name: fcfs, label: ..., published: ..., PARAMETER: ...}`. Notes the place of
/// each value in `places` under "policies[0]", "policies[0].epsilon". Throws InputError (place,
/// found, expected).
std::vector<PolicyConfig> read_policies(const YamlValue& at, std::span<const PolicyEntry> catalog,
                                        KeyPlaces& places);

}  // namespace corun::inline runner
