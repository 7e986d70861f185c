#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "sim/ids.hpp"
#include "sim/records/job_record.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// Record of one run of the simulation (one policy, one replication). Metrics are computed from this alone.
namespace corun::inline sim {

/// A maximal interval during which one GPU had a resident that was not being profiled; `jobs` in order of
/// start. The lengths of all episodes and of all profiling segments add up to the busy time.
struct EpisodeRecord {
  GpuId gpu{};
  Time start{0};
  Time end{0};
  std::vector<JobId> jobs;  ///< those that finished in it, not those that left it otherwise
  /// Solo time of the work done in it: of runs that finished in it, and the work kept by preempted runs.
  GpuTime solo_sum;
  /// Residents that left it otherwise: preempted, out of memory, or at the end of their probe.
  int unfinished = 0;
  bool together = true;  ///< all these jobs started at the same instant
  /// This is the lowest-numbered GPU that all of them were on. A co-run of gangs leaves an episode on each
  /// of its GPUs, and beliefs learn from the primary one only.
  bool primary = true;
  bool serves = false;  ///< a replica of a service was in it

  /// JRS eq. 2 in its general form, a fraction; empty if no work of the episode counts, and if a replica of a service was in
  /// it: requests are no work that a GPU would do sooner alone.
  std::optional<double> ps() const {
    if (serves || solo_sum == GpuTime{}) return std::nullopt;
    return (solo_sum - (end - start)).nanoseconds() / solo_sum.nanoseconds();
  }
};

/// Two jobs that ran together as a probe (DESIGN 4.14).
struct ProbeRecord {
  std::array<JobId, 2> jobs{};  ///< ascending
  std::array<double, 2> speeds{1, 1};
  GpuId gpu{};
  Time start{0};
  Time end{0};
  /// The speeds are a measurement: no job ran out of memory, and the probe was not a complete co-run, which
  /// is recorded as an episode of both.
  bool measured = false;
};

/// Receives finished jobs and episodes during a run, so that they need not be kept.
class RunSink {
 public:
  virtual ~RunSink() = default;
  /// Called once for each job, in order of the end of its last episode; for failed jobs at the end of the
  /// run.
  virtual void job(JobId id, const JobRecord& record) = 0;
  /// Called in order of the episodes' ends: an episode on each of these GPUs, one or those of a gang. They are alike but
  /// for `gpu` and `primary`, of which `episode` has those of one of them.
  virtual void episodes(const EpisodeRecord& episode, std::span<const GpuId> gpus) = 0;
  void episode(const EpisodeRecord& episode) { episodes(episode, {&episode.gpu, 1}); }
};

/// Time integrals over all GPUs [GPU-seconds].
struct UsageRecord {
  GpuTime busy;             ///< at least one resident (profiling and probes included)
  double util_s = 0;        ///< of min(1, sum of residents' utilisation scaled by speed)
  double util_known_s = 0;  ///< busy time during which every resident's utilisation was known
  double mem_s = 0;  ///< of the share of memory in use, while every resident's demand is known
  double mem_known_s = 0;
  std::array<double, 4> corun_s{};  ///< time with co-runners, by Provenance
  /// Time of jobs on GPUs, by the source of their speed alone there; all 0: the types differ by no job.
  std::array<double, kSoloSources> solo_s{};
};

struct RunRecord {
  std::vector<JobRecord> jobs;  ///< indexed by JobId
  std::vector<EpisodeRecord> episodes;
  std::vector<ProbeRecord> probes;
  UsageRecord usage;
  int gpu_count = 0;
  std::size_t unknown_memory_jobs = 0;  ///< jobs that could not cause an OOM: demand not known
  std::size_t passes = 0;               ///< scheduling passes
};

}  // namespace corun::inline sim
