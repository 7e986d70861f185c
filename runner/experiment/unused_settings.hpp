#pragma once

#include <vector>

#include "runner/builders/belief_builder.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Settings that cannot change a result under the rest of the configuration. A table has a rule per key, a policy's
/// entry a rule per parameter (ParametersOf::only_where); a key without a rule always has an effect or is refused where
/// it has none. The rules go by the configuration and the jobs alone: none says what a run would do. tests/runner/experiment/unused_settings_test.cpp walks all of them.
namespace corun::inline runner {

/// What the rules look at. Everything is referred to.
struct SettingsInUse {
  const Config& config;
  const Cluster& cluster;
  const BeliefBuilder& beliefs;
  const std::vector<PolicyInstance>& policies;
  const Trace& trace;        ///< of replication 0
  const WorkloadKeys* keys;  ///< of the jobs' workloads; null: they have no names
};

/// A note kNoEffect per key and parameter that was given, differs from its default and has no effect:
/// "preemption.save_s has no effect: no policy preempts jobs".
Notes unused_settings(const SettingsInUse& use);

}  // namespace corun::inline runner
