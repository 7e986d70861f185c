#pragma once

#include <cstdint>
#include <optional>

#include "sim/allocation_speed.hpp"
#include "sim/base/nan.hpp"
#include "sim/ids.hpp"
#include "sim/job.hpp"
#include "sim/time.hpp"

/// Record of one job in one simulation with one policy.
///
/// Each start of a job begins a run. J_c is the time on its GPUs summed over all runs that count,
/// J_a the solo time of their work, on the GPU types that did it (DESIGN section 3). The run that
/// finished the job and all preempted and resized runs count, each with its whole time: work lost by preemption
/// is done twice and counted once in J_a. Runs that ended out of memory, probes in which the job
/// did not finish, and profiling segments that did not do all its work do not count, even if their progress is kept.
namespace corun::inline sim {

/// kFailed: out of memory once too often; on a live cluster also any other error.
enum class JobEnd : std::uint8_t { kFinished, kFailed };

/// JRS eq. 1: (J_c - J_a) / J_a, a fraction; NaN if J_a is 0: the run had no work.
inline double individual_slowdown(Duration corun, Duration solo) {
  if (solo.count() == 0) return kNaN;
  return static_cast<double>((corun - solo).count()) / static_cast<double>(solo.count());
}

struct JobRecord {
  Time submit{0};
  std::optional<Time>
      first_start;  ///< to do work: no trial run (profiling, probe) in which it did not finish
  Time last_start{0};
  Time finish{0};
  Duration work{0};  ///< solo time of all its work on the reference GPU type, as asked
  /// J_a of the runs that count; the present run counts with the work that it has to do. At least 1
  /// ns, but 0 for no work. Of a failed job: the work kept by its preempted runs.
  Duration solo{0};
  Duration run_solo{0};  ///< the last run's part; less than `solo` only after a preemption
  /// The same work's solo time on the reference GPU type, and the last run's part of it.
  Duration reference_solo{0};
  Duration run_reference_solo{0};
  /// Solo time of all its work on the GPU type of its last run: more than `solo` if progress of a
  /// probe or of profiling was kept.
  Duration whole_solo{0};
  int gpus = 1;
  GpuId gpu{};              ///< the first GPU of the last run
  std::uint32_t group = 0;  ///< running number of the start, shared by jobs started together
  int ooms = 0;
  int preemptions = 0;
  int resizes = 0;  ///< runs that ended for one on other GPUs
  Duration ran{0};  ///< time on its GPUs in preempted and resized runs, whatever work they kept
  Duration profiling{0};  ///< time in profiling segments and probes in which it did not finish
  bool elastic = false;   ///< it may change its number of GPUs
  /// Of the runs that J_c counts, lost work included; `useful`: of the work that was kept. 0: not told.
  Samples samples;
  JobEnd end = JobEnd::kFinished;
  bool replica = false;  ///< of a service: its J_a is its time on GPUs, and it is no job in metrics

  /// The record at the job's arrival. Throws InputError if it arrives after 292 years (later()).
  static JobRecord of(const JobSpec& job) {
    JobRecord record;
    record.submit = later(job.submit, Duration::zero());
    record.work = job.work;
    record.gpus = job.gpus;
    record.replica = job.is_replica();
    record.elastic = job.gpus_min < job.gpus_max;
    return record;
  }

  // Events of its runs. The backend enters the solo time of a run when the run begins.

  void begin_run(Time now, GpuId first_gpu, std::uint32_t number) {
    last_start = now;
    gpu = first_gpu;
    group = number;
  }
  /// Solo time of the work that the run has to do: on the types of its GPUs, and on the reference type.
  void ask_of_run(Duration solo_time, Duration on_reference) {
    run_solo = solo_time;
    run_reference_solo = on_reference;
    solo = later(solo, solo_time);
    reference_solo = later(reference_solo, on_reference);
  }
  void finish_run(Time now) {
    finish = now;
    end = JobEnd::kFinished;
  }
  /// This is the job's end unless a later run finishes it.
  void fail_run(Time now) {
    finish = now;
    end = JobEnd::kFailed;
    count_in_run(Duration::zero(), Duration::zero());
  }
  void run_out_of_memory(Time now) {
    fail_run(now);
    ++ooms;
  }
  /// `kept`: solo time of the run's work that need not be done again; `on_reference`: on the reference type.
  void preempt_run(Time now, Duration kept, Duration on_reference) {
    leave_run(now, kept, on_reference);
    ++preemptions;
  }
  /// The same where the job goes on at once on other GPUs.
  void resize_run(Time now, Duration kept, Duration on_reference) {
    leave_run(now, kept, on_reference);
    ++resizes;
  }
  /// Only this much of the run's work counts in J_a.
  void count_in_run(Duration solo_time, Duration on_reference) {
    solo += solo_time - run_solo;
    run_solo = solo_time;
    reference_solo += on_reference - run_reference_solo;
    run_reference_solo = on_reference;
  }

  /// Times that it was taken off its GPUs to go on later, or at once on others.
  int restarts() const { return preemptions + resizes; }
  /// Samples that it trained on per second of J_c; NaN if they are not told. Defined only for a finished job.
  double throughput() const { return per_second(samples.processed); }
  /// What they are worth in samples with the initial batch size, per second of J_c; likewise.
  double goodput() const { return per_second(samples.useful); }

  /// J_c. Defined only for a finished job.
  Duration corun() const { return ran + (finish - last_start); }
  double isd() const { return individual_slowdown(corun(), solo); }
  /// ISD against the solo time on the reference type: a slower type counts as a slowdown.
  double isd_reference() const { return individual_slowdown(corun(), reference_solo); }

 private:
  double per_second(double count) const {
    const Duration on_gpus = corun();
    return count > 0 && on_gpus > Duration::zero() ? count / to_seconds(on_gpus) : kNaN;
  }
  void leave_run(Time now, Duration kept, Duration on_reference) {
    count_in_run(kept, on_reference);
    ran += now - last_start;
  }
};

}  // namespace corun::inline sim
