#include "sim/engine/round_backend.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>

#include "sim/engine/memory_limit.hpp"

namespace corun::inline sim {

namespace {

/// The product of a rate and a round has rounding errors, which must not turn a whole number of steps into
/// one less.
constexpr double kRoundingOfSteps = 1 + 1e-15;

/// Jobs in rounds do not change.
constexpr auto kOnePhase = [](JobId) { return 0U; };

std::uint32_t place_of(std::span<const GpuId> gpus) {
  return static_cast<std::uint32_t>(index(gpus.front()));
}

}  // namespace

RoundBackend::RoundBackend(const ClusterSpec& spec, const Workload& workload, const World& world,
                           RoundOptions options)
    : spec_(spec),
      workload_(workload),
      world_(world),
      on_types_(world.on_types()),
      options_(options),
      round_s_(static_cast<double>(options.round.count()) / 1e9),
      state_(spec),
      arrivals_(workload),
      jobs_(workload.jobs.size()),
      progress_(workload.jobs.size()),
      groups_(static_cast<std::size_t>(spec.gpu_count())),
      recorder_(workload.jobs.size(), spec.gpu_count()) {}

bool RoundBackend::advance(std::vector<Report>& out) {
  recorder_.hand_over();
  const std::size_t first = out.size();
  const Time timer = timers_.empty() ? kNever : *timers_.begin();
  if (endings_.empty()) {
    const Time next = arrivals_.over() ? timer : arrivals_.next();
    if (next == kNever) return false;
    now_ = std::max(now_, next);
  } else {
    const Time reached = run_rounds(std::min(arrivals_.next(), timer));
    if (reached < kNever) {
      now_ = reached;
    } else {
      end_groups(out);
    }
  }
  arrivals_.take(now_, out, [this](JobId job) { arrive(job); });
  while (!timers_.empty() && *timers_.begin() <= now_) {
    timers_.erase(timers_.begin());
    out.push_back({ReportKind::kTimer, kNoJob});
  }
  order_reports(std::span(out).subspan(first));
  return true;
}

void RoundBackend::arrive(JobId id) {
  const JobSpec& job = workload_.jobs[index(id)];
  jobs_[index(id)] = JobRecord::of(job);
  if (!job.profile.mem_used_mib) recorder_.count_unknown_memory();
  Progress& p = progress_[index(id)];
  const bool counted = job.steps > 0 && job.steps_per_s > 0;
  p.left = std::max<std::int64_t>(counted ? job.steps : job.work.count(), 1);
  p.alone = counted ? job.steps_per_s : 1e9;
}

/// End of a round that is like all rounds since the anchor.
Time RoundBackend::end_of(Round round) const {
  const auto rounds = static_cast<double>(round - anchor_round_);
  return later(anchor_time_, from_seconds(rounds * lengths_.rbegin()->first));
}

/// Moves to the first end of a round at or after `due` and returns it. Returns kNever and does nothing if a
/// group ends before.
Time RoundBackend::run_rounds(Time due) {
  Round last = endings_.begin()->first - 1;
  if (last <= round_ || due == kNever || end_of(last) < due) return kNever;
  Round before = round_;  // its end is before `due`; the end of `last` is not
  while (last - before > 1) {
    const Round middle = before + (last - before) / 2;
    (end_of(middle) < due ? before : last) = middle;
  }
  round_ = last;
  return end_of(last);
}

/// Ends the next round in which a job is done. All rounds before it were alike.
void RoundBackend::end_groups(std::vector<Report>& out) {
  const Round round = endings_.begin()->first;
  const Time start = end_of(round - 1);
  struct Ended {
    Time at;
    std::uint32_t place;
  };
  std::vector<Ended> ended;
  while (!endings_.empty() && endings_.begin()->first == round) {
    const std::uint32_t place = endings_.begin()->second;
    Group& group = groups_[place];
    unplan(group);
    settle(group, round - 1);
    double longest_s = 0;
    for (const JobId job : group.jobs) {
      const Progress& p = progress_[index(job)];
      const double steps = static_cast<double>(std::min(p.per_round, p.left));
      longest_s = std::max(longest_s, p.will_oom ? to_seconds(spec_.oom.ramp) : steps / p.rate);
    }
    settle(group, round);
    ended.push_back({later(start, std::max(from_seconds(longest_s), kShortestRun)), place});
  }
  round_ = round;
  now_ = lengths_.empty() ? start : later(start, from_seconds(lengths_.rbegin()->first));
  for (const Ended& e : ended) now_ = std::max(now_, e.at);
  std::sort(ended.begin(), ended.end(), [this](const Ended& a, const Ended& b) {
    if (a.at != b.at) return a.at < b.at;
    return groups_[a.place].jobs.front() < groups_[b.place].jobs.front();
  });
  for (const Ended& e : ended) {
    Group& group = groups_[e.place];
    for (const JobId job : group.formed) {
      if (std::ranges::binary_search(group.jobs, job)) out.push_back(leave(group, job, e.at));
    }
    close(group, e.at);
  }
  anchor();
}

void RoundBackend::start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) {
  assert(std::ranges::all_of(gpus, [&](GpuId g) { return state_.gpu(g).residents.empty(); }));
  Group& group = groups_[place_of(gpus)];
  group = Group{};
  group.formed.assign(jobs.begin(), jobs.end());
  std::sort(group.formed.begin(), group.formed.end());
  group.jobs = group.formed;
  group.gpus.assign(gpus.begin(), gpus.end());
  group.start = now_;
  group.since = round_;
  const std::uint32_t number = next_group_++;
  for (const JobId job : jobs) {
    const double speed = slowest_alone(job, gpus);
    Progress& p = progress_[index(job)];
    p.group = gpus.front();
    p.at_start = p.left;
    p.will_oom = exceeds_memory(job, gpus, state_, workload_, world_, kOnePhase,
                                [this](JobId j) { return progress_[index(j)].will_oom; });
    JobRecord& record = jobs_[index(job)];
    if (!record.first_start) record.first_start = now_;
    record.begin_run(now_, gpus.front(), number);
    const auto work_ns = static_cast<double>(workload_.jobs[index(job)].work.count());
    record.whole_solo = later(Time::zero(), from_nanoseconds(work_ns / speed));
    if (work_ns > 0) record.whole_solo = std::max(record.whole_solo, kShortestRun);
    const Duration done = from_nanoseconds(p.kept_ns / speed);
    const Duration work = workload_.jobs[index(job)].work;
    record.ask_of_run(std::max(record.whole_solo - done, Duration::zero()),
                      std::max(work - from_nanoseconds(p.kept_ns), Duration::zero()));
    for (const GpuId g : gpus) state_.add(g, job, false);
  }
  plan(group);
  anchor();
}

