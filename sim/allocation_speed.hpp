#pragma once

#include <cstdint>
#include <span>

#include "sim/ids.hpp"

/// How the speed of a job alone depends on the GPUs that it got. Part of the world.
namespace corun::inline sim {

/// The GPUs of a job: how many, how they are spread, and of which type.
struct Allocation {
  int gpus = 1;
  int nodes = 1;     ///< that have some of them
  int switches = 1;  ///< that have some of these nodes
  std::uint32_t gpu_type =
      0;  ///< GpuType::id; of several types the one on which the job is slowest
  /// GPUs on each of the nodes, in the order in which the job's GPUs are listed; the caller keeps the numbers. Empty: not
  /// told, the GPUs are spread over the nodes as evenly as can be.
  std::span<const int> on_nodes = {};
};

class AllocationSpeed {
 public:
  virtual ~AllocationSpeed() = default;

  /// The speed of a job on this allocation over its speed on as many GPUs as it asks for, on one node or as they were when
  /// its run time was measured; above 0. JobSpec::work is of the latter. `job` may be the number of a phase
  /// (Workload::in_phase()).
  virtual double factor(JobId job, const Allocation& allocation) const = 0;

  /// The factor of the speed of a job on several nodes while it shares one of them with another such job; above 0 to 1.
  virtual double beside_spread_jobs() const { return 1; }
};

}  // namespace corun::inline sim
