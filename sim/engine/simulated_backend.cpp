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
      options_(options),
      state_(spec),
      arrivals_(workload),
      jobs_(workload.jobs.size()),
      devices_(static_cast<std::size_t>(spec.gpu_count())),
      recorder_(workload.jobs.size(), spec.gpu_count(), options_.sink) {
  assert(workload.arrivals.size() == workload.jobs.size());
}

bool SimulatedBackend::advance(std::vector<Report>& out) {
  hand_over();
  if (queue_.empty() && arrivals_.over()) return false;
  now_ = queue_.empty() ? arrivals_.next() : std::min(queue_.top().at, arrivals_.next());

  const std::size_t first = out.size();
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
  std::vector<GpuId> first_of_nodes;
  if (sole_resident) {
    state_.each_node(
        gpus, [&](NodeId, std::span<const GpuId> own) { first_of_nodes.push_back(own.front()); });
  }
  const std::span<const GpuId> unlike =
      sole_resident ? std::span<const GpuId>(first_of_nodes) : gpus;
  const std::uint32_t group = next_group_++;
  for (const JobId job : jobs) {
    const double slowest_gpu = slowest_alone(job, unlike);
    Active& active = jobs_[job];
    Running& running = active.running;
    std::vector<GpuId> own = std::move(running.gpus);  // reuses its memory
    own.assign(gpus.begin(), gpus.end());
    running = Running{};
    running.gpus = std::move(own);
    const auto work_ns = static_cast<double>(active.work_left.count());
    JobRecord& record = active.record;
    if (record.preemptions > 0) {
      const Duration overhead =
          options_.preemption.of(static_cast<int>(gpus.size())) + active.unpaid;
      running.overhead_ns = static_cast<double>(overhead.count()) * slowest_gpu;
    }
    running.remaining_ns = work_ns + running.overhead_ns;
    running.since = last_tick();
    running.order = next_order_++;
    running.will_oom = exceeds_memory(job, unlike, state_, workload_, world_,
                                      [this](JobId j) { return jobs_[j].running.will_oom; });
    if (running.will_oom) {
      running.event = queue_.schedule(later(now_, spec_.oom.ramp), EventKind::kFailure,
                                      static_cast<std::uint32_t>(index(job)));
    }
    record.begin_run(now_, gpus.front(), group);
    Duration run_solo = later(Time::zero(), from_nanoseconds(work_ns / slowest_gpu));
    const auto all_ns = static_cast<double>(workload_.jobs[index(job)].work.count());
    record.whole_solo = later(Time::zero(), from_nanoseconds(all_ns / slowest_gpu));
    // On a very fast GPU run_solo may round to 0, which stands for no work.
    running.has_work = work_ns > 0;
    if (running.has_work) run_solo = std::max(run_solo, kShortestRun);
    record.ask_of_run(run_solo, active.work_left);
    if (sole_resident) {
      active.sole_resident = true;
      active.open_episodes += static_cast<int>(gpus.size());
      state_.add_alone(gpus, job);
      if (!running.will_oom) set_speed(job, active, slowest_gpu);
      return;
    }
    for (const GpuId g : gpus) occupy(job, active, g, list, exclusive);
  }
  if (!narrowed_.empty()) narrowed_.clear();
  for (const GpuId g : gpus) devices_[index(g)].formed = state_.gpu(g).residents;
  co_runner_changed(gpus);
}

