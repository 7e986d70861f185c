#include "evaluation/validation/policy_replay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corun::inline evaluation {

namespace {

/// Decides who runs in the next round.
class RoundScheduler {
 public:
  RoundScheduler(const RoundWorkload& workload, SharePolicy& policy, double round_s,
                 const RoundRules& rules)
      : workload_(&workload),
        policy_(&policy),
        half_round_s_(round_s / 2),
        rules_(rules),
        jobs_(workload.jobs.size()) {}

  /// Those who run from `now` on; leases of others have ended.
  void begin_round(const std::vector<std::size_t>& running, double now) {
    for (Lease& lease : leases_) lease.goes_on = false;
    for (const std::size_t j : running) {
      const auto known = std::ranges::find(leases_, j, &Lease::job);
      if (known == leases_.end()) {
        leases_.push_back({j, now, true});
      } else {
        known->goes_on = true;
      }
    }
    for (const Lease& lease : leases_) {
      if (lease.goes_on) continue;
      jobs_[lease.job].received_s += now - lease.since_s;
      total_s_ += now - lease.since_s;
    }
    std::erase_if(leases_, [](const Lease& lease) { return !lease.goes_on; });
  }

  std::vector<std::size_t> decide(double now, const std::vector<ExecutingJob>& executing,
                                  const std::vector<double>& finish_s) {
    const bool changed = admit(now, finish_s);
    if (changed) is_due_ = true;
    if (is_due_ && (last_reset_s_ < 0 || now - last_reset_s_ >= rules_.reset_s)) reset(now);
    if (changed) share(now, executing);
    double total = total_s_;
    std::vector<double> received(jobs_.size(), 0);
    for (const std::size_t j : active_) received[j] = jobs_[j].received_s;
    for (const Lease& lease : leases_) {
      const double present = now - std::max(lease.since_s, last_reset_s_);
      received[lease.job] += present;
      total += present;
    }
    const auto priority = [&](std::size_t j) { return jobs_[j].share / (received[j] / total); };
    std::vector<std::size_t> order = active_;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const double first = priority(a);
      const double second = priority(b);
      if (first != second) return first > second;
      if (jobs_[a].owed_s != jobs_[b].owed_s) return jobs_[a].owed_s > jobs_[b].owed_s;
      return jobs_[a].share > jobs_[b].share;
    });
    std::vector<std::size_t> chosen;
    int free = rules_.gpus;
    for (const std::size_t j : order) {
      if (jobs_[j].share <= 0 || workload_->jobs[j].gpus > free) continue;
      free -= workload_->jobs[j].gpus;
      chosen.push_back(j);
    }
    return chosen;
  }

 private:
  struct Job {
    double received_s = 0;
    double owed_s = 0;
    double share = 0;
  };
  struct Lease {
    std::size_t job = 0;
    double since_s = 0;
    bool goes_on = true;
  };

  bool admit(double now, const std::vector<double>& finish_s) {
    bool changed = false;
    while (arrived_ < jobs_.size() &&
           workload_->jobs[arrived_].arrival_s + rules_.submission_s <= now) {
      jobs_[arrived_].received_s = half_round_s_;
      active_.push_back(arrived_++);
      changed = true;
    }
    const std::size_t gone =
        std::erase_if(active_, [&](std::size_t j) { return finish_s[j] <= now; });
    return changed || gone > 0;
  }

  void reset(double now) {
    total_s_ = 0;
    for (const std::size_t j : active_) {
      Job& job = jobs_[j];
      job.owed_s +=
          job.share * (now - std::max(last_reset_s_, 0.0)) - (job.received_s - half_round_s_);
      job.received_s = half_round_s_;
      total_s_ += half_round_s_;
    }
    last_reset_s_ = now;
    is_due_ = false;
  }

  void share(double now, const std::vector<ExecutingJob>& executing) {
    if (active_.empty()) return;
    std::vector<SharedJob> jobs;
    for (const std::size_t j : active_) {
      jobs.push_back({j, workload_->jobs[j].gpus, now - workload_->jobs[j].arrival_s,
                      executing[j].steps_left(), executing[j].known_rate()});
    }
    const std::vector<double> x = policy_->shares(jobs, rules_.gpus);
    for (std::size_t at = 0; at < active_.size(); ++at) jobs_[active_[at]].share = x[at];
  }

  const RoundWorkload* workload_;
  SharePolicy* policy_;
  double half_round_s_;
  RoundRules rules_;
  std::vector<Job> jobs_;
  std::vector<std::size_t> active_;  ///< arrived and not ended, in order of arrival
  std::vector<Lease> leases_;
  std::size_t arrived_ = 0;
  double total_s_ = 0;  ///< received by all, also by those who have left since the reset
  double last_reset_s_ = -1;
  bool is_due_ = false;
};

}  // namespace

PolicyReplay replay_policy(const RoundWorkload& workload, SharePolicy& policy,
                           const RunParameters& p, RunDraw draw, const RoundRules& rules) {
  std::vector<ExecutingJob> jobs;
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    jobs.emplace_back(workload, j, p, draw.job_factor[j], rules.limit);
  }
  PolicyReplay replay;
  replay.finish_s.assign(jobs.size(), std::numeric_limits<double>::infinity());
  RoundScheduler scheduler(workload, policy, p.round_s, rules);
  double now = std::max(draw.first_round_s, workload.jobs.front().arrival_s + rules.submission_s);
  std::vector<std::size_t> next = scheduler.decide(now, jobs, replay.finish_s);
  std::vector<bool> ran(jobs.size(), false);
  std::size_t ended = 0;
  while (ended < jobs.size()) {
    const std::vector<std::size_t> running = std::move(next);
    scheduler.begin_round(running, now);
    const auto starts = std::ranges::count_if(running, [&](std::size_t j) { return !ran[j]; });
    const double length = draw.next_round_s(p.round_s, static_cast<int>(starts));
    std::vector<bool> runs(jobs.size(), false);
    for (const std::size_t j : running) {
      runs[j] = true;
      if (!std::isinf(replay.finish_s[j])) continue;
      if (const auto end = jobs[j].run_round(length, !ran[j])) {
        replay.finish_s[j] = now + *end;
        ++ended;
      }
    }
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (ran[j] && !runs[j]) jobs[j].end_lease(rules.rate_weight);
    }
    ran = std::move(runs);
    next = scheduler.decide(now + p.round_s / 2, jobs, replay.finish_s);
    now += length;
    ++replay.rounds;
  }
  return replay;
}

}  // namespace corun::inline evaluation
