#pragma once

#include <cstdint>

#include "sim/ids.hpp"

/// How the speed of a job alone depends on the GPUs that it got. Part of the world.
namespace corun::inline sim {

/// The GPUs of a job: how many, and how they are spread.
struct Allocation {
  int gpus = 1;
  int nodes = 1;     ///< that have some of them
  int switches = 1;  ///< that have some of these nodes

  friend bool operator==(const Allocation&, const Allocation&) = default;
};

class AllocationSpeed {
 public:
  virtual ~AllocationSpeed() = default;

  /// The speed of a job on this allocation over its speed on as many GPUs as it asks for, as close together as the
  /// cluster permits; above 0. JobSpec::work is of the latter. `job` may be the number of a phase
  /// (Workload::in_phase()).
  virtual double factor(JobId job, const Allocation& allocation) const = 0;
};

}  // namespace corun::inline sim
