#pragma once

#include <cstdint>
#include <optional>

#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/time.hpp"

/// What happened to one job in one run of a policy.
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

  /// As the job arrives. Throws InputError where it comes after 292 years (later()).
  static JobRecord of(const JobSpec& job) {
    JobRecord record;
    record.submit = later(job.submit, Duration::zero());
    record.work = job.work;
    record.gpus = job.gpus;
    return record;
  }

  // What happens to its runs. The solo time of a run is entered by the backend, as it begins.

  void begin_run(Time now, GpuId first_gpu, std::uint32_t number) {
    last_start = now;
    gpu = first_gpu;
    group = number;
  }
  void finish_run(Time now) {
    finish = now;
    end = JobEnd::kFinished;
  }
  /// It is the job's end unless a later run finishes.
  void fail_run(Time now) {
    finish = now;
    end = JobEnd::kFailed;
    count_in_run(Duration::zero());
  }
  void run_out_of_memory(Time now) {
    fail_run(now);
    ++ooms;
  }
  /// `kept`: solo time of the work that the run has done for good.
  void preempt_run(Time now, Duration kept) {
    count_in_run(kept);
    ran += now - last_start;
    ++preemptions;
  }
  /// Of the run's work only so much counts in J_a.
  void count_in_run(Duration solo_time) {
    solo += solo_time - run_solo;
    run_solo = solo_time;
  }

  /// J_c, once it has finished: of a failed job there is none.
  Duration corun() const { return ran + (finish - last_start); }
  double isd() const { return individual_slowdown(corun(), solo); }
};

}  // namespace corun