void SimulatedBackend::start_profiling(JobId job, GpuId gpu) {
  const double speed = speed_alone(job, gpu);
  const auto& epoch = workload_.jobs[index(job)].epoch;
  const Duration asked =
      options_.profile_epoch && epoch
          ? *epoch
          : from_nanoseconds(static_cast<double>(options_.profiling_minute.count()) * speed);
  const Duration left = jobs_[job].work_left;
  const bool fits =
      !exceeds_memory(job, {&gpu, 1}, state_, workload_, world_, [](JobId) { return false; });
  if (options_.profiling_keeps_progress && asked >= left && fits) {
    place({&job, 1}, {&gpu, 1}, true);
    return;
  }
  account(gpu);
  state_.add(gpu, job, true);
  look_up_alone(gpu);
  const Duration work = std::min(asked, left);
  Running& running = jobs_[job].running;
  running = Running{};
  running.gpus = {gpu};
  running.remaining_ns = static_cast<double>(work.count());
  running.since = now_;
  running.has_work = work > Duration::zero();
  running.profiling = true;
  jobs_[job].record.last_start = now_;
  devices_[index(gpu)].formed = state_.gpu(gpu).residents;
  devices_[index(gpu)].speeds = {1.0};
  devices_[index(gpu)].provenance = Provenance::kAlone;
  if (options_.profiling_keeps_progress) jobs_[job].work_left -= work;
  set_speed(job, jobs_[job], speed);
}

Preempted SimulatedBackend::preempt(JobId job) {
  Running& running = jobs_[job].running;
  const bool profiled = state_.gpu(running.gpus.front()).profiling;
  if (profiled || running.probe_end != EventQueue::kNone) return Preempted::kRefused;
  JobRecord& record = jobs_[job].record;
  queue_.cancel(running.event);
  running.event = EventQueue::kNone;
  Duration kept{0};
  if (!running.will_oom) {
    const double left = running.remaining_ns -
                        running.speed * static_cast<double>((last_tick() - running.since).count());
    // With TickRule::kProgress a job needs a tick for its end, when its work is done.
    const bool notices = options_.tick_rule == TickRule::kNotice;
    if (notices && from_nanoseconds(std::max(left, 0.0)) == Duration::zero()) {
      finish(job);
      return Preempted::kFinished;
    }
    const auto work_ns = static_cast<double>(jobs_[job].work_left.count());
    const double done = std::clamp(work_ns - left, 0.0, work_ns);  // the overhead is paid first
    if (options_.preemption.adds_up) {
      jobs_[job].unpaid =
          from_nanoseconds(std::max(left - work_ns, 0.0) / slowest_alone(job, running.gpus));
    }
    kept = from_nanoseconds(done * (1 - options_.preemption.lost_work));
    jobs_[job].work_left -= kept;
  }
  record.preempt_run(
      now_, from_nanoseconds(static_cast<double>(kept.count()) / slowest_alone(job, running.gpus)),
      kept);
  if (jobs_[job].sole_resident) {
    vacate_sole(job, record.run_solo);
    return Preempted::kReturned;
  }
  for (const GpuId g : running.gpus) {
    EpisodeRecord& episode = devices_[index(g)].episode;
    leave_unfinished(job, episode);
    episode.solo_sum += record.run_solo;
  }
  vacate(job);
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
    return {ReportKind::kProfiled, job};
  }
  finish(job);
  return {ReportKind::kFinished, job};
}

/// The job has done its work. Its completion is no longer planned.
void SimulatedBackend::finish(JobId job) {
  JobRecord& record = jobs_[job].record;
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
    return {ReportKind::kOutOfMemory, job};
  }
  leave_probe(job);
  for (const GpuId g : jobs_[job].running.gpus) {
    leave_unfinished(job, devices_[index(g)].episode);
  }
  vacate(job);
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
    const double done = running.speed * static_cast<double>((last_tick() - running.since).count());
    const Duration left = from_nanoseconds(std::max(running.remaining_ns - done, 0.0));
    if (left == Duration::zero()) {
      finish(job);
      return {ReportKind::kFinished, job};
    }
    jobs_[job].work_left = left;
  }
  JobRecord& record = jobs_[job].record;
  record.profiling += now_ - record.last_start;
  record.count_in_run(Duration::zero(), Duration::zero());
  leave_unfinished(job, devices_[index(running.gpus.front())].episode);
  vacate(job);
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
    device.formed.assign(1, job);
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
}

