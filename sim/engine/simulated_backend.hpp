#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/engine/arrivals.hpp"
#include "sim/engine/cluster_backend.hpp"
#include "sim/engine/cluster_noise.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/run_recorder.hpp"
#include "sim/engine/tick_rule.hpp"
#include "sim/job.hpp"
#include "sim/job_slots.hpp"
#include "sim/service_traffic.hpp"
#include "sim/world.hpp"

/// The cluster in virtual time.
///
/// Progress-based execution (DESIGN 4.2): job j runs at v(j) = min over its GPUs g of speed(j, g) * s(j |
/// co-runners on g). When the jobs on a GPU change, the residents' remaining work is updated (remaining -=
/// v * elapsed) and their completions are replanned, to the nearest nanosecond. A job with unchanged speed
/// keeps its planned completion, so that rounding errors do not add up.
///
/// speed(j, g) is that of the job's present phase, times AllocationSpeed::factor() of the GPUs of its run (4.20). The end
/// of a phase is an event, rounded to the nearest nanosecond: the job stays on its GPUs, and the speeds there and the
/// memory limit are those of its next phase from then on. A job that exceeds the limit then does no more work and
/// fails cluster.oom.ramp later, and what its run has done is lost. Clock ticks are for jobs of one phase.
///
/// With SimulationOptions::tuning the factor is that of the configuration which the job has chosen. Solo times are always
/// those of AllocationSpeed::factor().
///
/// For JobSpec::start_cost after each start or resize, a job does no work. Jobs on several nodes slow one another on a
/// shared node by AllocationSpeed::beside_spread_jobs().
///
/// Throws InputError where an event would come after 292 years (sim/time.hpp, later()).
namespace corun::inline sim {

/// Costs of taking a job off its GPUs.
struct PreemptionCost {
  /// Time to save its state, and to load it when it starts again, at full speed. The next run pays both, so
  /// that the GPUs are free at once.
  Duration save{0};
  Duration restore{0};
  double lost_work = 0;  ///< share of the run's progress that must be done again, 0 to 1
  /// Gangs of more GPUs than `large_gang` take `large_restore` in place of `restore`.
  int large_gang = std::numeric_limits<int>::max();
  Duration large_restore{0};
  /// A run that is preempted before it has paid leaves the rest to the next run, on top of that run's own costs (as
  /// in Lucid's simulator). false: the next run pays its own costs only.
  bool adds_up = false;

  /// What a run of a preempted job pays.
  Duration of(int gpus) const { return save + (gpus > large_gang ? large_restore : restore); }
};

struct SimulationOptions {
  std::optional<std::uint64_t> noise_seed;  ///< empty: the world's expected speeds
  /// In place of noise_seed for speeds alone on GPU types; empty: noise_seed.
  std::optional<std::uint64_t> types_seed;
  Duration profiling_minute = std::chrono::seconds{60};
  bool profile_epoch = false;  ///< profiling segment is one epoch (else `profiling_minute`)
  bool profiling_keeps_progress = false;
  bool probes_keep_progress = false;
  PreemptionCost preemption;
  /// > 0: the engine's clock ticks, with the effects of TickRule. The added time is part of J_c, of the
  /// episode's length and of busy time, never of J_a: with a tick a job alone has ISD > 0 and PS < 0.
  Duration tick{0};
  TickRule tick_rule = TickRule::kNotice;
  /// Its time is part of J_c, and its speeds are no part of J_a: a job alone may have ISD > 0. TickRule::kNotice only, where
  /// reports are late.
  RunNoise noise;
  JobTuning* tuning = nullptr;         ///< of this run; null: jobs choose nothing
  ServiceTraffic* services = nullptr;  ///< null: the workload has no replicas of services
  RunSink* sink = nullptr;  ///< receives finished jobs and episodes in place of the RunRecord
};

class SimulatedBackend final : public ClusterBackend, private TrialRuns {
 public:
  /// The arguments must outlive the backend. Every job's gang must fit the cluster.
  SimulatedBackend(const ClusterSpec& spec, const Workload& workload, const World& world,
                   SimulationOptions options);

  Time now() const override { return now_; }
  const ClusterState& state() const override { return state_; }
  bool advance(std::vector<Report>& out) override;
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override;
  Preempted preempt(JobId job) override;
  Preempted preempt_to_resize(JobId job) override;
  void wake_at(Time at) override;
  std::span<const EpisodeRecord> finished_episodes() const override {
    return recorder_.finished_episodes();
  }
  const JobRecord& record(JobId job) const override { return jobs_[job].record; }
  std::uint32_t phase(JobId job) const override { return jobs_[job].running.phase; }
  std::optional<Provenance> true_speeds(GpuId gpu, std::vector<double>& out) const override;
  ReplicaWork replica_work(JobId replica) const override {
    return options_.services != nullptr ? options_.services->work(replica, now_) : ReplicaWork{};
  }
  TrialRuns* trial_runs() override { return this; }

