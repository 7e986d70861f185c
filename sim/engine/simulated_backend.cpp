#include "sim/engine/simulated_backend.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "sim/engine/memory_limit.hpp"

namespace corun::inline sim {

SimulatedBackend::SimulatedBackend(const ClusterSpec& spec, const Workload& workload,
                                   const World& world, SimulationOptions options)
    : spec_(spec),
      workload_(workload),
      world_(world),
      on_types_(world.on_types()),
      by_allocation_(world.by_allocation()),
      counts_samples_(by_allocation_ != nullptr && by_allocation_->counts_samples()),
      options_(options),
      state_(spec),
      arrivals_(workload),
      jobs_(workload.jobs.size()),
      devices_(static_cast<std::size_t>(spec.gpu_count())),
      recorder_(workload.jobs.size(), spec.gpu_count(), options_.sink) {
  assert(workload.arrivals.size() == workload.jobs.size());
  if (by_allocation_ != nullptr && by_allocation_->beside_spread_jobs() < 1) {
    spread_jobs_.assign(spec.nodes.size(), 0);
  }
}

bool SimulatedBackend::advance(std::vector<Report>& out) {
  hand_over();
  if (queue_.empty() && arrivals_.over()) return false;
  now_ = queue_.empty() ? arrivals_.next() : std::min(queue_.top().at, arrivals_.next());

  const std::size_t first = out.size();
  if (options_.services != nullptr) change_loads(out);
  while (!queue_.empty() && queue_.top().at == now_) {
    const Event event = queue_.pop();
    switch (event.kind) {
      case EventKind::kCompletion:
        out.push_back(complete(JobId{event.subject}));
        break;
      case EventKind::kFailure:
        out.push_back(run_out_of_memory(JobId{event.subject}));
        break;
      case EventKind::kProbeEnd:
        out.push_back(end_probe(JobId{event.subject}));
        break;
      case EventKind::kTuning:
        tune();
        out.push_back({ReportKind::kTimer, kNoJob});
        break;
      case EventKind::kArrival:  // arrivals come from the workload, which is sorted already
      case EventKind::kTimer:
        out.push_back({ReportKind::kTimer, kNoJob});
        break;
    }
  }
  arrivals_.take(now_, out, [this](JobId job) { arrive(job); });
  // A failure can bring a completion forward to this instant. The completion is still reported first.
  if (out.size() > first + 1) order_reports(std::span(out).subspan(first));
  return true;
}

void SimulatedBackend::arrive(JobId id) {
  const JobSpec& job = workload_.jobs[index(id)];
  Active& active = jobs_.add(id);
  active.record = JobRecord::of(job);
  active.work_left = job.work;
  if (job.phases > 0) active.later_work = job.work - workload_.phases[job.first_phase].work;
  if (!job.profile.mem_used_mib) recorder_.count_unknown_memory();
}

/// Hands over jobs and episodes of the last advance(): they have been read.
void SimulatedBackend::hand_over() {
  for (const JobId job : over_) keep(job);
  over_.clear();
  recorder_.hand_over();
}

void SimulatedBackend::keep(JobId job) {
  recorder_.add(job, jobs_[job].record);
  jobs_.erase(job);
}

/// One episode of the job has ended or lost the job.
void SimulatedBackend::leave_episode(JobId job) {
  Active& active = jobs_[job];
  if (--active.open_episodes == 0 && active.finished) over_.push_back(job);
}

/// A run of the job that did not finish it is over.
void SimulatedBackend::leave_unfinished(JobId job, EpisodeRecord& episode) {
  std::erase(episode.jobs, job);
  ++episode.unfinished;
  leave_episode(job);
}

void SimulatedBackend::start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) {
  place(jobs, gpus);
  for (const JobId job : jobs) {
    JobRecord& record = jobs_[job].record;
    if (!record.first_start) record.first_start = now_;
  }
}

