#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters.hpp"
#include "runner/config/config.hpp"
#include "traces/trace.hpp"

/// The policies to compare, from `policies` of a configuration.
namespace corun::inline runner {

/// A policy as configured.
struct PolicyInstance {
  const PolicyEntry* entry = nullptr;
  std::string label;  ///< name in the output; all differ
  PolicyConfig config;
  std::string key;                            ///< "policies[2]", for the places of its parameters
  std::string place;                          ///< of that key, for errors
  bool granted_truth = false;                 ///< the oracle, or belief: {model: truth}
  PolicyNeeds needs = PolicyNeeds::kNothing;  ///< with its parameters
  PolicyTraits traits;                        ///< with its parameters
};

/// In the order of the configuration. Equal labels are numbered "fcfs#1", "fcfs#2". InputError at a
/// policy that needs estimates.duration, or whose label equals another after numbering.
std::vector<PolicyInstance> policy_instances(const Config& config);

/// The libraries of CORUN_POLICIES from which some of the policies come.
std::vector<std::string> libraries_of(const std::vector<PolicyInstance>& policies);

/// The policy's parameters as given, else by default; without the jobs that they name.
Parameters given_parameters(const PolicyInstance& policy);

/// The policy's parameters and the jobs of a trace that they name. `clusters`: number of
/// clusters of the knowledge base. InputError at a parameter that names an unknown job or cluster,
/// and at a policy that lacks a required list of texts.
Parameters parameters_of(const PolicyInstance& policy, const Config& config, const Trace& trace,
                         int clusters);

}  // namespace corun::inline runner
