#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "sim/cluster_state.hpp"
#include "sim/event_log.hpp"
#include "sim/ids.hpp"
#include "sim/run_record.hpp"
#include "sim/time.hpp"

/// The seam between scheduling and what is scheduled on. The control loop drives a simulated and a
/// live cluster through this interface alone; neither it nor a policy asks which one it is.
namespace corun {

/// What a backend reports, in the order of EventKind within one instant.
enum class ReportKind : std::uint8_t {
  kFinished,
  kProfiled,
  kOutOfMemory,
  kFailed,    ///< ended badly for another reason: given up (live clusters alone)
  kProbed,    ///< its probe is over and it did not finish in it
  kReleased,  ///< its group has ended without it: off its GPUs with all its progress
  kArrived,
  kTimer
};

struct Report {
  ReportKind kind = ReportKind::kTimer;
  JobId job{};
};

/// Puts the reports of one instant into the order of their kind; those of a kind stay as they are.
inline void order_reports(std::span<Report> reports) {
  std::ranges::stable_sort(reports, {}, &Report::kind);
}

/// Short runs that teach what jobs are like before they are scheduled.
class TrialRuns {
 public:
  virtual ~TrialRuns() = default;

  /// Runs a job alone on an empty GPU to profile it; reported by kProfiled.
  virtual void start_profiling(JobId job, GpuId gpu) = 0;
  /// Runs two jobs together on an empty GPU for `length`, or until one of them has finished or run out
  /// of memory; the other one, or both, are reported by kProbed.
  virtual void start_probe(std::array<JobId, 2> jobs, GpuId gpu, Duration length) = 0;
  /// The probes that ended in the latest advance() or since, in order of their end.
  virtual std::span<const ProbeRecord> finished_probes() const = 0;
};

class ClusterBackend {
 public:
  virtual ~ClusterBackend() = default;

  virtual Time now() const = 0;
  virtual const ClusterState& state() const = 0;

  /// Waits for (or jumps to) the next instant at which something happens and appends all that
  /// happened at it. False: nothing will ever happen again.
  virtual bool advance(std::vector<Report>& out) = 0;

  /// Starts these jobs together on all of these GPUs, now. Already validated by the control loop.
  virtual void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) = 0;
  /// Takes a running job off its GPUs, now; it keeps its progress. False, and nothing done, where it is
  /// being profiled or probed.
  virtual bool preempt(JobId job) = 0;
  /// Report kTimer at this time.
  virtual void wake_at(Time at) = 0;

  /// The episodes that ended in the latest advance() or since, in order of their end.
  virtual std::span<const EpisodeRecord> finished_episodes() const = 0;
  /// The record of a job that has arrived, of its latest run; final once the job was reported as
  /// finished or out of memory for good. To be asked for until the next advance() after that.
  virtual const JobRecord& record(JobId job) const = 0;

  /// nullptr where the cluster neither profiles nor probes.
  virtual TrialRuns* trial_runs() { return nullptr; }
};

}  // namespace corun
