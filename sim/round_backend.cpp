#include "sim/round_backend.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace corun {

namespace {

/// The product of a rate and a round is rounded a few times: a whole number of steps must not become
/// one less.
constexpr double kRounding = 1 + 1e-15;

/// What work takes at least, however little it is and however fast the GPU.
constexpr Duration kShortestRun{1};

std::uint32_t place_of(std::span<const GpuId> gpus) {
  return static_cast<std::uint32_t>(index(gpus.front()));
}

}  // namespace

RoundBackend::RoundBackend(const ClusterSpec& spec, const Workload& workload, const World& world,
                           RoundOptions options)
    : spec_(spec),
      workload_(workload),
      world_(world),
      options_(options),
      round_s_(static_cast<double>(options.round.count()) / 1e9),
      state_(spec),
      progress_(workload.jobs.size()),
      groups_(static_cast<std::size_t>(spec.gpu_count())) {
  record_.gpu_count = spec.gpu_count();
  record_.jobs.resize(workload.jobs.size());
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const JobSpec& job = workload.jobs[j];
    record_.jobs[j].submit = later(job.submit, Duration::zero());
    record_.jobs[j].work = job.work;
    record_.jobs[j].gpus = job.gpus;
    record_.unknown_memory_jobs += !job.profile.mem_used_mib.has_value();
    const bool counted = job.steps > 0 && job.steps_per_s > 0;
    progress_[j].left = std::max<std::int64_t>(counted ? job.steps : job.work.count(), 1);
    progress_[j].alone = counted ? job.steps_per_s : 1e9;
  }
}

bool RoundBackend::advance(std::vector<Report>& out) {
  hand_over();
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  const Time timer = timers_.empty() ? kNever : *timers_.begin();
  if (endings_.empty()) {
    const Time next = next_arrival() < kNever ? next_arrival() : timer;
    if (next == kNever) return false;
    now_ = std::max(now_, next);
  } else {
    const Time reached = run_rounds(std::min(next_arrival(), timer));
    if (reached < kNever) {
      now_ = reached;
    } else {
      end_groups(out);
    }
  }
  for (; next_arrival() <= now_; ++next_arrival_) {
    out.push_back({ReportKind::kArrived, workload_.arrivals[next_arrival_]});
  }
  while (!timers_.empty() && *timers_.begin() <= now_) {
    timers_.erase(timers_.begin());
    out.push_back({ReportKind::kTimer, kNoJob});
  }
  std::stable_sort(out.begin() + first, out.end(),
                   [](const Report& a, const Report& b) { return a.kind < b.kind; });
  return true;
}

/// What ended in the last advance() has been looked at by now.
void RoundBackend::hand_over() {
  std::ranges::move(episodes_, std::back_inserter(record_.episodes));
  episodes_.clear();
}

Time RoundBackend::next_arrival() const {
  return next_arrival_ < workload_.arrivals.size()
             ? workload_.jobs[index(workload_.arrivals[next_arrival_])].submit
             : kNever;
}

/// Of a round that is like those since the anchor.
Time RoundBackend::end_of(Round round) const {
  const auto rounds = static_cast<double>(round - anchor_round_);
  return later(anchor_time_, from_seconds(rounds * lengths_.rbegin()->first));
}

/// Moves to the first end of a round at or after `due` and returns it; kNever, and nothing done, where
/// a group ends before.
Time RoundBackend::run_rounds(Time due) {
  Round last = endings_.begin()->first - 1;
  if (last <= round_ || due == kNever || end_of(last) < due) return kNever;
  Round before = round_;  // ends before `due`, `last` does not
  while (last - before > 1) {
    const Round middle = before + (last - before) / 2;
    (end_of(middle) < due ? before : last) = middle;
  }
  round_ = last;
  return end_of(last);
}