  /// The record of the whole run, without jobs and episodes if a sink received them. Call it once, after
  /// advance() has returned false.
  RunRecord take_record();

 private:
  struct Running {
    double remaining_ns = 0;  ///< work left of its phase, in nanoseconds at speed 1
    double overhead_ns = 0;   ///< part of it at the start of the run: saving and loading state
    double speed = 0;         ///< v(j); 0 for a joining job that will run out of memory
    Time since{0};  ///< remaining_ns is as of this time; later than now while its start costs time
    Time due{0};    ///< planned completion
    std::uint64_t order = 0;  ///< of starts, from 1
    EventQueue::Handle event = EventQueue::kNone;
    std::vector<GpuId> gpus;
    std::uint32_t phase = 0;
    Duration phase_work{0};  ///< of its phase, to do in this run
    Duration done{0};        ///< work of the phases that this run has finished
    double spread = 1;  ///< AllocationSpeed::factor() of its phase, or of its choice, on these GPUs
    Samples samples_per_s;  ///< of work, in its phase and with its choice
    Samples samples;        ///< of this run, up to counted_ns of the phase's work
    double counted_ns = 0;
    RunNoise::Run noise;
    Time done_by{0};         ///< planned end of its work; due follows by noise.notice
    double beside = 1;       ///< AllocationSpeed::beside_spread_jobs(), if that holds for it now
    bool spreads = false;    ///< it has GPUs on several nodes; known where spread_jobs_ is
    bool will_oom = false;   ///< above the memory limit: does no work
    bool has_work = false;   ///< when it started
    bool profiling = false;  ///< unless that does all its work: then this is a run like any other
    EventQueue::Handle probe_end = EventQueue::kNone;  ///< while in a probe
  };
  /// GPUs, ascending, of a gang or of several; null: the one GPU that holds the list.
  using GpuList = std::shared_ptr<const std::vector<GpuId>>;
  struct Device {
    std::vector<JobId>
        formed;  ///< residents just after the latest start or phase, as the world knows them
    std::vector<double> speeds;  ///< normalised, of the residents in their order
    std::vector<Alone> alone;    ///< of the residents in their order; empty without on_types_
    Provenance provenance = Provenance::kAlone;
    Time since{0};  ///< usage is accounted up to here
    EpisodeRecord episode;
    std::optional<ProbeRecord> probe;  ///< while one runs
    GpuList shared;                    ///< GPUs that all members of the episode were on
  };

  /// A job in the system: until it has left and all its episodes have ended.
  struct Active {
    Running running;
    JobRecord record;
    std::uint64_t change = 0;  ///< the latest change of co-runners that updated its speed
    Duration unpaid{0};        ///< of the costs of preemption, with PreemptionCost::adds_up
    Duration work_left{0};     ///< less than `work` once profiling, a probe or a run has done some
    std::uint32_t phase = 0;   ///< in which that work begins
    Duration later_work{0};    ///< part of it in later phases
    std::uint32_t runs = 0;    ///< that have begun
    int open_episodes = 0;
    bool finished = false;
    /// It is a gang that began on empty GPUs and has had them to itself since: their Devices are not kept (keep_devices()), so
    /// that its start and its end do little for each of them.
    bool sole_resident = false;
  };

  void start_profiling(JobId job, GpuId gpu) override;
  void start_probe(std::array<JobId, 2> jobs, GpuId gpu, Duration length) override;
  std::span<const ProbeRecord> finished_probes() const override {
    return recorder_.finished_probes();
  }