void SimulatedBackend::start_probe(std::array<JobId, 2> jobs, GpuId gpu, Duration length) {
  place(jobs, {&gpu, 1});
  Device& device = devices_[index(gpu)];
  ProbeRecord& probe = device.probe.emplace();
  probe.gpu = gpu;
  probe.start = now_;
  probe.measured = true;
  // Rounded like completions: a job that is done by the end has finished.
  const Time end = round_up(later(now_, length), options_.tick);
  const auto& residents = state_.gpu(gpu).residents;
  for (std::size_t i = 0; i < residents.size(); ++i) {
    Running& running = jobs_[residents[i]].running;
    probe.jobs[i] = residents[i];
    probe.speeds[i] = device.speeds[i];
    probe.measured &= !running.will_oom;
    running.probe_end =
        queue_.schedule(end, EventKind::kProbeEnd, static_cast<std::uint32_t>(index(residents[i])));
  }
}

bool SimulatedBackend::is_last_phase(JobId job, const Running& running) const {
  return running.phase + 1 >= workload_.jobs[index(job)].phases;
}

/// The job begins a run where it stands.
void SimulatedBackend::begin(JobId job, Active& active, std::span<const GpuId> gpus) {
  Running& running = active.running;
  if (active.runs > 0) {                               // what its last run has left
    std::vector<GpuId> own = std::move(running.gpus);  // reuses its memory
    running = Running{};
    running.gpus = std::move(own);
  }
  running.gpus.assign(gpus.begin(), gpus.end());
  running.phase = active.phase;
  running.phase_work = standing(active).left;
  if (by_allocation_ != nullptr || options_.tuning != nullptr) {
    running.spread = chosen_spread(job, active.phase, gpus);
    ask_for_samples(job, running);
    ask_for_tuning();
  }
  running.noise = options_.noise.draw(job, active.runs++);
  if (spread_jobs_.empty()) return;
  const NodeId first = state_.gpu(gpus.front()).node;
  running.spreads = std::ranges::any_of(gpus, [&](GpuId g) { return state_.gpu(g).node != first; });
  if (running.spreads) count_spread(running, 1);
  running.beside = beside_of(running);
}

/// This much more of the job's work need not be done again.
void SimulatedBackend::keep_work(JobId job, Active& active, Duration work) {
  active.work_left -= work;
  const JobSpec& spec = workload_.jobs[index(job)];
  while (active.phase + 1 < spec.phases && active.work_left <= active.later_work) {
    active.later_work -= workload_.phases[spec.first_phase + ++active.phase].work;
  }
}

bool SimulatedBackend::runs_out_of_memory(JobId job, std::span<const GpuId> gpus) const {
  return exceeds_memory(
      job, gpus, state_, workload_, world_, [this](JobId j) { return jobs_[j].running.phase; },
      [this](JobId j) { return jobs_[j].running.will_oom; });
}

