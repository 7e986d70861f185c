#pragma once

#include <span>
#include <vector>

#include "live/jobs/job_run.hpp"
#include "live/run/solo_on_gpus.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/engine/run_recorder.hpp"
#include "sim/job.hpp"

/// The state of a live cluster: the jobs on each GPU and the record of every job. It is kept during a live
/// run and again when the run is played back from its record.
namespace corun::live {

/// One ended run of one job. Times are since the start of the queue.
struct LiveRun {
  JobId job{};
  GpuId gpu{};
  std::uint32_t group = 0;
  bool deferred = false;  ///< it waited on its GPU for memory
  Time start{0};
  Time exit{0};
  RunOutcome outcome;
};

class LiveLedger {
 public:
  /// `on_types` may be null; all must outlive it.
  LiveLedger(const ClusterSpec& spec, const corun::Workload& workload, const JobsOnTypes* on_types);

  /// Puts jobs on a GPU; returns the number of their group.
  std::uint32_t start(std::span<const JobId> jobs, GpuId gpu, Time now);
  /// Removes a job from its GPU and completes its record; returns the report for the control loop.
  Report end(const LiveRun& run);
  /// Moves finished_episodes() to the record.
  void next_instant() { recorder_.hand_over(); }

  const ClusterState& state() const { return state_; }
  const SoloOnGpus& alone() const { return alone_; }
  const JobRecord& record(JobId job) const { return records_[index(job)]; }
  std::span<const EpisodeRecord> finished_episodes() const { return recorder_.finished_episodes(); }
  /// Whether every job has finished or was given up.
  bool all_over() const { return over_ == records_.size(); }
  RunRecord take_record();

 private:
  struct Device {
    EpisodeRecord episode;
    std::uint32_t group = 0;  ///< of the episode's first start
    bool begun = false;       ///< a job of the episode has ended, so its start is known
  };

  const ClusterSpec& spec_;
  corun::Workload workload_;
  SoloOnGpus alone_;
  ClusterState state_;
  std::vector<Device> devices_;
  std::vector<JobRecord> records_;
  RunRecorder recorder_;
  std::uint32_t next_group_ = 0;
  std::size_t over_ = 0;
};

}  // namespace corun::live
