#include "sim/engine/control_loop.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "sim/error.hpp"

namespace corun::inline sim {

namespace {

/// Ends simulations in which jobs preempt each other for ever because every run loses its work.
constexpr int kMostPreemptions = 100'000;

/// The first empty GPU on which a job may run.
std::optional<GpuId> first_empty_gpu(const ClusterState& state, const JobView& job) {
  std::optional<GpuId> free;
  state.empty_gpus().each([&](GpuId g) {
    if (may_run_on(job, state.gpu_type(g))) free = g;
    return !free;
  });
  return free;
}

bool has_segments(ProfilingMode mode) {
  return mode == ProfilingMode::kEpoch || mode == ProfilingMode::kMinute;
}

bool goes_by_profiles(const LabelledPolicy& policy) {
  const Belief* belief = policy.policy.belief();
  return policy.traits.measures_profiles || (belief != nullptr && belief->needs_profile());
}

}  // namespace

ControlLoop::ControlLoop(ClusterBackend& backend, LabelledPolicy policy, JobSource jobs,
                         ControlOptions options)
    : backend_(backend),
      policy_(policy.policy),
      label_(std::move(policy.label)),
      traits_(policy.traits),
      options_(options),
      profiles_(has_segments(options.profiling) && goes_by_profiles(policy)),
      prober_(options.probes > 0 ? policy_.probe_planner() : nullptr),
      trial_runs_(backend.trial_runs()),
      source_(std::move(jobs)),
      jobs_(source_.jobs),
      waiting_(source_.jobs),
      named_(backend.state().gpus().size(), 0),
      probes_(prober_ != nullptr ? source_.jobs : 0, 0) {
  if ((profiles_ || prober_ != nullptr) && trial_runs_ == nullptr) {
    throw std::invalid_argument(
        "a control loop that profiles or probes, on a cluster without either");
  }
}

JobSource::JobSource(std::vector<JobView> list) : jobs(list.size()) {
  for (const JobView& job : list) {
    largest_gang = std::max(largest_gang, job.gpus);
    restricted |= job.gpu_models != 0;
  }
  job_view = [list = std::move(list)](JobId j) {
    JobView job = list[index(j)];
    job.id = j;
    return job;
  };
}

std::size_t ControlLoop::run(EventLog* log, RunObserver* observer) {
  log_ = log;
  observer_ = observer;
  std::vector<Report> reports;
  while (backend_.advance(reports)) {
    for (const Report& report : reports) take(report);
    reports.clear();
    show_late();
    show_episodes(0);
    show_probes();
    pass();
    if (observer_ != nullptr) observer_->instant_over(backend_.now(), backend_);
  }
  if (!waiting_.empty() || !to_profile_.empty()) {
    const std::size_t left = waiting_.jobs().size() + to_profile_.size();
    const JobId first = waiting_.empty() ? to_profile_.front() : waiting_.jobs().front();
    const int asked = jobs_[first].gpus;
    broken("progress", std::to_string(left) + (left == 1 ? " job was" : " jobs were") +
                           " left waiting on an idle cluster, the first is job " +
                           std::to_string(index(first)) + ", which asks for " +
                           std::to_string(asked) + (asked == 1 ? " GPU" : " GPUs"));
  }
  return passes_;
}

void ControlLoop::take(const Report& report) {
  const JobId job = report.job;
  left_ = report.left;
  if (!left_) show_late();
  changed_ |= report.kind != ReportKind::kTimer;
  while (!wakes_.empty() && *wakes_.begin() <= backend_.now()) {
    wakes_.erase(wakes_.begin());
    changed_ = true;
  }
  switch (report.kind) {
    case ReportKind::kArrived: {
      ++arrived_;
      JobView& job_view = jobs_.add(job);
      job_view = source_.job_view(job);
      if (job_view.service != nullptr && !lessons_) lessons_.emplace();
      note(LogKind::kArrive, job);
      if (profiles_) {
        to_profile_.push_back(job);
      } else {
        offer(job);
      }
      break;
    }
    case ReportKind::kFinished:
      departed(job, LogKind::kFinish);
      jobs_.erase(job);
      break;
    case ReportKind::kProfiled:
      show_phase(job);
      departed(job, LogKind::kProfiled);
      offer(job);
      break;
    case ReportKind::kProbed:
      show_phase(job);
      departed(job, LogKind::kProbed);
      offer(job);
      break;
    case ReportKind::kPhase:
      show_phase(job);
      note(LogKind::kPhase, job);
      break;
    case ReportKind::kReleased:
      set_back(job);
      break;
    case ReportKind::kOutOfMemory: {
      JobView& job_view = jobs_[job];
      if (job_view.resubmissions == options_.oom_retries) {
        departed(job, LogKind::kFail);
        jobs_.erase(job);
      } else {
        ++job_view.resubmissions;
        show_phase(job);
        departed(job, LogKind::kOom);
        enqueue(job);
      }
      break;
    }
    case ReportKind::kFailed:
      departed(job, LogKind::kFail);
      jobs_.erase(job);
      break;
    case ReportKind::kTimer:
      break;
  }
}

void ControlLoop::departed(JobId job, LogKind how, const std::optional<Reason>& reason) {
  ++departures_;
  jobs_[job].started.reset();
  note(how, job, {}, reason);
  policy_.departed(job, how, backend_.now());
  if (!lessons_) return;
  const auto learnt = lessons_->left(job, how == LogKind::kFinish, backend_, jobs_);
  if (learnt) policy_.probe_ended(*learnt);
}

/// Brings the view of a job to its present phase.
void ControlLoop::show_phase(JobId job) {
  JobView& job_view = jobs_[job];
  const std::uint32_t phase = backend_.phase(job);
  if (static_cast<std::uint32_t>(job_view.phase) == phase) return;
  job_view.phase = static_cast<int>(phase);
  job_view.profile = source_.profile_in(job, phase);
  policy_.changed(job_view, backend_.now());
}

/// To the policy's queue, or to a probe first.
void ControlLoop::offer(JobId job) {
  if (prober_ != nullptr && probes_[index(job)] < options_.probes) {
    unprobed_.push_back(job);
  } else {
    enqueue(job);
  }
}

void ControlLoop::enqueue(JobId job) {
  waiting_.push(job);
  policy_.arrived(jobs_[job], backend_.now());
}

/// Those of the finished episodes from number `first` on.
void ControlLoop::show_episodes(std::size_t first) {
  for (const EpisodeRecord& episode : backend_.finished_episodes().subspan(first)) {
    if (!episode.primary || episode.jobs.empty()) continue;
    const auto ps = episode.ps();
    if (!ps) continue;
    members_.clear();
    bool worked = true;  // a run without work says nothing about costs
    for (const JobId j : episode.jobs) {
      const JobRecord& r = backend_.record(j);
      const Duration corun = r.finish - r.last_start;
      worked &= r.run_solo > Duration::zero();
      members_.push_back({j, r.run_solo, corun, individual_slowdown(corun, r.run_solo)});
    }
    if (!worked) continue;
    const EpisodeOutcome outcome{members_,    episode.end - episode.start, *ps, episode.together,
                                 episode.end, episode.unfinished};
    policy_.corun_ended(outcome);
    if (observer_ != nullptr) observer_->episode_ended(episode.gpu, outcome);
  }
}

void ControlLoop::show_probes() {
  if (prober_ == nullptr) return;
  for (const ProbeRecord& p : trial_runs_->finished_probes()) {
    if (p.measured) policy_.probe_ended({p.jobs[0], p.jobs[1], p.speeds[0], p.speeds[1], p.end});
  }
}

void ControlLoop::start_profiling() {
  // A job whose GPU types are taken lets others pass.
  for (auto at = to_profile_.begin();
       at != to_profile_.end() && !backend_.state().empty_gpus().empty();) {
    const JobId job = *at;
    const std::optional<GpuId> free = first_empty_gpu(backend_.state(), jobs_[job]);
    if (!free) {
      ++at;
      continue;
    }
    at = to_profile_.erase(at);
    trial_runs_->start_profiling(job, *free);
    jobs_[job].started = backend_.now();
    note(LogKind::kProfile, job, {&*free, 1});
  }
}

void ControlLoop::start_probes() {
  while (!unprobed_.empty() && !backend_.state().empty_gpus().empty()) {
    const auto pair = prober_->choose(unprobed_, waiting_.jobs());
    if (!pair) {  // no co-runner is left to probe with
      for (const JobId job : unprobed_) {
        probes_[index(job)] = options_.probes;
        enqueue(job);
      }
      unprobed_.clear();
      return;
    }
    auto [a, b] = *pair;
    const auto is_unprobed = [this](JobId j) {
      return std::find(unprobed_.begin(), unprobed_.end(), j) != unprobed_.end();
    };
    const bool may_be_probed = (is_unprobed(a) && (is_unprobed(b) || waiting_.contains(b))) ||
                               (is_unprobed(b) && waiting_.contains(a));
    if (a == b || !may_be_probed || jobs_[a].gpus != 1 || jobs_[b].gpus != 1) {
      broken("probe", "jobs " + std::to_string(index(a)) + " and " + std::to_string(index(b)));
    }
    if (jobs_[b].submit < jobs_[a].submit)
      std::swap(a, b);  // the older one's memory is admitted first
    const GpuId free = first_empty_gpu(backend_.state(), jobs_[a]).value();  // jobs name no types
    for (const JobId job : {a, b}) {
      if (std::erase(unprobed_, job) == 0) waiting_.erase(job);
      ++probes_[index(job)];
      jobs_[job].started = backend_.now();
      note(LogKind::kProbe, job, {&free, 1});
    }
    trial_runs_->start_probe({a, b}, free, options_.probe_length);
  }
}

bool ControlLoop::may_reallocate() {
  if (!changed_) return false;
  const Time now = backend_.now();
  const ClusterState& state = backend_.state();
  const bool idle = static_cast<std::size_t>(state.empty_gpus().size()) == state.gpus().size();
  const Time due = later(last_reallocation_, options_.reallocate);
  if (last_reallocation_ > Time::zero() && now < due && !(idle && arrived_ == source_.jobs)) {
    backend_.wake_at(due);
    return false;
  }
  last_reallocation_ = now;
  changed_ = false;
  return true;
}

/// Of the present round, by what has started in it.
void ControlLoop::end_round() {
  round_end_ =
      later(round_begin_, options_.round_noise.length(options_.round, round_starts_, round_begin_));
}

/// The first begin of a round at or after now.
Time ControlLoop::next_round() {
  const Time now = backend_.now();
  if (options_.round == Duration::zero() || options_.round_noise.none()) {
    return round_up(now, options_.round);
  }
  if (now == round_begin_) return now;
  return now <= round_end_ ? round_end_
                           : later(round_end_, round_up(now - round_end_, options_.round));
}

void ControlLoop::pass() {
  const auto nobody_waits = [this] {
    return waiting_.empty() && (!traits_.moves_running_jobs ||
                                static_cast<std::size_t>(backend_.state().empty_gpus().size()) ==
                                    backend_.state().gpus().size());
  };
  const auto nothing_to_do = [&] {
    return nobody_waits() && to_profile_.empty() && unprobed_.empty();
  };
  if (options_.reallocate == Duration::zero() && nothing_to_do()) return;
  const Time round = next_round();
  if (round != backend_.now()) {
    if (!nothing_to_do()) backend_.wake_at(round);
    return;
  }
  if (options_.reallocate > Duration::zero() && !may_reallocate()) return;
  if (nothing_to_do()) return;
  if (!options_.round_noise.none() && round_begin_ != backend_.now()) {
    round_begin_ = backend_.now();
    round_starts_ = 0;
    end_round();
  }
  start_profiling();
  start_probes();
  if (nobody_waits()) return;
  ++passes_;
  for (;;) {
    decisions_.clear();
    policy_.decide(ClusterView(backend_.now(), options_.start, waiting_.jobs(), jobs_,
                               backend_.state(), departures_, source_.largest_gang, passes_,
                               wakes_.empty() ? kNever : *wakes_.begin(), source_.restricted),
                   decisions_);
    bool acted = false;
    gone_.clear();
    for (Decision& decision : decisions_) {
      if (auto* const start = std::get_if<StartGroup>(&decision); start && !gone_.empty()) {
        const auto is_gone = [&](JobId j) { return std::ranges::find(gone_, j) != gone_.end(); };
        if (std::erase_if(start->jobs, is_gone) > 0 && start->jobs.empty()) continue;
      }
      std::visit([this](const auto& d) { apply(d); }, decision);
      acted |= !std::holds_alternative<WakeAt>(decision);
    }
    if (!acted || waiting_.empty()) return;
  }
}

void ControlLoop::apply(const StartGroup& decision) {
  const ClusterState& state = backend_.state();
  const auto job_text = [](JobId j) { return "job " + std::to_string(index(j)); };
  const auto gpu_text = [](GpuId g) { return "GPU " + std::to_string(index(g)); };
  if (decision.jobs.empty()) broken("waiting", "a group without jobs");
  for (auto j = decision.jobs.begin(); j != decision.jobs.end(); ++j) {
    if (!waiting_.contains(*j)) broken("waiting", job_text(*j) + " is not waiting");
    if (std::find(decision.jobs.begin(), j, *j) != j) {
      broken("waiting", job_text(*j) + " is named twice");
    }
    const JobView& asks = jobs_[*j];
    if (!may_have(asks, decision.gpus.size())) {
      const std::string range = asks.gpus_max == 0
                                    ? ""
                                    : " (or " + std::to_string(asks.gpus_min) + " to " +
                                          std::to_string(asks.gpus_max) + ")";
      broken("gang size", job_text(*j) + " asked for " + std::to_string(asks.gpus) + range +
                              " GPUs and got " + std::to_string(decision.gpus.size()));
    }
  }
  ++starts_;
  const std::vector<GpuState>& all = state.gpus();
  const auto limit = state.spec().max_jobs_per_gpu;
  const auto jobs = static_cast<int>(decision.jobs.size());
  const bool on_empty_gpus = options_.start == StartMode::kGroup && !traits_.always_colocates;
  for (const GpuId g : decision.gpus) {
    if (index(g) >= all.size()) broken("known GPU", gpu_text(g) + " does not exist");
    if (std::exchange(named_[index(g)], starts_) == starts_) {
      broken("known GPU", gpu_text(g) + " is named twice");
    }
    for (std::size_t n = 0; source_.restricted && n < decision.jobs.size(); ++n) {
      const JobId j = decision.jobs[n];
      if (!may_run_on(jobs_[j], state.gpu_type(g))) {
        broken("GPU type", job_text(j) + " may not run on " + state.gpu_type(g).name +
                               ", the type of " + gpu_text(g));
      }
    }
    if (state.empty_gpus().contains(g) && (!limit || *limit >= jobs)) continue;
    const GpuState& gpu = all[index(g)];
    if (gpu.profiling) broken("exclusive GPU", gpu_text(g) + " is profiling a job");
    if (on_empty_gpus && !gpu.residents.empty()) {
      broken("group start", gpu_text(g) + " still has a resident");
    }
    const int after = static_cast<int>(gpu.residents.size()) + jobs;
    if (limit && after > *limit) {
      broken("over-commit", gpu_text(g) + " would hold " + std::to_string(after) +
                                " jobs, cluster.max_jobs_per_gpu is " + std::to_string(*limit));
    }
  }
  for (const JobId j : decision.jobs) {
    waiting_.erase(j);
    jobs_[j].started = backend_.now();
    note(LogKind::kStart, j, decision.gpus, decision.reason);
  }
  backend_.start_group(decision.jobs, decision.gpus);
  if (lessons_) lessons_->started(decision.jobs, decision.gpus, backend_, jobs_);
  if (options_.round_noise.none()) return;
  round_starts_ += static_cast<int>(decision.jobs.size());
  end_round();
}

/// Takes a running job off its GPUs. A job that has finished instead has left the system.
Preempted ControlLoop::take_off(JobId job, bool resizes) {
  const char* const rule = resizes ? "resize" : "preemption";
  const auto text = [job] { return "job " + std::to_string(index(job)); };
  if (!jobs_.contains(job)) broken(rule, text() + " is not in the system");
  const JobRecord& record = backend_.record(job);
  const auto& residents = backend_.state().gpu(record.gpu).residents;
  if (std::find(residents.begin(), residents.end(), job) == residents.end()) {
    broken(rule, text() + " does not run");
  }
  if (record.last_start == backend_.now()) {
    broken(rule, text() + " has started at this very instant");
  }
  const JobView& view = jobs_[job];
  if (view.preemptions + view.resizes == kMostPreemptions) {
    broken("progress", text() + " has been preempted " + std::to_string(kMostPreemptions) +
                           " times: does a run last long enough to make up for what preemption "
                           "costs?");
  }
  const std::size_t episodes = backend_.finished_episodes().size();
  const Preempted what = resizes ? backend_.preempt_to_resize(job) : backend_.preempt(job);
  if (what == Preempted::kRefused) {
    broken(rule, text() + (resizes ? " cannot be resized here, or is being profiled or probed"
                                   : " is being profiled or probed"));
  }
  if (what == Preempted::kFinished) {
    departed(job, LogKind::kFinish);
    show_episodes(episodes);
    jobs_.erase(job);
    gone_.push_back(job);
    changed_ = true;  // the policy thought that the job goes on, and may decide otherwise now
    backend_.wake_at(backend_.now());
  }
  return what;
}

void ControlLoop::apply(const Preempt& decision) {
  for (const JobId job : decision.jobs) {
    if (take_off(job, false) == Preempted::kReturned) set_back(job, decision.reason);
  }
}

void ControlLoop::apply(const Resize& decision) {
  if (take_off(decision.job, true) == Preempted::kFinished) return;
  departed(decision.job, LogKind::kResize, decision.reason);
  show_phase(decision.job);
  JobView& job_view = jobs_[decision.job];
  ++job_view.resizes;
  job_view.served = backend_.record(decision.job).ran;
  waiting_.push(decision.job);
  apply(StartGroup{{decision.job}, decision.gpus, decision.reason});
}

/// For a job that has left its GPUs with its progress.
void ControlLoop::set_back(JobId job, const std::optional<Reason>& reason) {
  departed(job, LogKind::kPreempt, reason);
  show_phase(job);
  JobView& job_view = jobs_[job];
  ++job_view.preemptions;
  job_view.served = backend_.record(job).ran;
  enqueue(job);
}

void ControlLoop::apply(const WakeAt& decision) {
  if (decision.at <= backend_.now() || decision.at == kNever) {
    broken("future timer", "asked to be woken at " + std::to_string(decision.at.count()) +
                               " ns, it is " + std::to_string(backend_.now().count()) + " ns");
  }
  if (wakes_.insert(decision.at).second) backend_.wake_at(decision.at);
}

void ControlLoop::note(LogKind kind, JobId job, std::span<const GpuId> gpus,
                       const std::optional<Reason>& reason) {
  if (left_) {
    late_.push_back({*left_, kind, job, {}, reason});
    return;
  }
  if (log_ != nullptr) {
    log_->push_back({backend_.now(), kind, job, {gpus.begin(), gpus.end()}, reason});
  }
  if (observer_ != nullptr) observer_->event(backend_.now(), kind, job, gpus);
}

/// Events of jobs that left their GPUs before they were reported, in order of time.
void ControlLoop::show_late() {
  left_.reset();
  if (late_.empty()) return;
  std::ranges::stable_sort(late_, {}, &LogEntry::at);
  for (std::size_t i = 0; i < late_.size(); ++i) {
    const LogEntry& entry = late_[i];
    if (observer_ != nullptr) observer_->event(entry.at, entry.kind, entry.job, {});
    const Time next = i + 1 == late_.size() ? backend_.now() : late_[i + 1].at;
    if (observer_ != nullptr && next > entry.at) observer_->instant_over(entry.at, backend_);
  }
  if (log_ != nullptr) std::ranges::move(late_, std::back_inserter(*log_));
  late_.clear();
}

void ControlLoop::broken(const char* rule, const std::string& found) const {
  throw PolicyError(label_, rule, found);
}

}  // namespace corun::inline sim
