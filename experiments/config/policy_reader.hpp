#pragma once

#include <span>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/config/yaml_values.hpp"
#include "policies/catalog.hpp"

/// The list of policies of a configuration: names and parameters as a catalogue knows them.
namespace corun {

/// What messages and lists call it.
inline constexpr const char* kPoliciesText =
    "a list of policies such as [{name: fcfs}, {name: random}]";

/// Reads `policies`: `- fcfs`, or `- {name: fcfs, label: ..., PARAMETER: ...}`. The places of all that
/// was given are noted as those of "policies[0]", "policies[0].epsilon". Throws InputError (place,
/// what was found, what was expected).
std::vector<PolicyConfig> read_policies(const YamlValue& at, std::span<const PolicyEntry> catalog,
                                        KeyPlaces& places);

}  // namespace corun
