#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster_view.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/engine/cluster_noise.hpp"
#include "sim/engine/run_observer.hpp"
#include "sim/engine/service_lessons.hpp"
#include "sim/engine/waiting_queue.hpp"
#include "sim/job.hpp"
#include "sim/policy.hpp"
#include "sim/profiling_mode.hpp"
#include "sim/records/event_log.hpp"

/// The only loop: for simulated and live clusters alike.
///
///   while the backend has a next instant:
///     take its reports, in order: completions, failures, arrivals, timers
///       (the policy is told of finished episodes and probes here, before the pass)
///     start profiling segments, then probes, on empty GPUs, where asked for
///     one scheduling pass, unless it is too early to reallocate: call the policy until it starts
///       and preempts nothing more, or no job waits;
///       validate each decision, apply it, bring the view up to date
///
/// Rules of decisions; a PolicyError names the policy and the broken rule:
///   waiting         the job has arrived, waits, and is named once
///   gang size       the group has as many GPUs as each of its jobs asked for, or permits
///   known GPU       the GPU exists and is named once
///   GPU type        each job may run on the GPU's type
///   exclusive GPU   a GPU that profiles a job takes no co-runners
///   group start     with control.start: group, a GPU takes a group only when it is empty
///   over-commit     no GPU holds more jobs than cluster.max_jobs_per_gpu
///   preemption      the job runs, and did so before this instant; it is not profiled or probed. The same holds for
///                   a resize, on top of the rules of a start
///   future timer    a wake-up lies in the future
///   probe           two different jobs that want one GPU, one of them not probed often enough yet
///   progress        no job is left waiting when nothing will ever happen again, and none is preempted
///                   more than 100,000 times
namespace corun::inline sim {

struct ControlOptions {
  StartMode start = StartMode::kGroup;
  ProfilingMode profiling = ProfilingMode::kNone;
  Duration round{0};  ///< > 0: scheduling passes happen only at multiples of this
  /// Of a round that begins with a pass; rounds without one last as declared.
  RoundNoise round_noise;
  /// > 0: a pass happens only if, since the last one, a job has arrived or left a GPU or a wake-up
  /// of the policy has come; and if the last pass lies at least this long back, or was at time 0,
  /// or nothing runs and no job is still to arrive. Until then free GPUs stay idle (Gavel's
  /// interval between two allocations).
  Duration reallocate{0};
  int oom_retries = 3;
  /// > 0: with a policy that plans probes, a job is offered to it after this many probes, or when
  /// no co-runner is left to probe the job with. Needs StartMode::kGroup and jobs of one GPU each that may
  /// run on every GPU type.
  int probes = 0;
  Duration probe_length = std::chrono::seconds{120};
};

/// The views of the jobs of a workload for policies. `job_view(j)` is called once, when job j
/// arrives.
struct JobSource {
  std::size_t jobs = 0;
  int largest_gang = 1;
  bool restricted = false;  ///< some job may not run on every GPU type
  std::function<JobView(JobId)> job_view;
  /// The profile of a job in a phase; may be empty if no job changes.
  std::function<Profile(JobId, std::uint32_t)> profile_in;

  JobSource(std::size_t count, int largest, bool restricts, std::function<JobView(JobId)> of)
      : jobs(count), largest_gang(largest), restricted(restricts), job_view(std::move(of)) {}
  JobSource(std::vector<JobView> list);  // NOLINT: job i stands at position i
};

class ControlLoop {
 public:
  /// Throws std::invalid_argument if jobs are to be profiled or probed and the backend does
  /// neither.
  ControlLoop(ClusterBackend& backend, LabelledPolicy policy, JobSource jobs,
              ControlOptions options);

  /// Runs to the end and returns the number of scheduling passes. Throws PolicyError. Appends every
  /// event to `log` and shows the run to `observer`, if given.
  std::size_t run(EventLog* log = nullptr, RunObserver* observer = nullptr);

 private:
  void take(const Report& report);
  void departed(JobId job, LogKind how, const std::optional<Reason>& reason = std::nullopt);
  void show_episodes(std::size_t first);
  void show_probes();
  void show_phase(JobId job);
  void offer(JobId job);
  void enqueue(JobId job);
  void start_profiling();
  void start_probes();
  bool may_reallocate();
  Time next_round();
  void end_round();
  void pass();
  void show_late();
  void set_back(JobId job, const std::optional<Reason>& reason = std::nullopt);
  void apply(const StartGroup& decision);
  void apply(const Preempt& decision);
  void apply(const Resize& decision);
  void apply(const WakeAt& decision);
  Preempted take_off(JobId job, bool resizes);
  void note(LogKind kind, JobId job, std::span<const GpuId> gpus = {},
            const std::optional<Reason>& reason = std::nullopt);
  [[noreturn]] void broken(const char* rule, const std::string& found) const;

  ClusterBackend& backend_;
  Policy& policy_;
  std::string label_;
  PolicyTraits traits_;
  ControlOptions options_;
  bool profiles_;          ///< jobs are profiled before they are offered
  ProbePlanner* prober_;   ///< nullptr: no job is probed
  TrialRuns* trial_runs_;  ///< nullptr only if no job is profiled or probed
  JobSource source_;
  JobSlots<JobView> jobs_;  ///< in the system
  WaitingQueue waiting_;
  std::vector<std::uint64_t> named_;  ///< by GPU: the latest decision to start jobs that names it
  std::uint64_t starts_ = 0;          ///< decisions to start jobs
  std::deque<JobId> to_profile_;
  std::vector<JobId> unprobed_;  ///< on no GPU, not yet offered, in order of arrival or return
  std::vector<int> probes_;      ///< by job: number of its probes; empty if no job is probed
  std::vector<Decision> decisions_;
  std::vector<MemberOutcome> members_;
  std::vector<JobId> gone_;     ///< in this pass: done when the policy preempted them
  std::optional<Time> left_;    ///< Report::left of the present report
  std::vector<LogEntry> late_;  ///< events of such reports that are not yet shown
  std::size_t departures_ = 0;
  std::size_t arrived_ = 0;
  std::set<Time> wakes_;  ///< pending times for which the policy asked
  bool changed_ = false;  ///< since the last reallocation
  Time last_reallocation_{0};
  Time round_begin_{-1};  ///< of the last round with a pass, if rounds vary
  Time round_end_{0};
  int round_starts_ = 0;  ///< jobs that started or moved in it
  std::size_t passes_ = 0;
  EventLog* log_ = nullptr;
  RunObserver* observer_ = nullptr;
  std::optional<ServiceLessons> lessons_;  ///< from the first replica of a service on
};

}  // namespace corun::inline sim