/// The next round in which a job is done, and all that were like each other before it.
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
      longest_s = std::max(longest_s, p.doomed ? to_seconds(spec_.oom.ramp) : steps / p.rate);
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
  for (const GpuId g : gpus) {
    if (!state_.gpu(g).residents.empty()) throw std::logic_error("a round takes whole groups only");
  }
  Group& group = groups_[place_of(gpus)];
  group = Group{};
  group.formed.assign(jobs.begin(), jobs.end());
  std::sort(group.formed.begin(), group.formed.end());
  group.jobs = group.formed;
  group.gpus.assign(gpus.begin(), gpus.end());
  group.start = now_;
  group.since = round_;
  const double speed = slowest(gpus);
  const std::uint32_t number = next_group_++;
  for (const JobId job : jobs) {
    Progress& p = progress_[index(job)];
    p.group = gpus.front();
    p.at_start = p.left;
    JobRecord& record = record_.jobs[index(job)];
    if (!record.first_start) record.first_start = now_;
    record.last_start = now_;
    record.gpu = gpus.front();
    record.group = number;
    const auto work_ns = static_cast<double>(workload_.jobs[index(job)].work.count());
    record.whole_solo = later(Time::zero(), from_nanoseconds(work_ns / speed));
    if (work_ns > 0) record.whole_solo = std::max(record.whole_solo, kShortestRun);
    const Duration done = from_nanoseconds(p.kept_ns / speed);
    record.run_solo = std::max(record.whole_solo - done, Duration::zero());
    record.solo += record.run_solo;
    for (const GpuId g : gpus) state_.add(g, job, false);
  }
  mark_doomed(jobs, gpus);
  plan(group);
  anchor();
}

void RoundBackend::start_profiling(JobId, GpuId) {
  throw std::logic_error("no profiling segments in rounds");
}

void RoundBackend::start_probe(std::array<JobId, 2>, GpuId, Duration) {
  throw std::logic_error("no probes in rounds");
}

bool RoundBackend::preempt(JobId job) {
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
  return true;
}

RunRecord RoundBackend::take_record() {
  hand_over();
  return std::move(record_);
}

/// Rates and the end of a group whose company is new.
void RoundBackend::plan(Group& group) {
  speeds_.assign(group.jobs.size(), 1.0);
  if (group.jobs.size() > 1) {
    group.provenance = world_.speeds({group.jobs, group.formed}, options_.noise_seed, speeds_);
  }
  const double gpu = slowest(group.gpus);
  group.ends = std::numeric_limits<Round>::max();
  group.length_s = 0;
  for (std::size_t i = 0; i < group.jobs.size(); ++i) {
    Progress& p = progress_[index(group.jobs[i])];
    if (p.doomed) {
      p.per_round = 0;
      group.ends = group.since + 1;
      continue;
    }
    p.rate = p.alone * (gpu * speeds_[i]);
    const double steps = std::floor(p.rate * round_s_ * kRounding);
    p.per_round = steps >= static_cast<double>(p.left)
                      ? p.left
                      : std::max<std::int64_t>(static_cast<std::int64_t>(steps), 1);
    group.ends = std::min(group.ends, group.since + (p.left - 1) / p.per_round + 1);
    group.length_s = std::max(group.length_s, static_cast<double>(p.per_round) / p.rate);
  }
  endings_.emplace(group.ends, place_of(group.gpus));
  lengths_.emplace(group.length_s, place_of(group.gpus));
}

void RoundBackend::unplan(const Group& group) {
  endings_.erase({group.ends, place_of(group.gpus)});
  lengths_.erase({group.length_s, place_of(group.gpus)});
}

/// Brings the progress of its jobs up to the end of `round`.
void RoundBackend::settle(Group& group, Round round) {
  for (const JobId job : group.jobs) {
    Progress& p = progress_[index(job)];
    p.left -= std::min(p.left, p.per_round * (round - group.since));
  }
  group.since = round;
}