/// `exclusive`: no job may join them.
void SimulatedBackend::place(std::span<const JobId> jobs, std::span<const GpuId> gpus,
                             bool exclusive) {
  const bool sole_resident = !exclusive && begins_on_empty_gpus(jobs, gpus);
  GpuList list;
  if (!sole_resident) {
    for (const GpuId g : gpus) {
      const auto& residents = state_.gpu(g).residents;
      if (residents.size() == 1 && jobs_[residents.front()].sole_resident)
        keep_devices(residents.front());
      account(g);
    }
    list = list_of(gpus);
  }
  // On empty GPUs those of a node are alike.
  first_of_nodes_.clear();
  if (sole_resident) {
    state_.each_node(
        gpus, [&](NodeId, std::span<const GpuId> own) { first_of_nodes_.push_back(own.front()); });
  }
  const std::span<const GpuId> unlike =
      sole_resident ? std::span<const GpuId>(first_of_nodes_) : gpus;
  const std::uint32_t group = next_group_++;
  for (const JobId job : jobs) {
    Active& active = jobs_[job];
    begin(job, active, gpus);
    Running& running = active.running;
    const double alone = slowest_alone(as_known(job), unlike);
    const double speed = alone * running.spread * running.noise.speed;
    // Solo times are those of the best choice.
    const double best_spread =
        options_.tuning == nullptr ? running.spread : spread_of(job, active.phase, gpus);
    const double slowest_gpu = alone * best_spread;
    JobRecord& record = active.record;
    Duration overhead = running.noise.start_cost;
    if (record.preemptions + record.resizes > 0) {
      overhead += options_.preemption.of(static_cast<int>(gpus.size())) + active.unpaid;
    }
    running.overhead_ns = static_cast<double>(overhead.count()) * speed;
    running.remaining_ns = static_cast<double>(running.phase_work.count()) + running.overhead_ns;
    running.since = later(last_tick(), workload_.jobs[index(job)].start_cost);
    running.order = next_order_++;
    running.will_oom = runs_out_of_memory(job, unlike);
    if (running.will_oom) {
      running.event = queue_.schedule(later(now_, spec_.oom.ramp), EventKind::kFailure,
                                      static_cast<std::uint32_t>(index(job)));
    }
    record.begin_run(now_, gpus.front(), group);
    const JobSpec& spec = workload_.jobs[index(job)];
    const auto solo_of = [&](Standing from, Duration work) {
      return spec.phases == 0
                 ? later(Time::zero(),
                         from_nanoseconds(static_cast<double>(work.count()) / slowest_gpu))
                 : solo_time(job, from, work, gpus, unlike);
    };
    Duration run_solo = solo_of(standing(active), active.work_left);
    const bool has_all_work_left = active.work_left == spec.work;
    record.whole_solo = has_all_work_left ? run_solo : solo_of(start_of(job), spec.work);
    // On a very fast GPU run_solo may round to 0, which stands for no work.
    running.has_work = active.work_left > Duration::zero();
    if (running.has_work) run_solo = std::max(run_solo, kShortestRun);
    record.ask_of_run(run_solo, active.work_left);
    if (sole_resident) {
      active.sole_resident = true;
      active.open_episodes += static_cast<int>(gpus.size());
      state_.add_alone(gpus, job);
      if (!running.will_oom) set_speed(job, active, speed * running.beside);
      if (!stirred_nodes_.empty()) refresh_neighbours();
      return;
    }
    for (const GpuId g : gpus) occupy(job, active, g, list, exclusive);
  }
  if (!narrowed_.empty()) narrowed_.clear();
  for (const GpuId g : gpus) show_formed(g);
  co_runner_changed(gpus);
  if (!stirred_nodes_.empty()) refresh_neighbours();
}

void SimulatedBackend::start_profiling(JobId job, GpuId gpu) {
  Active& active = jobs_[job];
  const double speed = speed_alone(workload_.in_phase(job, active.phase), gpu);
  const auto& epoch = workload_.jobs[index(job)].epoch;
  const Duration asked =
      options_.profile_epoch && epoch
          ? *epoch
          : from_nanoseconds(static_cast<double>(options_.profiling_minute.count()) * speed);
  const Duration left = standing(active).left;
  const bool fits = !exceeds_memory(
      job, {&gpu, 1}, state_, workload_, world_, [&](JobId) { return active.phase; },
      [](JobId) { return false; });
  if (options_.profiling_keeps_progress && asked >= active.work_left && fits) {
    place({&job, 1}, {&gpu, 1}, true);
    return;
  }
  account(gpu);
  state_.add(gpu, job, true);
  look_up_alone(gpu);
  const Duration work = std::min(asked, left);
  begin(job, active, {&gpu, 1});
  Running& running = active.running;
  running.overhead_ns =
      static_cast<double>(running.noise.start_cost.count()) * speed * running.noise.speed;
  running.remaining_ns = static_cast<double>(work.count()) + running.overhead_ns;
  running.since = now_;
  running.has_work = work > Duration::zero();
  running.profiling = true;
  jobs_[job].record.last_start = now_;
  show_formed(gpu);
  devices_[index(gpu)].speeds = {1.0};
  devices_[index(gpu)].provenance = Provenance::kAlone;
  if (options_.profiling_keeps_progress) keep_work(job, active, work);
  set_speed(job, active, speed * running.noise.speed);
}

