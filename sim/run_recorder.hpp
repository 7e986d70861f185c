#pragma once

#include <span>
#include <vector>

#include "sim/run_record.hpp"

/// The record of a run, as a backend writes it: what has ended since the latest advance() is shown once,
/// then handed over to the record or to a sink.
namespace corun {

class RunRecorder {
 public:
  /// `jobs`: of the workload; 0 where the caller fills in RunRecord::jobs itself. With a sink, which must
  /// outlive this, jobs and episodes go there, and not into the record.
  RunRecorder(std::size_t jobs, int gpu_count, RunSink* sink = nullptr);

  UsageRecord& usage() { return record_.usage; }
  /// A job has come whose memory demand is not known.
  void count_unknown_memory() { ++record_.unknown_memory_jobs; }

  /// In order of their end.
  void add(EpisodeRecord episode) { episodes_.push_back(std::move(episode)); }
  void add(const ProbeRecord& probe) { probes_.push_back(probe); }
  std::span<const EpisodeRecord> finished_episodes() const { return episodes_; }
  std::span<const ProbeRecord> finished_probes() const { return probes_; }

  /// A job is over, and so are its episodes.
  void add(JobId job, const JobRecord& record);
  /// The finished episodes and probes have been looked at.
  void hand_over();
  /// An empty list for an episode; with memory to use again, where there is some.
  std::vector<JobId> empty_list();

  /// To be called once, at the end of the run.
  RunRecord take();

 private:
  RunSink* sink_;
  RunRecord record_;
  std::vector<EpisodeRecord> episodes_;
  std::vector<ProbeRecord> probes_;
  std::vector<std::vector<JobId>> spare_lists_;  ///< of episodes that a sink has had
};

}  // namespace corun
