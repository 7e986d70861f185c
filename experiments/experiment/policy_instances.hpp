#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "policies/catalog.hpp"
#include "policies/parameters.hpp"
#include "traces/trace.hpp"

/// From `policies` of a configuration to the policies that are compared.
namespace corun {

/// A policy as configured.
struct PolicyInstance {
  const PolicyEntry* entry = nullptr;
  std::string label;  ///< how the output calls it; all different
  PolicyConfig config;
  std::string key;             ///< "policies[2]", for the places of its parameters
  std::string place;           ///< of that key in the configuration, for errors
  bool granted_truth = false;  ///< the oracle, or belief: {model: truth}
  PolicyTraits traits;         ///< under its parameters
};

/// In the order of the configuration. Equal labels are numbered "fcfs#1", "fcfs#2". InputError at a
/// policy that cannot be had.
std::vector<PolicyInstance> policy_instances(const Config& config);

/// The policy's parameters over the jobs of a trace: names of jobs become numbers. `clusters` is how
/// many the knowledge base has. InputError at a parameter that names what is not there.
Parameters parameters_of(const PolicyInstance& policy, const Config& config, const Trace& trace,
                         int clusters);

}  // namespace corun
