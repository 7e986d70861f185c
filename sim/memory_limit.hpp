#pragma once

#include <algorithm>
#include <span>

#include "sim/cluster_state.hpp"
#include "sim/job.hpp"
#include "sim/world.hpp"

/// Which jobs run out of memory (DESIGN 4.4).
namespace corun {

/// Whether `job`, on joining these GPUs, runs out of memory: if the world knows that it does not
/// fit beside a resident, or if its demand and the residents' [MiB] add up to more than the memory
/// of one of the GPUs. Unknown demands count 0; without a known demand of its own the job passes
/// the second test. `out_of_memory(resident)` says whether that resident will fail itself: then it
/// holds no memory.
template <typename OutOfMemory>
bool exceeds_memory(JobId job, std::span<const GpuId> gpus, const ClusterState& state,
                    const Workload& workload, const World& world,
                    const OutOfMemory& out_of_memory) {
  for (const GpuId g : gpus) {
    for (const JobId j : state.gpu(g).residents) {
      if (!out_of_memory(j) && !world.fits_together(job, j)) return true;
    }
  }
  const auto demand = [&](JobId j) { return workload.jobs[index(j)].profile.mem_used_mib; };
  if (!demand(job)) return false;
  return std::ranges::any_of(gpus, [&](GpuId g) {
    double used_mib = *demand(job);
    for (const JobId j : state.gpu(g).residents) {
      if (!out_of_memory(j)) used_mib += demand(j).value_or(0);
    }
    return used_mib > state.gpu_type(g).memory_mib;
  });
}

}  // namespace corun
