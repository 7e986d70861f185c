#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/cluster_state.hpp"
#include "sim/ids.hpp"
#include "sim/records/event_log.hpp"
#include "sim/records/run_record.hpp"
#include "sim/service_traffic.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// The interface between scheduling and a cluster. The control loop drives a simulated and a live
/// cluster through it; neither the loop nor a policy asks which one it is.
namespace corun::inline sim {

/// Kinds of reports, in the order in which those of one instant are handled.
enum class ReportKind : std::uint8_t {
  kFinished,
  kProfiled,  ///< its profiling is over, and has not done all its work
  kOutOfMemory,
  kFailed,    ///< ended with another error: given up (live clusters only)
  kProbed,    ///< its probe is over, and the job did not finish in it
  kReleased,  ///< its group has ended before it did: off its GPUs with all its progress
  kPhase,     ///< its next phase has begun, on the same GPUs
  kArrived,
  kTimer
};

struct Report {
  ReportKind kind = ReportKind::kTimer;
  JobId job{};
  /// When the job left its GPUs, if the cluster reports that later: for records, not for policies.
  std::optional<Time> left = std::nullopt;
};

/// Sorts the reports of one instant by kind; reports of one kind keep their order.
inline void order_reports(std::span<Report> reports) {
  if (std::ranges::is_sorted(reports, {}, &Report::kind)) return;  // a sort would allocate memory
  std::ranges::stable_sort(reports, {}, &Report::kind);
}

/// Short runs from which a scheduler learns before it schedules a job.
class TrialRuns {
 public:
  virtual ~TrialRuns() = default;

  /// Runs a job alone on an empty GPU to profile it; reported by kProfiled, or by kFinished if that has done all its
  /// work.
  virtual void start_profiling(JobId job, GpuId gpu) = 0;
  /// Runs two jobs together on an empty GPU for `length`, or until one of them has finished or run
  /// out of memory. Each job that has done neither is reported by kProbed.
  virtual void start_probe(std::array<JobId, 2> jobs, GpuId gpu, Duration length) = 0;
  /// The probes that ended in the latest advance() or since, in order of their ends.
  virtual std::span<const ProbeRecord> finished_probes() const = 0;
};

/// What became of a job that a policy takes off its GPUs.
enum class Preempted : std::uint8_t {
  kRefused,   ///< it is being profiled or probed, and stays
  kReturned,  ///< it is off its GPUs with its progress
  kFinished,  ///< its work was done, which was not yet noticed: it has finished
};

class ClusterBackend {
 public:
  virtual ~ClusterBackend() = default;

  virtual Time now() const = 0;
  virtual const ClusterState& state() const = 0;

  /// Waits for (or jumps to) the next instant at which something happens and appends all reports of
  /// that instant. False: nothing will ever happen again.
  virtual bool advance(std::vector<Report>& out) = 0;

  /// Starts these jobs together on all of these GPUs, now. The control loop has validated both.
  virtual void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) = 0;
  /// Takes a running job off its GPUs, now, unless it is being profiled or probed.
  virtual Preempted preempt(JobId job) = 0;
  /// The same for a job that the caller starts at this instant on other GPUs. A cluster that cannot do so refuses.
  virtual Preempted preempt_to_resize(JobId job) {
    (void)job;
    return Preempted::kRefused;
  }
  /// Requests a report kTimer at this time.
  virtual void wake_at(Time at) = 0;

  /// The episodes that ended in the latest advance() or since, in order of their ends; of those of a gang the primary one
  /// at least.
  virtual std::span<const EpisodeRecord> finished_episodes() const = 0;
  /// The record of a job that has arrived. It is final once the job was reported as finished or out
  /// of memory for good, and may be read until the next advance() after that.
  virtual const JobRecord& record(JobId job) const = 0;
  /// The phase in which a job is that has arrived and has not finished, from 0.
  virtual std::uint32_t phase(JobId job) const {
    (void)job;
    return 0;
  }

  /// What was observed of a replica of a service until now; nothing if the cluster has no services.
  virtual ReplicaWork replica_work(JobId replica) const {
    (void)replica;
    return {};
  }

  /// Fills `out` with the true speeds of the residents of a GPU, in their order, each relative to its speed
  /// alone there; 0: it will run out of memory. Returns their source. Nothing if the cluster does not know
  /// (a live one). For records, never for policies.
  virtual std::optional<Provenance> true_speeds(GpuId gpu, std::vector<double>& out) const {
    (void)gpu;
    (void)out;
    return std::nullopt;
  }

  /// nullptr if the cluster neither profiles nor probes.
  virtual TrialRuns* trial_runs() { return nullptr; }
};

}  // namespace corun::inline sim
