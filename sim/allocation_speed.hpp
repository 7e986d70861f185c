#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sim/ids.hpp"
#include "sim/time.hpp"

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

/// Training samples of a job; 0 and 0: not told.
struct Samples {
  double processed = 0;  ///< of the batches that it trains on
  /// What these are worth in samples with the job's initial batch size: `processed` times its statistical efficiency.
  double useful = 0;
};

class AllocationBelief;

/// Configurations, such as batch sizes, that jobs choose while they run by what they have measured: the state of one run of
/// the simulation. A job chooses anew when it gets other GPUs, when a phase begins, and at each multiple of interval().
class JobTuning {
 public:
  virtual ~JobTuning() = default;

  /// Above 0.
  virtual Duration interval() const = 0;
  /// The job chooses by what it has measured. Its speed with that, as AllocationSpeed::factor(): above 0.
  virtual double choose(JobId job, const Allocation& on) = 0;
  /// By second of work (JobSpec::work), with what it chose there last.
  virtual Samples samples(JobId job, const Allocation& on) const {
    (void)job;
    (void)on;
    return {};
  }
  /// The job has worked on this allocation with the configuration that it chose there last: it learns.
  virtual void measure(JobId job, const Allocation& on) = 0;
  /// What a scheduler is told of the jobs: what they have measured.
  virtual const AllocationBelief& belief() const = 0;
};

class AllocationSpeed {
 public:
  virtual ~AllocationSpeed() = default;

  /// The speed of a job on this allocation over its speed on as many GPUs as it asks for, on one node or as they were when
  /// its run time was measured; above 0. JobSpec::work is of the latter. `job` may be the number of a phase
  /// (Workload::in_phase()).
  virtual double factor(JobId job, const Allocation& allocation) const = 0;

  /// Whether samples() tells them.
  virtual bool counts_samples() const { return false; }
  /// By second of work (JobSpec::work) on this allocation, with the batch size of factor().
  virtual Samples samples(JobId job, const Allocation& allocation) const {
    (void)job;
    (void)allocation;
    return {};
  }

  /// The factor of the speed of a job on several nodes while it shares one of them with another such job; above 0 to 1.
  virtual double beside_spread_jobs() const { return 1; }

  /// Jobs that know nothing yet; nullptr: they choose nothing, factor() always holds. It must not outlive this.
  virtual std::unique_ptr<JobTuning> tuning() const { return nullptr; }
};

}  // namespace corun::inline sim