/// As account() for each of its GPUs, from its start to now.
void SimulatedBackend::account_sole(JobId job, const Active& active) {
  const Duration elapsed = now_ - active.record.last_start;
  if (elapsed == Duration::zero()) return;
  const double seconds = to_seconds(elapsed);
  const Profile& profile = workload_.jobs[index(job)].profile;
  UsageRecord& usage = recorder_.usage();
  state_.each_node(active.running.gpus, [&](NodeId node, std::span<const GpuId> gpus) {
    const GpuType& type = spec_.nodes[index(node)].gpu;
    double alone = type.speed;
    std::optional<double> demand_mib = profile.mem_used_mib;
    std::optional<SoloSource> source;
    if (on_types_ != nullptr) {
      const Alone known = on_types_->alone(job, type, types_seed());
      alone = known.speed;
      source = known.source;
      demand_mib = on_types_->memory_mib(job, type);
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

void SimulatedBackend::co_runner_changed(std::span<const GpuId> gpus) {
  for (const GpuId g : gpus) {
    Device& device = devices_[index(g)];
    const auto& residents = state_.gpu(g).residents;
    device.speeds.assign(residents.size(), 1.0);
    look_up_alone(g);
    if (residents.size() < 2) {
      device.provenance = Provenance::kAlone;
      continue;
    }
    const JobId newcomer = *std::ranges::max_element(
        residents, {}, [this](JobId j) { return jobs_[j].running.order; });
    device.provenance = world_.speeds({residents, device.formed, newcomer, state_.gpu_type(g).id},
                                      options_.noise_seed, device.speeds);
  }
  ++changes_;
  const std::vector<JobId>* last = nullptr;
  for (const GpuId g : gpus) {
    // A gang's speed depends on all of its GPUs: it needs only one update.
    const auto& residents = state_.gpu(g).residents;
    if (last != nullptr && residents == *last) continue;
    last = &residents;
    for (const JobId job : residents) {
      Active& active = jobs_[job];
      if (active.running.will_oom || std::exchange(active.change, changes_) == changes_) continue;
      double speed = std::numeric_limits<double>::infinity();
      for (const GpuId own : active.running.gpus) speed = std::min(speed, speed_on(job, own));
      if (speed != active.running.speed) set_speed(job, active, speed);
    }
  }
}

void SimulatedBackend::set_speed(JobId job, Active& active, double speed) {
  Running& running = active.running;
  // The utilisation of all GPUs of a gang depends on its speed: account it before the speed changes.
  if (!active.sole_resident) std::ranges::for_each(running.gpus, [this](GpuId g) { account(g); });
  const bool ticks = options_.tick_rule == TickRule::kProgress;
  if (ticks && running.event != EventQueue::kNone && running.due == now_) {
    running.speed = speed;  // it ends at this instant
    return;
  }
  Time worked_until = last_tick();
  if (ticks && ticking_ != 0 && running.order > ticking_) {
    worked_until = std::max(running.since, now_ - options_.tick);
  }
  const auto worked = static_cast<double>((worked_until - running.since).count());
  running.remaining_ns = std::max(running.remaining_ns - running.speed * worked, 0.0);
  running.since = worked_until;
  running.speed = speed;
  Time end = completion(running);
  if (running.has_work) end = std::max(end, active.record.last_start + kShortestRun);
  end = round_up(end, options_.tick);
  running.due = end;
  if (running.event == EventQueue::kNone) {
    running.event =
        queue_.schedule(end, EventKind::kCompletion, static_cast<std::uint32_t>(index(job)));
  } else {
    queue_.move(running.event, end);
  }
}

/// The time up to which work has been done: now; with TickRule::kProgress the tick at or before now.
Time SimulatedBackend::last_tick() const {
  return options_.tick_rule == TickRule::kProgress ? now_ - now_ % options_.tick : now_;
}

/// Completion at the present speed, before rounding to a tick.
Time SimulatedBackend::completion(const Running& running) const {
  if (options_.tick_rule == TickRule::kNotice) {
    return later(running.since, from_nanoseconds(running.remaining_ns / running.speed));
  }
  const auto tick = static_cast<double>(options_.tick.count());
  const double ticks = std::ceil(running.remaining_ns / (running.speed * tick)) + 1;
  return later(running.since, from_nanoseconds(ticks * tick));
}

double SimulatedBackend::speed_alone(JobId job, GpuId gpu) const {
  const GpuType& type = state_.gpu_type(gpu);
  return on_types_ == nullptr ? type.speed : on_types_->alone(job, type, types_seed()).speed;
}

/// The speed of a job alone on all of these GPUs: a gang waits for its slowest member.
double SimulatedBackend::slowest_alone(JobId job, std::span<const GpuId> gpus) const {
  double speed = std::numeric_limits<double>::infinity();
  state_.each_node(gpus, [&](NodeId, std::span<const GpuId> own) {
    speed = std::min(speed, speed_alone(job, own.front()));
  });
  return speed;
}

/// Updates Device::alone after a change of residents.
void SimulatedBackend::look_up_alone(GpuId gpu) {
  if (on_types_ == nullptr) return;
  std::vector<Alone>& alone = devices_[index(gpu)].alone;
  alone.clear();
  for (const JobId j : state_.gpu(gpu).residents) {
    alone.push_back(on_types_->alone(j, state_.gpu_type(gpu), types_seed()));
  }
}

double SimulatedBackend::speed_on(JobId job, GpuId gpu) const {
  const auto& residents = state_.gpu(gpu).residents;
  const auto at = static_cast<std::size_t>(
      std::lower_bound(residents.begin(), residents.end(), job) - residents.begin());
  const Device& device = devices_[index(gpu)];
  const double alone = on_types_ == nullptr ? state_.gpu_type(gpu).speed : device.alone[at].speed;
  return alone * device.speeds[at];
}

std::optional<Provenance> SimulatedBackend::true_speeds(GpuId gpu, std::vector<double>& out) const {
  const Device& device = devices_[index(gpu)];
  const auto& residents = state_.gpu(gpu).residents;
  out.clear();
  if (residents.size() == 1 && jobs_[residents.front()].sole_resident) {
    out.push_back(jobs_[residents.front()].running.speed / speed_alone(residents.front(), gpu));
    return Provenance::kAlone;
  }
  for (std::size_t i = 0; i < residents.size(); ++i) {
    const double alone = on_types_ == nullptr ? state_.gpu_type(gpu).speed : device.alone[i].speed;
    out.push_back(jobs_[residents[i]].running.speed / alone);
  }
  return device.provenance;
}

void SimulatedBackend::account(GpuId gpu) {
  Device& device = devices_[index(gpu)];
  const Duration elapsed = now_ - device.since;
  device.since = now_;
  const auto& residents = state_.gpu(gpu).residents;
  if (residents.empty() || elapsed == Duration::zero()) return;
  const double seconds = to_seconds(elapsed);
  const GpuType& type = state_.gpu_type(gpu);
  double util = 0;
  double memory = 0;
  bool util_known = true;
  bool memory_known = true;
  UsageRecord& usage = recorder_.usage();
  for (std::size_t i = 0; i < residents.size(); ++i) {
    const JobId j = residents[i];
    const Profile& profile = workload_.jobs[index(j)].profile;
    const Running& running = jobs_[j].running;
    double alone = type.speed;
    std::optional<double> demand_mib = profile.mem_used_mib;
    if (on_types_ != nullptr) {
      alone = device.alone[i].speed;
      demand_mib = on_types_->memory_mib(j, type);
      usage.solo_s[static_cast<std::size_t>(device.alone[i].source)] += seconds;
    }
    util_known &= profile.gpu_util_pct.has_value();
    memory_known &= demand_mib.has_value();
    util += profile.gpu_util_pct.value_or(0) / 100 * running.speed / alone;
    if (!running.will_oom) memory += demand_mib.value_or(0) / type.memory_mib;
  }
  usage.busy += elapsed;
  if (util_known) {
    usage.util_s += std::min(1.0, util) * seconds;
    usage.util_known_s += seconds;
  }
  if (memory_known) {
    usage.mem_s += std::min(1.0, memory) * seconds;
    usage.mem_known_s += seconds;
  }
  if (residents.size() > 1) usage.corun_s[static_cast<std::size_t>(device.provenance)] += seconds;
}

}  // namespace corun::inline sim