Preempted SimulatedBackend::preempt(JobId job) { return take_off(job, false); }

Preempted SimulatedBackend::preempt_to_resize(JobId job) { return take_off(job, true); }

Preempted SimulatedBackend::take_off(JobId job, bool resizes) {
  Running& running = jobs_[job].running;
  const bool profiled = state_.gpu(running.gpus.front()).profiling;
  if (profiled || running.probe_end != EventQueue::kNone) return Preempted::kRefused;
  JobRecord& record = jobs_[job].record;
  queue_.cancel(running.event);
  running.event = EventQueue::kNone;
  Duration kept{0};
  const bool replica = is_replica(job);
  if (!running.will_oom && !replica) {
    const double left = running.remaining_ns - worked_ns(running);
    // With TickRule::kProgress a job needs a tick for its end, when its work is done.
    const bool notices = options_.tick_rule == TickRule::kNotice && is_last_phase(job, running);
    if (notices && from_nanoseconds(std::max(left, 0.0)) == Duration::zero()) {
      finish(job);
      return Preempted::kFinished;
    }
    const auto work_ns = static_cast<double>(running.phase_work.count());
    const double done = static_cast<double>(running.done.count()) +
                        std::clamp(work_ns - left, 0.0, work_ns);  // the overhead is paid first
    if (options_.preemption.adds_up) {
      const double speed =
          slowest_alone(as_known(job), running.gpus) * running.spread * running.noise.speed;
      jobs_[job].unpaid = from_nanoseconds(std::max(left - work_ns, 0.0) / speed);
    }
    kept = from_nanoseconds(done * (1 - options_.preemption.lost_work));
    count_samples(running, std::clamp(work_ns - left, 0.0, work_ns));
    record.samples.processed += running.samples.processed;
    record.samples.useful += running.samples.useful * (1 - options_.preemption.lost_work);
  }
  const Duration kept_solo =
      replica ? now_ - record.last_start
              : solo_time(job, standing(jobs_[job]), kept, running.gpus, running.gpus);
  keep_work(job, jobs_[job], kept);
  if (resizes) {
    record.resize_run(now_, kept_solo, kept);
  } else {
    record.preempt_run(now_, kept_solo, replica ? kept_solo : kept);
  }
  if (jobs_[job].sole_resident) {
    vacate_sole(job, record.run_solo);
    return_to_kept(job);
    return Preempted::kReturned;
  }
  for (const GpuId g : running.gpus) {
    EpisodeRecord& episode = devices_[index(g)].episode;
    leave_unfinished(job, episode);
    episode.solo_sum += record.run_solo;
  }
  vacate(job);
  return_to_kept(job);
  return Preempted::kReturned;
}

void SimulatedBackend::wake_at(Time at) { queue_.schedule(at, EventKind::kTimer, 0); }

RunRecord SimulatedBackend::take_record() {
  hand_over();
  for (const JobId job : workload_.arrivals) {
    if (jobs_.contains(job)) keep(job);  // out of memory once too often
  }
  return recorder_.take();
}

Report SimulatedBackend::complete(JobId job) {
  JobRecord& record = jobs_[job].record;
  jobs_[job].running.event = EventQueue::kNone;
  if (jobs_[job].running.profiling) {
    record.profiling += now_ - record.last_start;
    const GpuId gpu = jobs_[job].running.gpus.front();
    account(gpu);
    state_.remove(gpu, job);
    devices_[index(gpu)].speeds.clear();
    devices_[index(gpu)].alone.clear();
    return_to_kept(job);
    return {ReportKind::kProfiled, job};
  }
  if (!is_last_phase(job, jobs_[job].running)) return begin_next_phase(job);
  finish(job);
  return {ReportKind::kFinished, job};
}

