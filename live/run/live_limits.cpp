#include "live/run/live_limits.hpp"

#include <array>
#include <string>
#include <string_view>

#include "runner/experiment/resolved_config.hpp"
#include "sim/error.hpp"

namespace corun::live {

void check_live_cluster(const Config& config) {
  constexpr std::array<std::string_view, 12> kOfTheMachine{
      "cluster.nodes",     "cluster.gpus_per_node",  "cluster.gpu_type",
      "cluster.gpu_types", "cluster.gpu_memory_mib", "cluster.gpu_speed",
      "cluster.path",      "cluster.machines",       "cluster.virtual_clusters",
      "workload.source",   "workload.path",          "workload.gpu_type"};
  refuse_given(config, kOfTheMachine,
               "follows from the machine and the queue in live mode (live.gpus, queue); leave it "
               "out");
  const auto refuse = [&](const char* key, const std::string& why) {
    throw InputError(config.place(key), why);
  };
  if (config.workload.services) {
    refuse(
        "workload.services",
        "a live queue has no services, corun live corun measures them beside jobs; leave it out");
  }
  if (config.profiling.mode != ProfilingMode::kNone) {
    refuse("profiling.mode",
           "a live queue does not profile on its own: run corun live solo before "
           "and leave it out");
  }
  if (config.probing.probes > 0) {
    refuse("probing.probes",
           "a command cannot be probed and go on: leave it out, and measure pairs "
           "with corun live corun");
  }
  if (config.control.mode == ControlMode::kRounds) {
    refuse("control.mode", "rounds need jobs that can be stopped and go on; leave it out");
  }
}

void check_live_policy(const PolicyInstance& policy) {
  if (!policy.granted_truth) return;
  throw InputError(policy.place, "policy '" + policy.label +
                                     "' knows true costs, unknown in live runs; leave it out");
}

void refuse_preemption(const PolicyInstance& policy) {
  throw InputError(policy.place, "policy '" + policy.label +
                                     "' moves running jobs, and a command cannot be taken up "
                                     "again; leave it out");
}

}  // namespace corun::live
