#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "sim/cluster_state.hpp"
#include "sim/job.hpp"
#include "sim/world.hpp"

/// Which jobs run out of memory (DESIGN 4.4).
namespace corun::inline sim {

/// The known memory demand of a job on a GPU type [MiB].
inline std::optional<double> memory_demand(JobId job, const GpuType& type, const Workload& workload,
                                           const World& world) {
  const JobsOnTypes* on_types = world.on_types();
  return on_types != nullptr ? on_types->memory_mib(job, type)
                             : workload.jobs[index(job)].profile.mem_used_mib;
}

/// Whether `job`, on joining these GPUs, runs out of memory: if the world knows that it does not
/// fit beside a resident, or if its demand and the residents' [MiB] add up to more than the memory
/// of one of the GPUs. Unknown demands count 0; without a known demand of its own the job passes
/// the second test. `out_of_memory(resident)` says whether that resident will fail itself: then it
/// holds no memory.
template <typename OutOfMemory>
bool exceeds_memory(JobId job, std::span<const GpuId> gpus, const ClusterState& state,
                    const Workload& workload, const World& world,
                    const OutOfMemory& out_of_memory) {
  return std::ranges::any_of(gpus, [&](GpuId g) {
    const GpuType& type = state.gpu_type(g);
    for (const JobId j : state.gpu(g).residents) {
      if (!out_of_memory(j) && !world.fits_together(job, j, type.id)) return true;
    }
    const std::optional<double> own_mib = memory_demand(job, type, workload, world);
    if (!own_mib) return false;
    double used_mib = *own_mib;
    for (const JobId j : state.gpu(g).residents) {
      if (!out_of_memory(j)) used_mib += memory_demand(j, type, workload, world).value_or(0);
    }
    return used_mib > type.memory_mib;
  });
}

}  // namespace corun::inline sim