Preempted RoundBackend::preempt(JobId job) {
  Group& group = groups_[index(progress_[index(job)].group)];
  unplan(group);
  settle(group, round_);
  leave(group, job, now_);
  if (group.jobs.empty()) {
    close(group, now_);
  } else {
    plan(group);
  }
  anchor();
  return Preempted::kReturned;  // a group ends with the round in which a job is done
}

RunRecord RoundBackend::take_record() {
  for (const JobId job : workload_.arrivals) recorder_.add(job, jobs_[index(job)]);
  return recorder_.take();
}

/// Computes rates and end of a group after a change of its jobs.
void RoundBackend::plan(Group& group) {
  // A gang of several types waits for its slowest member.
  std::vector<double> factors(group.jobs.size(), std::numeric_limits<double>::infinity());
  std::vector<std::pair<std::uint32_t, double>> types;  // number, speed
  if (group.jobs.size() > 1) group.provenance = Provenance::kAlone;
  for (const GpuId g : group.gpus) {
    const GpuType& type = state_.gpu_type(g);
    if (std::ranges::find(types, std::pair(type.id, type.speed)) != types.end()) continue;
    types.emplace_back(type.id, type.speed);
    speeds_.assign(group.jobs.size(), 1.0);
    if (group.jobs.size() > 1) {
      const Provenance provenance =
          world_.speeds({group.jobs, group.formed, kNoJob, type.id}, options_.noise_seed, speeds_);
      group.provenance = std::max(group.provenance, provenance);
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
      factors[i] = std::min(factors[i], speed_alone(group.jobs[i], type) * speeds_[i]);
    }
  }
  group.ends = std::numeric_limits<Round>::max();
  group.length_s = 0;
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    Progress& p = progress_[index(group.jobs[i])];
    if (p.will_oom) {
      p.per_round = 0;
      group.ends = group.since + 1;
      continue;
    }
    p.rate = p.alone * factors[i];
    const double steps = std::floor(p.rate * round_s_ * kRoundingOfSteps);
    p.per_round = steps >= static_cast<double>(p.left)
                      ? p.left
                      : std::max<std::int64_t>(static_cast<std::int64_t>(steps), 1);
    group.ends = std::min(group.ends, group.since + (p.left - 1) / p.per_round + 1);
    group.length_s = std::max(group.length_s, static_cast<double>(p.per_round) / p.rate);
  }
  endings_.emplace(group.ends, place_of(group.gpus));
  lengths_.emplace(group.length_s, place_of(group.gpus));
}

std::optional<Provenance> RoundBackend::true_speeds(GpuId gpu, std::vector<double>& out) const {
  const auto& residents = state_.gpu(gpu).residents;
  out.clear();
  Provenance source = Provenance::kAlone;
  for (const JobId job : residents) {
    const Progress& p = progress_[index(job)];
    out.push_back(p.will_oom ? 0 : p.rate / (p.alone * speed_alone(job, state_.gpu_type(gpu))));
    source = groups_[index(p.group)].provenance;
  }
  return source;
}

