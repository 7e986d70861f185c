#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sim/engine/arrivals.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/engine/run_recorder.hpp"
#include "sim/job.hpp"
#include "sim/world.hpp"

/// The cluster in virtual time, scheduled in rounds, as Gavel does it (Narayanan et al., OSDI 2020,
/// and the simulator published with it). A round starts for all jobs at the same instant:
///
///   steps     = min(floor(rate * round), steps left), and at least 1
///   own end   = start of the round + steps / rate
///   round end = the latest own end of all jobs; there the next round starts
///   rate      = steps / work * min over its GPUs of speed(g) * s(j | co-runners on g)
///
/// Jobs whose trace counts no steps are counted in nanoseconds of work.
///
/// A group ends with the round in which one of its jobs is done. That job finishes at the latest own end of
/// its group. Each job that is not done is reported as released and idles until it is started again.
/// Everything else happens at ends of rounds: arrivals and timers are reported at the first one that is not
/// before them. While nothing runs, time jumps to the next arrival, and to a timer only after the last
/// arrival. A job above the memory limit does no work and fails at the end of its first round, which lasts
/// at least cluster.oom.ramp.
///
/// As long as nothing starts and nothing ends, all rounds are alike, and the end of n of them is one
/// multiplication: an event costs O(log n) for n GPUs in use, with any number of rounds in between.
///
/// Between its own end and the end of the round a job waits for the slowest one. That time is part of J_c,
/// of the episode and of busy time, as with control.tick_s. Taking a job off its GPUs costs nothing.
/// Throws InputError where an event would come after 292 years (sim/time.hpp, later()).
namespace corun::inline sim {

struct RoundOptions {
  Duration round = std::chrono::seconds{360};  ///< > 0
  std::optional<std::uint64_t> noise_seed;     ///< empty: the world's expected speeds
  std::optional<std::uint64_t> types_seed;     ///< as SimulationOptions::types_seed
};

class RoundBackend final : public ClusterBackend {
 public:
  /// The arguments must outlive the backend. Every job's gang must fit the cluster.
  RoundBackend(const ClusterSpec& spec, const Workload& workload, const World& world,
               RoundOptions options);

  Time now() const override { return now_; }
  const ClusterState& state() const override { return state_; }
  bool advance(std::vector<Report>& out) override;
  /// The GPUs must be empty: neither StartMode::kJoin nor PolicyTraits::always_colocates is possible.
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override;
  Preempted preempt(JobId job) override;
  void wake_at(Time at) override { timers_.insert(at); }
  std::span<const EpisodeRecord> finished_episodes() const override {
    return recorder_.finished_episodes();
  }
  const JobRecord& record(JobId job) const override { return jobs_[index(job)]; }
  std::optional<Provenance> true_speeds(GpuId gpu, std::vector<double>& out) const override;

  /// The record of the whole run; call once, after advance() has returned false.
  RunRecord take_record();

 private:
  std::optional<std::uint64_t> types_seed() const {
    return options_.types_seed ? options_.types_seed : options_.noise_seed;
  }
  using Round = std::int64_t;  ///< number of rounds that have ended

  struct Progress {
    std::int64_t left = 0;       ///< steps, as of the group's `since`
    std::int64_t at_start = 0;   ///< steps left when its run started
    double kept_ns = 0;          ///< work done in its preempted runs [ns at speed 1]
    std::int64_t per_round = 0;  ///< steps
    double rate = 0;             ///< [steps/s] beside its co-runners
    double alone = 0;            ///< [steps/s] alone on the reference GPU type
    GpuId group{};               ///< index of its group in groups_
    bool will_oom = false;       ///< started above the memory limit
  };
  /// Stored at the index of its first GPU.
  struct Group {
    std::vector<JobId> jobs;    ///< ascending
    std::vector<JobId> formed;  ///< jobs at its start, ascending
    std::vector<GpuId> gpus;
    Time start{0};
    Round since = 0;      ///< progress is accounted up to the end of this round
    Round ends = 0;       ///< the round in which its first job is done
    double length_s = 0;  ///< of a round in which no job is done
    Provenance provenance = Provenance::kAlone;
    EpisodeRecord episode;
    bool util_known = true;
    bool memory_known = true;
    double util_s = 0;  ///< of jobs that have left, per GPU
    double mem_s = 0;
  };

  void arrive(JobId id);
  Time end_of(Round round) const;
  Time run_rounds(Time due);
  void end_groups(std::vector<Report>& out);
  double speed_alone(JobId job, const GpuType& type) const;
  double slowest_alone(JobId job, std::span<const GpuId> gpus) const;
  void plan(Group& group);
  void settle(Group& group, Round round);
  void unplan(const Group& group);
  Report leave(Group& group, JobId job, Time end);
  void keep_progress(JobId job, Time end);
  void close(Group& group, Time end);
  void anchor();

  const ClusterSpec& spec_;
  Workload workload_;
  const World& world_;
  const JobsOnTypes* on_types_;  ///< the world's; may be null
  RoundOptions options_;
  double round_s_;
  Time now_{0};
  Round round_ = 0;  ///< the last round that has ended, at now_ unless nothing runs
  Time anchor_time_{0};
  Round anchor_round_ = 0;  ///< all rounds from here to the next change are alike
  ClusterState state_;
  Arrivals arrivals_;
  std::set<Time> timers_;
  std::vector<JobRecord> jobs_;                        ///< by job
  std::vector<Progress> progress_;                     ///< by job
  std::vector<Group> groups_;                          ///< by GPU
  std::set<std::pair<Round, std::uint32_t>> endings_;  ///< of running groups: round, index
  std::set<std::pair<double, std::uint32_t>> lengths_;
  std::vector<double> speeds_;
  std::uint32_t next_group_ = 0;
  RunRecorder recorder_;
};

}  // namespace corun::inline sim