/// A phase that is not the job's last is over.
Report SimulatedBackend::begin_next_phase(JobId job) {
  Active& active = jobs_[job];
  if (active.sole_resident) keep_devices(job);
  Running& running = active.running;
  for (const GpuId g : running.gpus) account(g);
  const JobSpec& spec = workload_.jobs[index(job)];
  measure(job);
  count_samples(running, static_cast<double>(running.phase_work.count()));
  running.counted_ns = 0;
  running.done += running.phase_work;
  ++running.phase;
  running.phase_work = workload_.phases[spec.first_phase + running.phase].work;
  running.remaining_ns = static_cast<double>(running.phase_work.count());
  running.overhead_ns = 0;
  running.since = now_;
  running.speed = 0;
  running.spread = chosen_spread(job, running.phase, running.gpus);
  ask_for_samples(job, running);
  running.will_oom = runs_out_of_memory(job, running.gpus);
  if (running.will_oom) {
    running.event = queue_.schedule(later(now_, spec_.oom.ramp), EventKind::kFailure,
                                    static_cast<std::uint32_t>(index(job)));
  }
  for (const GpuId g : running.gpus) show_formed(g);
  co_runner_changed(running.gpus);
  return {ReportKind::kPhase, job};
}

/// The job has done its work. Its completion is no longer planned.
void SimulatedBackend::finish(JobId job) {
  JobRecord& record = jobs_[job].record;
  if (record.replica) record.count_in_run(now_ - record.last_start, now_ - record.last_start);
  Running& last = jobs_[job].running;
  count_samples(last, static_cast<double>(last.phase_work.count()));
  record.samples.processed += last.samples.processed;
  record.samples.useful += last.samples.useful;
  record.finish_run(now_);
  if (!record.first_start) record.first_start = record.last_start;
  jobs_[job].finished = true;
  if (jobs_[job].sole_resident) {
    vacate_sole(job, record.run_solo);
    return;
  }
  leave_probe(job);
  ticking_ = jobs_[job].running.order;
  vacate(job);
  ticking_ = 0;
}

Report SimulatedBackend::run_out_of_memory(JobId job) {
  jobs_[job].running.event = EventQueue::kNone;
  jobs_[job].record.run_out_of_memory(now_);
  if (jobs_[job].sole_resident) {
    vacate_sole(job, Duration::zero());
    return_to_kept(job);
    return {ReportKind::kOutOfMemory, job};
  }
  leave_probe(job);
  for (const GpuId g : jobs_[job].running.gpus) {
    leave_unfinished(job, devices_[index(g)].episode);
  }
  vacate(job);
  return_to_kept(job);
  return {ReportKind::kOutOfMemory, job};
}

/// The job's probe is over, and the job has no planned completion by now: it returns, with its progress if that is
/// kept, or it finishes if less than half a nanosecond of work is left.
Report SimulatedBackend::end_probe(JobId job) {
  Running& running = jobs_[job].running;
  running.probe_end = EventQueue::kNone;
  queue_.cancel(running.event);
  running.event = EventQueue::kNone;
  if (options_.probes_keep_progress) {
    // The costs of its start come first.
    const Duration left =
        std::min(from_nanoseconds(std::max(running.remaining_ns - worked_ns(running), 0.0)),
                 running.phase_work);
    if (left == Duration::zero() && is_last_phase(job, running)) {
      finish(job);
      return {ReportKind::kFinished, job};
    }
    keep_work(job, jobs_[job], running.done + running.phase_work - left);
  }
  JobRecord& record = jobs_[job].record;
  record.profiling += now_ - record.last_start;
  record.count_in_run(Duration::zero(), Duration::zero());
  leave_unfinished(job, devices_[index(running.gpus.front())].episode);
  vacate(job);
  return_to_kept(job);
  return {ReportKind::kProbed, job};
}

/// For a job that finishes or runs out of memory. In a probe, the probe then counts as a start, and it ends
/// for the co-runner, too.
void SimulatedBackend::leave_probe(JobId job) {
  Running& running = jobs_[job].running;
  if (running.probe_end == EventQueue::kNone) return;
  queue_.cancel(running.probe_end);
  running.probe_end = EventQueue::kNone;
  JobRecord& record = jobs_[job].record;
  if (!record.first_start) record.first_start = record.last_start;
  for (const JobId other : state_.gpu(running.gpus.front()).residents) {
    if (other != job) queue_.move(jobs_[other].running.probe_end, now_);
  }
}

