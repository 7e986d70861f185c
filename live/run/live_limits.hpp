#pragma once

#include "runner/config/config.hpp"
#include "runner/experiment/experiment.hpp"

/// Refusals of settings and policies that only a simulated cluster supports. All of these throw InputError.
namespace corun::live {

/// Refuses keys of the cluster and workload, which the machine and the queue determine, and profiling,
/// probing and rounds, which commands do not support.
void check_live_cluster(const Config& config);

/// Refuses a policy that knows true costs.
void check_live_policy(const PolicyInstance& policy);

/// Refuses a policy that preempts; only its decisions show whether it does.
[[noreturn]] void refuse_preemption(const PolicyInstance& policy);

}  // namespace corun::live
