#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "support/json.hpp"

/// What the requests of services experienced in a replay (docs/services.md).
namespace corun::inline runner {

/// An object for each service under the policy, and one of all together, named null; empty without services. Figures are
/// intervals over replications; `methods` are shares of all requests that were answered.
Json services_json(const ReplayResult& result, std::size_t policy);

/// A table with a row for each policy and service; "" without services.
std::string services_table(const std::vector<PolicyInstance>& policies, const ReplayResult& result);

}  // namespace corun::inline runner
