#pragma once

#include <span>
#include <vector>

#include "sim/records/run_record.hpp"

/// The record of a run as a backend writes it. Episodes and probes that have ended since the latest
/// advance() can be read once, then go to the record or to a sink.
namespace corun::inline sim {

/// A record takes about 100 bytes for each, and a results file one row.
inline constexpr std::size_t kMostEpisodes = 20'000'000;

class RunRecorder {
 public:
  /// `jobs`: jobs of the workload; 0 if the caller fills in RunRecord::jobs. With a sink, which must
  /// outlive this, jobs and episodes go to the sink and not into the record.
  RunRecorder(std::size_t jobs, int gpu_count, RunSink* sink = nullptr);

  UsageRecord& usage() { return record_.usage; }
  /// Counts an arrived job without known memory demand.
  void count_unknown_memory() { ++record_.unknown_memory_jobs; }

  /// To be called in order of their ends.
  void add(EpisodeRecord episode) { episodes_.push_back(std::move(episode)); }
  /// The episodes of a gang that differ in their GPU alone: one on each of these, in this order.
  void add(EpisodeRecord episode, std::vector<GpuId> gpus);
  void add(const ProbeRecord& probe) { probes_.push_back(probe); }
  /// Of those that were added together, the primary one alone.
  std::span<const EpisodeRecord> finished_episodes() const { return episodes_; }
  std::span<const ProbeRecord> finished_probes() const { return probes_; }

  /// A job is over, and so are its episodes.
  void add(JobId job, const JobRecord& record);
  /// Moves the finished episodes and probes to the record or the sink. Throws InputError if a record would have
  /// more than kMostEpisodes.
  void hand_over();
  /// An empty list for an episode, with reused memory if there is any.
  std::vector<JobId> empty_list();

  /// To be called once, at the end of the run.
  RunRecord take();

 private:
  void keep(EpisodeRecord episode, std::span<const GpuId> gang);
  void check_room(std::size_t more) const;

  RunSink* sink_;
  RunRecord record_;
  struct GangEpisodes {
    std::size_t at = 0;  ///< in episodes_
    std::vector<GpuId> gpus;
  };

  std::vector<EpisodeRecord> episodes_;
  std::vector<GangEpisodes> gangs_;  ///< in their order
  std::vector<ProbeRecord> probes_;
  std::vector<std::vector<JobId>> spare_lists_;  ///< of episodes that a sink has received
};

}  // namespace corun::inline sim