double RoundBackend::speed_alone(JobId job, const GpuType& type) const {
  return on_types_ == nullptr ? type.speed : on_types_->alone(job, type, types_seed()).speed;
}

double RoundBackend::slowest_alone(JobId job, std::span<const GpuId> gpus) const {
  double speed = std::numeric_limits<double>::infinity();
  for (const GpuId g : gpus) speed = std::min(speed, speed_alone(job, state_.gpu_type(g)));
  return speed;
}

void RoundBackend::unplan(const Group& group) {
  endings_.erase({group.ends, place_of(group.gpus)});
  lengths_.erase({group.length_s, place_of(group.gpus)});
}

/// Updates the progress of the group's jobs to the end of `round`.
void RoundBackend::settle(Group& group, Round round) {
  for (const JobId job : group.jobs) {
    Progress& p = progress_[index(job)];
    p.left -= std::min(p.left, p.per_round * (round - group.since));
  }
  group.since = round;
}

/// Takes a job off its GPUs at `end`: done, out of memory, or with work left.
Report RoundBackend::leave(Group& group, JobId job, Time end) {
  Progress& p = progress_[index(job)];
  JobRecord& record = jobs_[index(job)];
  Report report{ReportKind::kFinished, job, end};
  if (p.will_oom) {
    report.kind = ReportKind::kOutOfMemory;
    record.run_out_of_memory(end);
  } else if (p.left > 0) {
    report.kind = ReportKind::kReleased;
    keep_progress(job, end);
  } else {
    record.finish_run(end);
    group.episode.jobs.push_back(job);
  }
  const double stayed_s = to_seconds(end - group.start);
  const Profile& profile = workload_.jobs[index(job)].profile;
  const GpuType& type = state_.gpu_type(group.gpus.front());
  const std::optional<double> demand_mib = memory_demand(job, 0, type, workload_, world_);
  group.util_known &= profile.gpu_util_pct.has_value();
  group.memory_known &= demand_mib.has_value();
  if (on_types_ != nullptr) {
    for (const GpuId g : group.gpus) {
      const Alone alone = on_types_->alone(job, state_.gpu_type(g), types_seed());
      recorder_.usage().solo_s[static_cast<std::size_t>(alone.source)] += stayed_s;
    }
  }
  group.util_s += profile.gpu_util_pct.value_or(0) / 100 * to_seconds(record.run_solo);
  if (!p.will_oom) group.mem_s += demand_mib.value_or(0) / type.memory_mib * stayed_s;
  group.episode.unfinished += report.kind == ReportKind::kFinished ? 0 : 1;
  group.episode.solo_sum += record.run_solo;
  std::erase(group.jobs, job);
  for (const GpuId g : group.gpus) state_.remove(g, job);
  return report;
}

void RoundBackend::keep_progress(JobId job, Time end) {
  Progress& p = progress_[index(job)];
  JobRecord& record = jobs_[index(job)];
  const double speed = slowest_alone(job, groups_[index(p.group)].gpus);
  const Duration kept = from_seconds(static_cast<double>(p.at_start - p.left) / (p.alone * speed));
  const double kept_ns = static_cast<double>(kept.count()) * speed;
  p.kept_ns += kept_ns;
  record.preempt_run(end, kept, from_nanoseconds(kept_ns));
}

/// Records the usage and the episodes of a group without jobs left.
void RoundBackend::close(Group& group, Time end) {
  const Duration stayed = end - group.start;
  const auto gpus = static_cast<double>(group.gpus.size());
  UsageRecord& usage = recorder_.usage();
  for (std::size_t g = 0; g < group.gpus.size(); ++g) usage.busy += stayed;
  if (group.util_known) {
    usage.util_s += std::min(to_seconds(stayed), group.util_s) * gpus;
    usage.util_known_s += to_seconds(stayed) * gpus;
  }
  if (group.memory_known) {
    usage.mem_s += std::min(to_seconds(stayed), group.mem_s) * gpus;
    usage.mem_known_s += to_seconds(stayed) * gpus;
  }
  if (group.formed.size() > 1) {
    usage.corun_s[static_cast<std::size_t>(group.provenance)] += to_seconds(stayed) * gpus;
  }
  EpisodeRecord& episode = group.episode;
  episode.start = group.start;
  episode.end = end;
  const GpuId speaker = *std::min_element(group.gpus.begin(), group.gpus.end());
  for (const GpuId g : group.gpus) {
    episode.gpu = g;
    episode.primary = g == speaker;
    recorder_.add(episode);
  }
}

void RoundBackend::anchor() {
  anchor_time_ = now_;
  anchor_round_ = round_;
}

}  // namespace corun::inline sim