void SimulatedBackend::finish_probe(GpuId gpu) {
  Device& device = devices_[index(gpu)];
  if (!device.probe) return;
  device.probe->end = now_;
  // If both have finished, this is an episode of two, and beliefs learn from that.
  const bool whole_co_run = device.episode.jobs.size() == 2;
  device.probe->measured &= now_ > device.probe->start && !whole_co_run;
  recorder_.add(*device.probe);
  device.probe.reset();
}

SimulatedBackend::GpuList SimulatedBackend::list_of(std::span<const GpuId> gpus) {
  if (gpus.size() == 1) return nullptr;
  std::vector<GpuId> sorted(gpus.begin(), gpus.end());
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  return std::make_shared<const std::vector<GpuId>>(std::move(sorted));
}

/// `own`: all GPUs of the job. All GPUs of a gang share one list, so a start costs O(1) for each of them.
void SimulatedBackend::occupy(JobId job, Active& active, GpuId gpu, const GpuList& own,
                              bool exclusive) {
  Device& device = devices_[index(gpu)];
  EpisodeRecord& episode = device.episode;
  if (state_.gpu(gpu).residents.empty()) {
    std::vector<JobId> list = std::move(episode.jobs);
    if (list.capacity() == 0) list = recorder_.empty_list();
    list.clear();
    episode = EpisodeRecord{};
    episode.gpu = gpu;
    episode.start = now_;
    episode.jobs = std::move(list);
    device.shared = own;
  } else if (own == nullptr) {
    device.shared = nullptr;
  } else if (device.shared != nullptr && device.shared != own) {
    const auto [at, is_new] = narrowed_.try_emplace(device.shared);
    if (is_new) {
      std::vector<GpuId> both;
      std::ranges::copy_if(*device.shared, std::back_inserter(both),
                           [&](GpuId g) { return std::ranges::binary_search(*own, g); });
      at->second = std::make_shared<const std::vector<GpuId>>(std::move(both));
    }
    device.shared = at->second;
  }
  episode.jobs.push_back(job);
  episode.serves |= active.record.replica;
  ++active.open_episodes;
  state_.add(gpu, job, exclusive);
}

bool SimulatedBackend::begins_on_empty_gpus(std::span<const JobId> jobs,
                                            std::span<const GpuId> gpus) const {
  if (jobs.size() != 1 || gpus.size() == 1) return false;
  return std::ranges::all_of(gpus, [&](GpuId g) { return state_.empty_gpus().contains(g); });
}

/// Another job comes to its GPUs: sets their Devices to what they would be now, had they been kept since its start.
void SimulatedBackend::keep_devices(JobId job) {
  Active& active = jobs_[job];
  active.sole_resident = false;
  const GpuList list = list_of(active.running.gpus);
  for (const GpuId g : active.running.gpus) {
    Device& device = devices_[index(g)];
    std::vector<JobId> jobs = recorder_.empty_list();
    jobs.push_back(job);
    device.episode = EpisodeRecord{};
    device.episode.gpu = g;
    device.episode.start = active.record.last_start;
    device.episode.jobs = std::move(jobs);
    device.shared = list;
    device.since = active.record.last_start;
    device.formed.assign(1, as_known(job));
    device.speeds.assign(1, 1.0);
    device.provenance = Provenance::kAlone;
    look_up_alone(g);
  }
}

