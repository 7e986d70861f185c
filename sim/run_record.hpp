#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/ids.hpp"
#include "sim/job_record.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// What happened in one run (one policy, one replication). Metrics are computed from this alone.
namespace corun {

/// A maximal interval during which one GPU had a resident; `jobs` in order of start.
struct EpisodeRecord {
  GpuId gpu{};
  Time start{0};
  Time end{0};
  std::vector<JobId> jobs;  ///< those that finished in it, not those that ran out of memory or
                            ///< whose probe ended
  /// Solo time of the work done in it: of the runs that finished in it, and what preempted ones kept.
  GpuTime solo_sum;
  bool together = true;  ///< they all started at the same instant
  /// This is the lowest-numbered GPU that all of them were on: a co-run of gangs leaves an episode on
  /// each of its GPUs, and one of them speaks for it.
  bool primary = true;

  /// JRS eq. 2 in its general form; empty when nobody finished in the episode.
  std::optional<double> ps() const {
    if (solo_sum == GpuTime{}) return std::nullopt;
    return (solo_sum - (end - start)).nanoseconds() / solo_sum.nanoseconds();
  }
};

/// Two jobs that ran together for a short while to see how they get on.
struct ProbeRecord {
  std::array<JobId, 2> jobs{};  ///< ascending
  std::array<double, 2> speeds{1, 1};
  GpuId gpu{};
  Time start{0};
  Time end{0};
  /// It taught the speeds: nobody ran out of memory, and it was not a whole co-run, which is an episode
  /// of both.
  bool measured = false;
};

/// Takes what is over while a run goes on, so that nobody has to keep it.
class RunSink {
 public:
  virtual ~RunSink() = default;
  /// Each job once, in order of the end of its last episode; failed ones at the end of the run.
  virtual void job(JobId id, const JobRecord& record) = 0;
  /// Each episode once, in order of their end.
  virtual void episode(const EpisodeRecord& episode) = 0;
};

/// Time integrals over all GPUs, in GPU-seconds.
struct UsageRecord {
  GpuTime busy;             ///< at least one resident (profiling and probes included)
  double util_s = 0;        ///< min(1, sum of residents' utilisation scaled by speed)
  double util_known_s = 0;  ///< busy time during which every resident's utilisation was known
  double mem_s = 0;         ///< share of memory in use, where every resident's demand is known
  double mem_known_s = 0;
  std::array<double, 4> corun_s{};  ///< time with co-runners, by Provenance
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

}  // namespace corun
