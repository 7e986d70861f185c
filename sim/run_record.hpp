#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/ids.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// What happened in one run (one policy, one replication). Metrics are computed from this alone.
///
/// A job may be started several times, and each start begins a run of its own. J_c is the time on its
/// GPUs summed over all runs whose work counts, J_a the solo time of that work, on the GPU types that did
/// it (DESIGN section 3). Those runs are the one that finished it and all that were preempted, each with
/// its whole time: what preemption loses is work that is done twice and counted once. Neither time nor
/// work of a run count that ended out of memory, of a probe in which the job did not finish, and of a
/// profiling segment, even where its progress is kept.
namespace corun {

/// kFailed: out of memory once too often; on a live cluster also what failed by itself.
enum class JobEnd : std::uint8_t { kFinished, kFailed };

/// JRS eq. 1: (J_c - J_a) / J_a, a fraction; 0 for a job whose work was done while profiling.
inline double individual_slowdown(Duration corun, Duration solo) {
  if (solo.count() == 0) return 0.0;
  return static_cast<double>((corun - solo).count()) / static_cast<double>(solo.count());
}

struct JobRecord {
  Time submit{0};
  std::optional<Time> first_start;  ///< for work: not to be profiled, nor in a probe cut short
  Time last_start{0};
  Time finish{0};
  Duration work{0};  ///< solo time of all its work on the reference GPU type, as asked
  /// J_a: of the runs that count; what a run that goes on has to do is in it already. At least 1 ns, but 0
  /// for no work. Of a failed job: what its preempted runs kept.
  Duration solo{0};
  Duration run_solo{0};  ///< the last run's part of it; less than `solo` only after a preemption
  /// Solo time of all its work on the GPU type of its last run: more than `solo` where a probe or profiling
  /// was kept.
  Duration whole_solo{0};
  int gpus = 1;
  GpuId gpu{};              ///< the first GPU of the last run
  std::uint32_t group = 0;  ///< running number of the start, shared by jobs started together
  int ooms = 0;
  int preemptions = 0;
  Duration ran{0};        ///< time on its GPUs in runs that were preempted, whatever they kept
  Duration profiling{0};  ///< time spent in profiling segments and in probes it did not finish in
  JobEnd end = JobEnd::kFinished;

  /// J_c, once it has finished: of a failed job there is none.
  Duration corun() const { return ran + (finish - last_start); }
  double isd() const { return individual_slowdown(corun(), solo); }
};

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
  std::array<double, 4> corun_s{};  ///< time with company, by Provenance
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