/// As vacate(), for a gang that is the sole resident of its GPUs; `solo`: of its work that counts in the episodes.
void SimulatedBackend::vacate_sole(JobId job, Duration solo) {
  Active& active = jobs_[job];
  active.sole_resident = false;
  account_sole(job, active);
  if (active.running.spreads) count_spread(active.running, -1);
  EpisodeRecord episode;
  episode.start = active.record.last_start;
  episode.end = now_;
  episode.solo_sum = solo;
  if (active.finished) {
    episode.jobs = recorder_.empty_list();
    episode.jobs.push_back(job);
  } else {
    episode.unfinished = 1;
  }
  state_.remove_alone(active.running.gpus);
  active.open_episodes -= static_cast<int>(active.running.gpus.size());
  if (active.open_episodes == 0 && active.finished) over_.push_back(job);
  recorder_.add(std::move(episode), std::exchange(active.running.gpus, {}));
  if (!stirred_nodes_.empty()) refresh_neighbours();
}

/// As account() for each of its GPUs, from its start to now.
void SimulatedBackend::account_sole(JobId job, const Active& active) {
  const Duration elapsed = now_ - active.record.last_start;
  if (elapsed == Duration::zero()) return;
  const double seconds = to_seconds(elapsed);
  const JobId known = as_known(job);
  const Profile& profile = workload_.profile(job, active.running.phase);
  UsageRecord& usage = recorder_.usage();
  state_.each_node(active.running.gpus, [&](NodeId node, std::span<const GpuId> gpus) {
    const GpuType& type = spec_.nodes[index(node)].gpu;
    double alone = type.speed;
    std::optional<double> demand_mib = profile.mem_used_mib;
    std::optional<SoloSource> source;
    if (on_types_ != nullptr) {
      const Alone here = on_types_->alone(known, type, types_seed());
      alone = here.speed;
      source = here.source;
      demand_mib = on_types_->memory_mib(known, type);
    }
    // The terms of account(), in its order: sums of the same rounding.
    const double util = 0 + profile.gpu_util_pct.value_or(0) / 100 * active.running.speed / alone;
    const double util_s = std::min(1.0, util) * seconds;
    std::optional<double> mem_s;
    if (demand_mib) {
      const double memory = active.running.will_oom ? 0 : *demand_mib / type.memory_mib;
      mem_s = std::min(1.0, memory) * seconds;
    }
    for (std::size_t g = 0; g < gpus.size(); ++g) usage.busy += elapsed;
    const auto add = [&](double& sum, double each) {
      double local = sum;
      for (std::size_t g = 0; g < gpus.size(); ++g) local += each;
      sum = local;
    };
    if (source) add(usage.solo_s[static_cast<std::size_t>(*source)], seconds);
    if (profile.gpu_util_pct) {
      add(usage.util_s, util_s);
      add(usage.util_known_s, seconds);
    }
    if (mem_s) {
      add(usage.mem_s, *mem_s);
      add(usage.mem_known_s, seconds);
    }
  });
}

void SimulatedBackend::vacate(JobId job) {
  if (options_.services != nullptr && is_replica(job)) options_.services->runs(job, now_, 0);
  if (jobs_[job].running.spreads) count_spread(jobs_[job].running, -1);
  left_.clear();
  left_.swap(jobs_[job].running.gpus);
  for (const GpuId g : left_) {
    account(g);
    state_.remove(g, job);
    Device& device = devices_[index(g)];
    if (!state_.gpu(g).residents.empty()) continue;
    device.formed.clear();
    device.speeds.clear();
    device.alone.clear();
    finish_probe(g);
    finish_episode(g);
  }
  co_runner_changed(left_);
  if (!stirred_nodes_.empty()) refresh_neighbours();
}

void SimulatedBackend::finish_episode(GpuId gpu) {
  Device& device = devices_[index(gpu)];
  EpisodeRecord& episode = device.episode;
  episode.end = now_;
  for (const JobId j : episode.jobs) {
    episode.solo_sum += jobs_[j].record.run_solo;
    episode.together &= jobs_[j].record.last_start == jobs_[episode.jobs.front()].record.last_start;
  }
  episode.primary = device.shared == nullptr || device.shared->front() == gpu;
  for (const JobId j : episode.jobs) leave_episode(j);
  recorder_.add(std::move(episode));
}

}  // namespace corun::inline sim
