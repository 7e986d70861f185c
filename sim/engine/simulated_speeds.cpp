#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/simulated_backend.hpp"

/// Speeds of jobs, their completions, and the use of GPUs: the arithmetic of SimulatedBackend.
namespace corun::inline sim {

/// A running job as the world knows it.
JobId SimulatedBackend::as_known(JobId job) const {
  return workload_.phases.size() == 0 ? job : workload_.in_phase(job, jobs_[job].running.phase);
}

/// The residents of a GPU were formed just now.
void SimulatedBackend::show_formed(GpuId gpu) {
  if (workload_.phases.size() == 0) {
    devices_[index(gpu)].formed = state_.gpu(gpu).residents;  // reuses its memory
  } else {
    devices_[index(gpu)].formed = residents_as_known(gpu);
  }
}

/// Those of a GPU as the world knows them, ascending.
std::vector<JobId> SimulatedBackend::residents_as_known(GpuId gpu) const {
  std::vector<JobId> known = state_.gpu(gpu).residents;
  if (workload_.phases.size() == 0) return known;
  for (JobId& job : known) job = as_known(job);
  std::ranges::sort(known);
  return known;
}

/// Sets the speeds of the residents of a GPU, in their order, and returns their source.
Provenance SimulatedBackend::ask_world(GpuId gpu, JobId newcomer) {
  if (options_.services != nullptr && serves(gpu)) return ask_world_by_load(gpu, newcomer);
  Device& device = devices_[index(gpu)];
  const std::vector<JobId>& residents = state_.gpu(gpu).residents;
  const std::uint32_t type = state_.gpu_type(gpu).id;
  if (workload_.phases.size() == 0) {
    return world_.speeds({residents, device.formed, newcomer, type}, options_.noise_seed,
                         device.speeds);
  }
  const std::vector<JobId> known = residents_as_known(gpu);
  std::vector<double> speeds(known.size());
  const Provenance source =
      world_.speeds({known, device.formed, as_known(newcomer), type}, options_.noise_seed, speeds);
  for (std::size_t i = 0; i < residents.size(); ++i) {
    const auto at = std::ranges::lower_bound(known, as_known(residents[i]));
    device.speeds[i] = speeds[static_cast<std::size_t>(at - known.begin())];
  }
  return source;
}

/// Calls `use` with the allocation that these GPUs are, once for each of their types.
void SimulatedBackend::each_type(std::span<const GpuId> gpus,
                                 const std::function<void(const Allocation&)>& use) const {
  std::vector<NodeId> nodes;
  std::vector<int> on_nodes;
  std::vector<std::uint32_t> switches;
  std::vector<std::uint32_t> types;
  state_.each_node(gpus, [&](NodeId node, std::span<const GpuId> own) {
    const auto count = static_cast<int>(own.size());
    const auto at = std::ranges::find(nodes, node);
    if (at != nodes.end()) {
      on_nodes[static_cast<std::size_t>(at - nodes.begin())] += count;
      return;
    }
    nodes.push_back(node);
    on_nodes.push_back(count);
    switches.push_back(spec_.nodes[index(node)].switch_id);
    types.push_back(spec_.nodes[index(node)].gpu.id);
  });
  const auto leave_unlike = [](std::vector<std::uint32_t>& values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  leave_unlike(switches);
  leave_unlike(types);
  for (const std::uint32_t type : types) {
    use({static_cast<int>(gpus.size()), static_cast<int>(nodes.size()),
         static_cast<int>(switches.size()), type, on_nodes});
  }
}

/// The factor of a job in a phase on all of these GPUs.
double SimulatedBackend::spread_of(JobId job, std::uint32_t phase,
                                   std::span<const GpuId> gpus) const {
  if (by_allocation_ == nullptr) return 1;
  double slowest = std::numeric_limits<double>::infinity();
  each_type(gpus, [&](const Allocation& on) {
    slowest = std::min(slowest, by_allocation_->factor(workload_.in_phase(job, phase), on));
  });
  return slowest;
}

/// The same of the configuration that the job chooses now.
double SimulatedBackend::chosen_spread(JobId job, std::uint32_t phase,
                                       std::span<const GpuId> gpus) {
  if (options_.tuning == nullptr) return spread_of(job, phase, gpus);
  double slowest = std::numeric_limits<double>::infinity();
  each_type(gpus, [&](const Allocation& on) {
    slowest = std::min(slowest, options_.tuning->choose(workload_.in_phase(job, phase), on));
  });
  return slowest;
}

/// Looks up what the job's work on its GPUs is worth in samples, with its latest choice. Of several GPU types that on which it
/// is slowest counts, as for its speed.
void SimulatedBackend::ask_for_samples(JobId job, Running& running) {
  if (!counts_samples_) return;
  const JobId known = workload_.in_phase(job, running.phase);
  double slowest = std::numeric_limits<double>::infinity();
  each_type(running.gpus, [&](const Allocation& on) {
    const double factor = by_allocation_->factor(known, on);
    if (factor >= slowest) return;
    slowest = factor;
    running.samples_per_s = options_.tuning == nullptr ? by_allocation_->samples(known, on)
                                                       : options_.tuning->samples(known, on);
  });
}

/// The job has done this much work of its phase in this run.
void SimulatedBackend::count_samples(Running& running, double done_ns) {
  const double seconds = (done_ns - running.counted_ns) / 1e9;
  running.samples.processed += seconds * running.samples_per_s.processed;
  running.samples.useful += seconds * running.samples_per_s.useful;
  running.counted_ns = done_ns;
}

/// A running job learns from the work that it has done since its start, its phase or its latest choice began.
void SimulatedBackend::measure(JobId job) {
  const Running& running = jobs_[job].running;
  if (options_.tuning == nullptr || running.will_oom || now_ <= running.since) return;
  each_type(running.gpus,
            [&](const Allocation& on) { options_.tuning->measure(as_known(job), on); });
}

/// All running jobs measure, and choose anew.
void SimulatedBackend::tune() {
  tuning_asked_ = false;
  for (std::uint32_t g = 0; g < state_.gpus().size(); ++g) {
    const std::vector<JobId> residents = state_.gpu(GpuId{g}).residents;
    for (const JobId job : residents) {
      Active& active = jobs_[job];
      Running& running = active.running;
      if (running.gpus.front() != GpuId{g}) continue;  // once for each job
      ask_for_tuning();
      if (running.profiling || running.will_oom || now_ <= running.since) continue;
      measure(job);
      count_samples(running, done_ns(running));
      const double spread = chosen_spread(job, running.phase, running.gpus);
      ask_for_samples(job, running);
      if (spread == running.spread) continue;
      if (active.sole_resident) keep_devices(job);
      running.spread = spread;
      renew_speed(job);
    }
  }
}

/// A job runs: it tunes itself at the next multiple of the interval.
void SimulatedBackend::ask_for_tuning() {
  if (options_.tuning == nullptr || tuning_asked_) return;
  tuning_asked_ = true;
  const Duration interval = options_.tuning->interval();
  const Time last = now_ - now_ % interval;
  queue_.schedule(later(last, interval), EventKind::kTuning, 0);
}

/// `change` more jobs have the GPUs of this one, which is on several nodes.
void SimulatedBackend::count_spread(const Running& running, int change) {
  std::vector<NodeId> nodes;
  state_.each_node(running.gpus, [&](NodeId node, std::span<const GpuId>) {
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  });
  for (const NodeId node : nodes) {
    int& count = spread_jobs_[index(node)];
    const bool shared = count > 1;
    count += change;
    if (shared != (count > 1)) stirred_nodes_.push_back(node);
  }
}

double SimulatedBackend::beside_of(const Running& running) const {
  if (!running.spreads) return 1;
  const bool beside = std::ranges::any_of(
      running.gpus, [this](GpuId g) { return spread_jobs_[index(state_.gpu(g).node)] > 1; });
  return beside ? by_allocation_->beside_spread_jobs() : 1;
}

/// Its factors have changed.
void SimulatedBackend::renew_speed(JobId job) {
  Active& active = jobs_[job];
  const Running& running = active.running;
  double speed = std::numeric_limits<double>::infinity();
  if (active.sole_resident) {
    speed = slowest_alone(as_known(job), running.gpus);
  } else {
    for (const GpuId own : running.gpus) speed = std::min(speed, speed_on(job, own));
  }
  set_speed(job, active, speed * running.spread * running.beside * running.noise.speed);
}

/// The speeds of jobs on several nodes that have come to share a node with another one, or no longer do.
void SimulatedBackend::refresh_neighbours() {
  for (const NodeId node : std::exchange(stirred_nodes_, {})) {
    const std::size_t first = index(state_.first_gpu(node));
    for (int g = 0; g < spec_.nodes[index(node)].gpus; ++g) {
      const GpuId gpu{static_cast<std::uint32_t>(first + static_cast<std::size_t>(g))};
      for (const JobId job : state_.gpu(gpu).residents) {
        Running& running = jobs_[job].running;
        const double beside = beside_of(running);
        if (beside == running.beside) continue;
        running.beside = beside;
        if (!running.will_oom) renew_speed(job);
      }
    }
  }
}

/// The end of a phase as Workload::phase_grid has it.
Time SimulatedBackend::on_phase_grid(Time end) const {
  const Duration grid = workload_.phase_grid;
  const Duration after = end % grid;
  if (after == Duration::zero()) return end;
  const Time before = end - after;
  if (after + after < grid) return std::max(now_, before + Duration{1});
  return later(before, grid);
}

/// Solo time of `work` of the job from where it stands, on these GPUs; `unlike`: one of each kind of them.
Duration SimulatedBackend::solo_time(JobId job, Standing from, Duration work,
                                     std::span<const GpuId> gpus,
                                     std::span<const GpuId> unlike) const {
  double solo_ns = 0;
  for (Duration left = std::min(from.left, work);;) {
    const double speed = slowest_alone(workload_.in_phase(job, from.phase), unlike) *
                         spread_of(job, from.phase, gpus);
    solo_ns += static_cast<double>(left.count()) / speed;
    work -= left;
    if (work == Duration::zero()) break;
    ++from.phase;
    left =
        std::min(workload_.phases[workload_.jobs[index(job)].first_phase + from.phase].work, work);
  }
  return later(Time::zero(), from_nanoseconds(solo_ns));
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
    device.provenance = ask_world(g, newcomer);
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
      speed *= active.running.spread * active.running.beside * active.running.noise.speed;
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
  const Duration notice = running.noise.notice;
  if (notice > Duration::zero() && running.event != EventQueue::kNone && running.done_by <= now_) {
    running.remaining_ns = 0;  // its work is done, and its report is on the way
    running.since = now_;
    running.speed = speed;
    return;
  }
  Time worked_until = last_tick();
  if (ticks && ticking_ != 0 && running.order > ticking_) {
    worked_until = std::max(running.since, now_ - options_.tick);
  }
  worked_until = std::max(worked_until, running.since);  // its start may take time
  const auto worked = static_cast<double>((worked_until - running.since).count());
  running.remaining_ns = std::max(running.remaining_ns - running.speed * worked, 0.0);
  running.since = worked_until;
  running.speed = speed;
  Time end = completion(running);
  if (active.record.replica) {
    end = workload_.jobs[index(job)].ends;
    options_.services->runs(job, now_, speed);
  }
  if (running.has_work) end = std::max(end, active.record.last_start + kShortestRun);
  running.done_by = end;
  if (is_last_phase(job, running)) end = round_up(later(end, notice), options_.tick);
  if (workload_.phase_grid > Duration::zero() && workload_.jobs[index(job)].phases > 0) {
    end = on_phase_grid(end);
  }
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

/// `known`: the job in its phase.
double SimulatedBackend::speed_alone(JobId known, GpuId gpu) const {
  const GpuType& type = state_.gpu_type(gpu);
  return on_types_ == nullptr ? type.speed : on_types_->alone(known, type, types_seed()).speed;
}

/// The speed of a job alone on all of these GPUs, wherever they are: a gang waits for its slowest member.
double SimulatedBackend::slowest_alone(JobId known, std::span<const GpuId> gpus) const {
  double speed = std::numeric_limits<double>::infinity();
  state_.each_node(gpus, [&](NodeId, std::span<const GpuId> own) {
    speed = std::min(speed, speed_alone(known, own.front()));
  });
  return speed;
}

/// Updates Device::alone after a change of residents.
void SimulatedBackend::look_up_alone(GpuId gpu) {
  if (on_types_ == nullptr) return;
  std::vector<Alone>& alone = devices_[index(gpu)].alone;
  alone.clear();
  for (const JobId j : state_.gpu(gpu).residents) {
    alone.push_back(on_types_->alone(as_known(j), state_.gpu_type(gpu), types_seed()));
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
    const Running& running = jobs_[residents.front()].running;
    const double alone = speed_alone(as_known(residents.front()), gpu) * running.spread;
    out.push_back(running.speed / alone);
    return Provenance::kAlone;
  }
  for (std::size_t i = 0; i < residents.size(); ++i) {
    const double alone = on_types_ == nullptr ? state_.gpu_type(gpu).speed : device.alone[i].speed;
    const Running& running = jobs_[residents[i]].running;
    out.push_back(running.speed / (alone * running.spread));
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
    const Running& running = jobs_[j].running;
    const Profile& profile = workload_.profile(j, running.phase);
    double alone = type.speed;
    std::optional<double> demand_mib = profile.mem_used_mib;
    if (on_types_ != nullptr) {
      alone = device.alone[i].speed;
      demand_mib = on_types_->memory_mib(as_known(j), type);
      usage.solo_s[static_cast<std::size_t>(device.alone[i].source)] += seconds;
    }
    util_known &= profile.gpu_util_pct.has_value();
    memory_known &= demand_mib.has_value();
    const double busy = jobs_[j].record.replica ? options_.services->busy(j, running.speed) : 1;
    util += busy * profile.gpu_util_pct.value_or(0) / 100 * running.speed / alone;
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
