#include "live/run/live_backend.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>

#include <poll.h>

#include "sim/error.hpp"

namespace corun::live {

LiveBackend::LiveBackend(const ClusterSpec& spec, const corun::Workload& workload,
                         const JobsOnTypes* on_types, std::vector<JobCommand> commands,
                         Session& session, const Nvml& nvml, std::vector<std::size_t> gpus,
                         Sharing& sharing, LiveOptions options)
    : commands_(std::move(commands)),
      session_(session),
      nvml_(nvml),
      gpus_(std::move(gpus)),
      sharing_(sharing),
      options_(std::move(options)),
      origin_(monotonic_now()),
      arrivals_(workload),
      ledger_(spec, workload, on_types) {
  assert(commands_.size() == workload.jobs.size());
  assert(gpus_.size() == static_cast<std::size_t>(spec.gpu_count()));
  std::filesystem::create_directories(options_.output);
}

LiveBackend::~LiveBackend() { stop_all(); }

bool LiveBackend::advance(std::vector<Report>& out) {
  ledger_.next_instant();
  const std::size_t first = out.size();
  for (;;) {
    check_stop();
    take_ended(out);
    const Time now = clock();
    take_due(now, out);
    if (out.size() > first) {
      order_reports(std::span(out).subspan(first));
      now_ = now;
      return true;
    }
    // When all jobs are over, a policy's timers have no effect any more.
    if (ledger_.all_over() || (active_.empty() && arrivals_.over() && wakes_.empty())) return false;
    if (!active_.empty() && now >= next_sample_) {
      sample();
      next_sample_ = now + options_.sample_every;
    }
    wait_for_next();
  }
}

/// Stops all jobs and throws if the stop flag is set or the MPS daemon has ended.
void LiveBackend::check_stop() {
  if (options_.stop != nullptr && *options_.stop) {
    stop_all();
    throw LiveStopped{};
  }
  if (!sharing_.works()) {
    stop_all();
    throw DeviceError("the MPS daemon has ended by itself; all jobs were stopped");
  }
}

/// Removes ended jobs from their GPUs and starts jobs that waited there for memory and now fit.
void LiveBackend::take_ended(std::vector<Report>& out) {
  for (std::size_t a = 0; a < active_.size();) {
    if (active_[a].run == nullptr || !active_[a].run->poll()) {
      ++a;
      continue;
    }
    Active ended = std::move(active_[a]);
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(a));
    runs_.push_back(run_of(ended));
    out.push_back(ledger_.end(runs_.back()));
    let_in(ended.gpu);
    a = 0;  // let_in() may have started others
  }
}

/// Arrivals and timers up to now.
void LiveBackend::take_due(Time now, std::vector<Report>& out) {
  arrivals_.take(now, out, [](JobId) {});
  while (!wakes_.empty() && *wakes_.begin() <= now) {
    wakes_.erase(wakes_.begin());
    out.push_back({ReportKind::kTimer, kNoJob});
  }
}

/// Waits until a job has news, the next arrival, timer or sample, or a signal.
void LiveBackend::wait_for_next() {
  Time until = active_.empty() ? kNever : next_sample_;
  until = std::min(until, arrivals_.next());
  if (!wakes_.empty()) until = std::min(until, *wakes_.begin());
  std::vector<pollfd> watched;
  for (const Active& a : active_) {
    if (a.run == nullptr) continue;
    for (const int file : a.run->descriptors()) watched.push_back({file, POLLIN, 0});
  }
  // A signal ends the wait. At most one second, in case a signal came just before poll().
  const Duration wait = std::clamp(until - clock(), Duration{0}, Duration{std::chrono::seconds{1}});
  ::poll(watched.data(), watched.size(), static_cast<int>(wait.count() / 1'000'000) + 1);
}

void LiveBackend::start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) {
  assert(gpus.size() == 1);
  const GpuId gpu = gpus.front();
  const std::uint32_t group = ledger_.start(jobs, gpu, now_);
  const std::size_t first = active_.size();
  for (const JobId job : jobs) {
    Active newcomer;
    newcomer.job = job;
    newcomer.gpu = gpu;
    newcomer.group = group;
    active_.push_back(std::move(newcomer));
  }
  // Earlier jobs of the group count with their whole demand.
  std::vector<Active*> starting;
  for (std::size_t a = first; a < active_.size(); ++a) {
    if (may_start(active_[a])) {
      starting.push_back(&active_[a]);
      launch({&starting.back(), 1});
    } else {
      active_[a].deferred = true;
    }
  }
  for (Active* a : starting) a->run->start();
}

Preempted LiveBackend::preempt(JobId) { throw PreemptionAsked{}; }

/// Whether the job's demand fits beside the jobs that run or are about to start on its GPU.
bool LiveBackend::may_start(const Active& newcomer) const {
  double promised = 0;
  bool alone = true;
  for (const Active& other : active_) {
    if (other.gpu != newcomer.gpu || other.run == nullptr) continue;
    alone = false;
    promised += ledger_.alone().memory_mib(other.job, other.gpu).value_or(0);
  }
  const auto demand = ledger_.alone().memory_mib(newcomer.job, newcomer.gpu);
  if (alone || !demand) return true;
  const std::size_t gpu = gpus_[index(newcomer.gpu)];
  // Running jobs may hold more than their known demand, or may not have allocated all of it yet.
  const double held = std::max(nvml_.read(gpu).memory_used_mib, promised);
  return held + *demand + options_.memory_reserve_mib <= nvml_.gpus()[gpu].memory_mib;
}

void LiveBackend::launch(std::span<Active* const> starting) {
  for (Active* a : starting) {
    const JobCommand& command = commands_[index(a->job)];
    const int attempt = ledger_.record(a->job).ooms + 1;
    a->run = std::make_unique<JobRun>(
        session_, nvml_, gpus_[index(a->gpu)], command,
        options_.output + "/" + command.name + "." + std::to_string(attempt),
        sharing_.environment());
  }
}

/// Starts the jobs that wait on this GPU for memory and fit now.
void LiveBackend::let_in(GpuId gpu) {
  for (Active& a : active_) {
    if (a.gpu != gpu || a.run != nullptr || !may_start(a)) continue;
    Active* one = &a;
    launch({&one, 1});
    a.run->start();
  }
}

LiveRun LiveBackend::run_of(const Active& active) const {
  LiveRun run{active.job, active.gpu, active.group,         active.deferred,
              Time{0},    Time{0},    active.run->outcome()};
  const Ending& ending = run.outcome.ending;
  const bool began = ending.start != Time{0};
  run.start = began ? ending.start - origin_ : clock();
  run.exit = began ? ending.exit - origin_ : run.start;
  return run;
}

void LiveBackend::stop_all() {
  for (const Active& a : active_) {
    if (a.run != nullptr) a.run->stop();
  }
  for (Active& a : active_) {
    while (a.run != nullptr && !a.run->poll()) {
      pollfd watched{a.run->descriptors().front(), POLLIN, 0};
      ::poll(&watched, 1, 1000);
    }
  }
  for (const Active& a : active_) {
    if (a.run != nullptr) runs_.push_back(run_of(a));
  }
  active_.clear();
}

void LiveBackend::sample() {
  for (const Active& a : active_) {
    if (a.run != nullptr) a.run->sample();
  }
}

RunRecord LiveBackend::take_record() {
  RunRecord record = ledger_.take_record();
  for (std::size_t j = 0; j < commands_.size(); ++j) {
    record.unknown_memory_jobs +=
        !ledger_.alone().memory_mib(static_cast<JobId>(j), GpuId{0}).has_value();
  }
  return record;
}

}  // namespace corun::live
