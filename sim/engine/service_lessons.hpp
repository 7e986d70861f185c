#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/job_slots.hpp"
#include "sim/records/job_record.hpp"

/// What finished jobs teach about services: a job of one GPU that shared it with one replica from its start to its end, and
/// with nothing else. What is learnt are the speeds of the two while both work, by what was observed (DESIGN 4.23).
namespace corun::inline sim {

class ServiceLessons {
 public:
  /// Shorter runs are left out: loads are observed by intervals, and a run begins and ends within one.
  static constexpr std::uint32_t kFewestIntervals = 5;
  /// So are those beside replicas that hardly worked: they say little of what working ones cost.
  static constexpr double kLeastBusy = 0.1;

  /// `jobs` have started on `gpus`. Linear in the jobs of these GPUs.
  void started(std::span<const JobId> jobs, std::span<const GpuId> gpus,
               const ClusterBackend& backend, const JobSlots<JobView>& views);
  /// The job has left its GPUs; `finished`: with its work done.
  std::optional<ProbeOutcome> left(JobId job, bool finished, const ClusterBackend& backend,
                                   const JobSlots<JobView>& views);

 private:
  struct Watched {
    JobId replica;
    ServiceView service;  ///< at the job's start
    ReplicaWork work;     ///< until then
  };
  std::map<JobId, Watched> watched_;  ///< by job that runs beside one replica since its start
};

/// The speed of a job beside a replica that always works, if beside one that worked in the share `busy` of time it did
/// `solo` of its work in `corun`: speed s beside a working one gives s busy + 1 - busy. Nothing if no s of 0.05 or more fits.
std::optional<double> speed_beside_working(Duration solo, Duration corun, double busy);

}  // namespace corun::inline sim
