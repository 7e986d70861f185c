#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/allocation_belief.hpp"
#include "sim/allocation_speed.hpp"
#include "sim/ids.hpp"
#include "sim/jobs_on_types.hpp"

/// The world: the simulation's true costs of co-runs. Only the simulated backends ask it; a policy never
/// holds one (DESIGN 4.6).
namespace corun::inline sim {

/// Where a speed came from.
enum class Provenance : std::uint8_t {
  kAlone,         ///< no co-runners
  kMeasured,      ///< a measured row of exactly these jobs
  kModelled,      ///< an interference model, within the range of its fit
  kExtrapolated,  ///< a GPU type or sharing mode other than measured
};

/// The jobs on a GPU, and their history there.
struct CoRunners {
  std::span<const JobId> residents;  ///< ascending, not empty
  /// The residents just after the latest start on this GPU, ascending; contains `residents`. A
  /// measured group stays that group while its members leave one by one.
  std::span<const JobId> formed;
  /// The resident that started last (of a group that started together, its last member).
  JobId newcomer = kNoJob;
  std::uint32_t gpu_type = 0;  ///< GpuType::id of the GPU
};

/// Jobs are known by JobId, and a phase of a job that changes by Workload::in_phase().
class World {
 public:
  virtual ~World() = default;

  /// Normalised speed of each resident: out[i] in (0, 1] belongs to residents[i]; alone it is 1. Without
  /// `noise_seed`: expected speeds. With it the draw is keyed by (seed, set of jobs), so that all policies
  /// that form the same set in the same replication get the same draw.
  virtual Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                            std::span<double> out) const = 0;

  /// Whether two jobs fit on one GPU of this type (GpuType::id). If not, the later one of the two runs out of
  /// memory there, whatever its known demand.
  virtual bool fits_together(JobId a, JobId b, std::uint32_t gpu_type) const {
    (void)a;
    (void)b;
    (void)gpu_type;
    return true;
  }

  /// Speed and memory of the jobs where they differ between the types of the cluster by job; nullptr: each
  /// job runs at GpuType::speed and has the memory demand of its profile everywhere.
  virtual const JobsOnTypes* on_types() const { return nullptr; }

  /// How the speed of jobs alone depends on their allocation; nullptr: it does not.
  virtual const AllocationSpeed* by_allocation() const { return nullptr; }
  /// The same as a policy may know it that was granted truth; nullptr where by_allocation() is.
  virtual const AllocationBelief* allocation_truth() const { return nullptr; }

  /// Possible outcomes of a co-run of two: the weights add up to 1, and expected costs are means over them.
  /// On a cluster of several GPU types: on the first. Default: the expected speeds with weight 1.
  /// pair_outcomes() clears `out` first.
  struct PairOutcome {
    double weight = 1;
    double speed_a = 1;
    double speed_b = 1;
  };
  virtual void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const;
};

}  // namespace corun::inline sim