/// Off its GPUs at `end`: done, out of memory, or with work left.
Report RoundBackend::leave(Group& group, JobId job, Time end) {
  Progress& p = progress_[index(job)];
  JobRecord& record = record_.jobs[index(job)];
  Report report{ReportKind::kFinished, job};
  if (p.doomed) {
    report.kind = ReportKind::kOutOfMemory;
    record.finish = end;
    record.end = JobEnd::kFailed;  // stands unless a later attempt finishes
    ++record.ooms;
    record.solo -= record.run_solo;
    record.run_solo = Duration::zero();
  } else if (p.left > 0) {
    report.kind = ReportKind::kReleased;
    keep_progress(job, end);
  } else {
    record.finish = end;
    record.end = JobEnd::kFinished;
    group.episode.jobs.push_back(job);
  }
  const double stayed_s = to_seconds(end - group.start);
  const Profile& profile = workload_.jobs[index(job)].profile;
  group.util_known &= profile.gpu_util_pct.has_value();
  group.memory_known &= profile.mem_used_mib.has_value();
  group.util_s += profile.gpu_util_pct.value_or(0) / 100 * to_seconds(record.run_solo);
  if (!p.doomed) {
    group.mem_s += profile.mem_used_mib.value_or(0) /
                   state_.gpu_type(group.gpus.front()).memory_mib * stayed_s;
  }
  group.episode.solo_sum += record.run_solo;
  std::erase(group.jobs, job);
  for (const GpuId g : group.gpus) state_.remove(g, job);
  return report;
}

void RoundBackend::keep_progress(JobId job, Time end) {
  Progress& p = progress_[index(job)];
  JobRecord& record = record_.jobs[index(job)];
  const double speed = slowest(groups_[index(p.group)].gpus);
  record.solo -= record.run_solo;
  record.run_solo = from_seconds(static_cast<double>(p.at_start - p.left) / (p.alone * speed));
  record.solo += record.run_solo;
  p.kept_ns += static_cast<double>(record.run_solo.count()) * speed;
  record.ran += end - record.last_start;
  ++record.preemptions;
}

/// A group without jobs: what it leaves in the record.
void RoundBackend::close(Group& group, Time end) {
  const Duration stayed = end - group.start;
  const auto gpus = static_cast<double>(group.gpus.size());
  UsageRecord& usage = record_.usage;
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
  if (episode.jobs.empty()) return;  // only runs that ended in OOM or were preempted
  episode.start = group.start;
  episode.end = end;
  const GpuId speaker = *std::min_element(group.gpus.begin(), group.gpus.end());
  for (const GpuId g : group.gpus) {
    episode.gpu = g;
    episode.primary = g == speaker;
    episodes_.push_back(episode);
  }
}

/// In the order in which they are started, beside those that fit.
void RoundBackend::mark_doomed(std::span<const JobId> jobs, std::span<const GpuId> gpus) {
  double least_mib = std::numeric_limits<double>::infinity();
  for (const GpuId g : gpus) least_mib = std::min(least_mib, state_.gpu_type(g).memory_mib);
  double used_mib = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& demand = workload_.jobs[index(jobs[i])].profile.mem_used_mib;
    bool& doomed = progress_[index(jobs[i])].doomed;
    doomed = demand && used_mib + *demand > least_mib;
    for (std::size_t k = 0; k < i && !doomed; ++k) {
      doomed = !progress_[index(jobs[k])].doomed && !world_.fits_together(jobs[i], jobs[k]);
    }
    if (!doomed) used_mib += demand.value_or(0);
  }
}

double RoundBackend::slowest(std::span<const GpuId> gpus) const {
  double speed = std::numeric_limits<double>::infinity();
  for (const GpuId g : gpus) speed = std::min(speed, state_.gpu_type(g).speed);
  return speed;
}

void RoundBackend::anchor() {
  anchor_time_ = now_;
  anchor_round_ = round_;
}

}  // namespace corun