  std::optional<std::uint64_t> types_seed() const {
    return options_.types_seed ? options_.types_seed : options_.noise_seed;
  }
  void arrive(JobId job);
  void hand_over();
  void keep(JobId job);
  void leave_episode(JobId job);
  void leave_unfinished(JobId job, EpisodeRecord& episode);
  Preempted take_off(JobId job, bool resizes);
  bool is_last_phase(JobId job, const Running& running) const;
  void begin(JobId job, Active& active, std::span<const GpuId> gpus);
  void keep_work(JobId job, Active& active, Duration work);
  /// The job, off its GPUs, is in the phase in which its kept work ends.
  void return_to_kept(JobId job) { jobs_[job].running.phase = jobs_[job].phase; }
  JobId as_known(JobId job) const;
  std::vector<JobId> residents_as_known(GpuId gpu) const;
  void show_formed(GpuId gpu);
  Provenance ask_world(GpuId gpu, JobId newcomer);
  bool is_replica(JobId job) const { return workload_.jobs[index(job)].is_replica(); }
  bool serves(GpuId gpu) const;
  Provenance ask_world_by_load(GpuId gpu, JobId newcomer);
  void change_loads(std::vector<Report>& out);
  /// Where a job is in its work: the phase, and the work of it that is left.
  struct Standing {
    std::uint32_t phase = 0;
    Duration left{0};
  };
  Standing standing(const Active& active) const {
    return {active.phase, active.work_left - active.later_work};
  }
  Standing start_of(JobId job) const {
    const JobSpec& spec = workload_.jobs[index(job)];
    return {0, spec.phases == 0 ? spec.work : workload_.phases[spec.first_phase].work};
  }
  /// The work that a running job has done since Running::since, without rounding [ns at speed 1].
  double worked_ns(const Running& running) const {
    const Time until = std::max(last_tick(), running.since);
    return running.speed * static_cast<double>((until - running.since).count());
  }
  Time on_phase_grid(Time end) const;
  void count_spread(const Running& running, int change);
  double beside_of(const Running& running) const;
  void refresh_neighbours();
  Duration solo_time(JobId job, Standing from, Duration work, std::span<const GpuId> gpus,
                     std::span<const GpuId> unlike) const;
  void each_type(std::span<const GpuId> gpus,
                 const std::function<void(const Allocation&)>& use) const;
  double spread_of(JobId job, std::uint32_t phase, std::span<const GpuId> gpus) const;
  double chosen_spread(JobId job, std::uint32_t phase, std::span<const GpuId> gpus);
  void ask_for_samples(JobId job, Running& running);
  static void count_samples(Running& running, double done_ns);
  double done_ns(const Running& running) const {
    const auto work_ns = static_cast<double>(running.phase_work.count());
    return std::clamp(work_ns - (running.remaining_ns - worked_ns(running)), 0.0, work_ns);
  }
  void measure(JobId job);
  void tune();
  void ask_for_tuning();
  void renew_speed(JobId job);
  bool runs_out_of_memory(JobId job, std::span<const GpuId> gpus) const;
  Report complete(JobId job);
  Report begin_next_phase(JobId job);
  void finish(JobId job);
  Report run_out_of_memory(JobId job);
  Report end_probe(JobId job);
  void place(std::span<const JobId> jobs, std::span<const GpuId> gpus, bool exclusive = false);
  void leave_probe(JobId job);
  void finish_probe(GpuId gpu);
  static GpuList list_of(std::span<const GpuId> gpus);
  void occupy(JobId job, Active& active, GpuId gpu, const GpuList& own, bool exclusive);
  void finish_episode(GpuId gpu);
  void vacate(JobId job);
  bool begins_on_empty_gpus(std::span<const JobId> jobs, std::span<const GpuId> gpus) const;
  void keep_devices(JobId job);
  void vacate_sole(JobId job, Duration solo);
  void account_sole(JobId job, const Active& active);
  void co_runner_changed(std::span<const GpuId> gpus);
  void set_speed(JobId job, Active& active, double speed);
  Time completion(const Running& running) const;
  Time last_tick() const;
  double speed_alone(JobId known, GpuId gpu) const;
  double slowest_alone(JobId known, std::span<const GpuId> gpus) const;
  void look_up_alone(GpuId gpu);
  double speed_on(JobId job, GpuId gpu) const;
  void account(GpuId gpu);

  const ClusterSpec& spec_;
  Workload workload_;
  const World& world_;
  const JobsOnTypes* on_types_;           ///< the world's; may be null
  const AllocationSpeed* by_allocation_;  ///< the world's; may be null
  bool counts_samples_;                   ///< AllocationSpeed::counts_samples()
  SimulationOptions options_;
  Time now_{0};
  ClusterState state_;
  EventQueue queue_;
  Arrivals arrivals_;
  JobSlots<Active> jobs_;
  std::vector<Device> devices_;
  std::vector<JobId> over_;  ///< left, with ended episodes, since advance() began
  std::vector<GpuId> left_;  ///< the GPUs that the last departing job left
  /// Of the GPUs of the latest gang that started on empty ones, the first on each node.
  std::vector<GpuId> first_of_nodes_;
  /// By node: its jobs on several nodes; empty if they do not slow each other.
  std::vector<int> spread_jobs_;
  bool tuning_asked_ = false;          ///< an event for it is pending
  std::vector<NodeId> stirred_nodes_;  ///< whose number has come to or left 2 or more
  std::uint32_t next_group_ = 0;
  std::uint64_t next_order_ = 1;
  std::uint64_t changes_ = 0;  ///< of co-runners
  /// While jobs start: Device::shared, by what it was before.
  std::unordered_map<GpuList, GpuList> narrowed_;
  /// TickRule::kProgress: jobs that started before this order number have had this instant's tick; 0: all
  /// have.
  std::uint64_t ticking_ = 0;
  RunRecorder recorder_;
};

}  // namespace corun::inline sim
