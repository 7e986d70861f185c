#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/cluster_state.hpp"
#include "sim/job.hpp"
#include "sim/world.hpp"

/// Which jobs run out of memory (DESIGN 4.4).
namespace corun::inline sim {

/// The known memory demand of a job in one of its phases on a GPU type [MiB].
inline std::optional<double> memory_demand(JobId job, std::uint32_t phase, const GpuType& type,
                                           const Workload& workload, const World& world) {
  const JobsOnTypes* on_types = world.on_types();
  return on_types != nullptr ? on_types->memory_mib(workload.in_phase(job, phase), type)
                             : workload.profile(job, phase).mem_used_mib;
}

/// Whether `job`, on joining these GPUs or on entering a phase there, runs out of memory: if the world knows that it
/// does not fit beside another resident, or if its demand and the others' [MiB] add up to more than the memory
/// of one of the GPUs. Unknown demands count 0; without a known demand of its own the job passes
/// the second test. `phase_of(j)` is the phase in which a job is. `out_of_memory(resident)` says whether that resident
/// will fail itself: then it holds no memory.
template <typename PhaseOf, typename OutOfMemory>
bool exceeds_memory(JobId job, std::span<const GpuId> gpus, const ClusterState& state,
                    const Workload& workload, const World& world, const PhaseOf& phase_of,
                    const OutOfMemory& out_of_memory) {
  const auto known = [&](JobId j) { return workload.in_phase(j, phase_of(j)); };
  return std::ranges::any_of(gpus, [&](GpuId g) {
    const GpuType& type = state.gpu_type(g);
    for (const JobId j : state.gpu(g).residents) {
      if (j == job || out_of_memory(j)) continue;
      if (!world.fits_together(known(job), known(j), type.id)) return true;
    }
    const std::optional<double> own_mib = memory_demand(job, phase_of(job), type, workload, world);
    if (!own_mib) return false;
    double used_mib = *own_mib;
    for (const JobId j : state.gpu(g).residents) {
      if (j == job || out_of_memory(j)) continue;
      used_mib += memory_demand(j, phase_of(j), type, workload, world).value_or(0);
    }
    return used_mib > type.memory_mib;
  });
}

}  // namespace corun::inline sim
