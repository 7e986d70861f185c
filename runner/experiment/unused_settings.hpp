#pragma once

#include <string>
#include <vector>

#include "runner/builders/belief_builder.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "traces/trace.hpp"

/// Settings that cannot change a result under the rest of the configuration. One table has a rule
/// per key, another one per parameter; a key without a rule always has an effect or is refused where
/// it has none. tests/runner/experiment/unused_settings_test.cpp walks all of them.
namespace corun::inline runner {

/// What the rules look at. Everything is referred to.
struct SettingsInUse {
  const Config& config;
  const Cluster& cluster;
  const BeliefBuilder& beliefs;
  const std::vector<PolicyInstance>& policies;
  const Trace& trace;  ///< of replication 0
};

/// One sentence per key and parameter that was given, differs from its default and has no effect:
/// "preemption.save_s has no effect: no policy preempts jobs".
std::vector<std::string> unused_settings(const SettingsInUse& use);

}  // namespace corun::inline runner
