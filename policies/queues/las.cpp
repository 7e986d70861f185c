#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/queues/preemptive_queue.hpp"

/// las: discretised two-dimensional least attained service, introduced by Tiresias (Gu et al., "Tiresias: A
/// GPU Cluster Manager for Distributed Deep Learning", NSDI 2019). It needs no run times and orders jobs by
///
///   attained service = GPUs x time on them
///
/// Queue 0 has the jobs with less than the first threshold, queue 1 those below the second, and so on.
/// Earlier queues go first; within a queue the job that came to it first. A running job that passes a
/// threshold moves down at that instant, and loses its GPUs to any waiting job that now goes before it.
/// Against starvation, a job that has waited `promote_after` times as long as it has been served goes back
/// to queue 0, and its service counts from 0 again.
///
/// The idea is the paper's; the rules of its published simulator, which differ in the order within a queue and in who
/// is preempted, are those of tiresias.cpp.
///
/// Departures from the paper: placement is that of the other queue policies (no profile of the skew of a
/// model's tensors), and there is no Gittins index.
namespace corun::inline policies {

namespace {

struct LasOptions : QueueOptions {
  std::vector<double> thresholds_s{18000};
  double promote_after = 8;
};

class Las final : public PreemptiveQueue {
 public:
  explicit Las(LasOptions options)
      : PreemptiveQueue(static_cast<const QueueOptions&>(options)),
        thresholds_(std::move(options.thresholds_s)),
        promote_after_(options.promote_after) {
    for (double& t : thresholds_) t *= 1e9;
    std::ranges::sort(thresholds_);
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    demote(view.now());
    promote(view.now());
    PreemptiveQueue::decide(view, out);
    Time next = kNever;
    if (!demotions_.empty()) next = demotions_.begin()->first;
    if (!promotions_.empty()) next = std::min(next, promotions_.begin()->first);
    // An earlier wake-up leads to another call, which can ask for this one.
    if (next < view.next_wake()) out.emplace_back(WakeAt{next});
  }

  void departed(JobId job, LogKind how, Time now) override {
    if (const auto at = jobs_.find(job); at != jobs_.end()) {
      demotions_.erase({at->second.due, job});
      if (how != LogKind::kPreempt) jobs_.erase(at);
    }
    PreemptiveQueue::departed(job, how, now);
  }

 protected:
  double rank(const JobView&) const override { return 0; }

  void enter(const JobView& job, Time now, QueueEntry& entry) override {
    const auto [at, is_new] = jobs_.try_emplace(job.id);
    Standing& s = at->second;
    if (is_new) {  // or back after its work was lost
      s.since = job.submit;
      s.forgiven = job.served;
    }
    s.ask = ask_of(job);
    s.served = job.served;
    entry.rank = static_cast<double>(s.queue);
    entry.since = s.since;
    s.entry = entry;
    const Duration had = s.served - s.forgiven;
    if (promote_after_ > 0 && s.queue > 0) {
      s.due = after(now, promote_after_ * static_cast<double>(had.count()));
      promotions_.insert({s.due, job.id});
    }
  }

  void starting(const ClusterView& view, const QueueEntry& entry,
                const std::vector<GpuId>& gpus) override {
    Standing& s = jobs_.at(entry.job);
    promotions_.erase({s.due, entry.job});
    expect_demotion(entry.job, s, view.now(), s.served - s.forgiven);
    PreemptiveQueue::starting(view, entry, gpus);
  }

 private:
  /// State of a job from its arrival to its end.
  struct Standing {
    std::size_t queue = 0;
    Time since{0};         ///< when it came to its queue
    Duration served{0};    ///< in runs that were preempted
    Duration forgiven{0};  ///< part of `served` that no longer counts
    GpuAsk ask;
    Time due = kNever;  ///< of the next demotion while it runs, of its promotion while it waits
    QueueEntry entry;   ///< while it waits
  };
  using Agenda = std::set<std::pair<Time, JobId>>;

  static Time after(Time now, double ns) {
    return later(now, from_nanoseconds(std::min(std::max(std::ceil(ns), 1.0), 1e18)));
  }

  /// `had`: time on its GPUs until now that counts.
  void expect_demotion(JobId job, Standing& s, Time now, Duration had) {
    s.due = kNever;
    if (s.queue == thresholds_.size()) return;
    s.due = after(now, thresholds_[s.queue] / s.ask.gang - static_cast<double>(had.count()));
    demotions_.insert({s.due, job});
  }

  void demote(Time now) {
    while (!demotions_.empty() && demotions_.begin()->first <= now) {
      const auto [due, job] = *demotions_.begin();
      demotions_.erase(demotions_.begin());
      Standing& s = jobs_.at(job);
      ++s.queue;
      s.since = due;
      const Running& run = *running(job);
      expect_demotion(job, s, due, s.served - s.forgiven + (due - run.start));
      rank_again(job, static_cast<double>(s.queue), due);
      retry();
    }
  }

  void promote(Time now) {
    while (!promotions_.empty() && promotions_.begin()->first <= now) {
      const auto [due, job] = *promotions_.begin();
      promotions_.erase(promotions_.begin());
      Standing& s = jobs_.at(job);
      s.queue = 0;
      s.since = due;
      s.forgiven = s.served;
      s.due = kNever;
      QueueEntry entry = s.entry;
      entry.rank = 0;
      entry.since = due;
      move(s.entry, entry, s.ask);
      s.entry = entry;
      retry();
    }
  }

  std::vector<double> thresholds_;  ///< ascending [GPU ns]
  double promote_after_;
  std::unordered_map<JobId, Standing> jobs_;
  Agenda demotions_;
  Agenda promotions_;
};

const ParametersOf<LasOptions>& las_parameters() {
  static const auto all =
      ParametersOf<LasOptions>()
          .number("thresholds_s", &LasOptions::thresholds_s,
                  {1e-6, 1e9, "attained service at which a job goes to the next queue [GPU s]"})
          .number("promote_after", &LasOptions::promote_after,
                  {0, 1e6,
                   "a job that has waited so many times as long as it was served goes back to the "
                   "first queue; 0: never"})
          .with(queue_parameters());
  return all;
}

}  // namespace

PolicyEntry las_entry() {
  return {.name = "las",
          .description =
              "no sharing: least attained service first, in queues, preemptive (idea of Tiresias, "
              "NSDI 2019; tiresias has its rules)",
          .needs = PolicyNeeds::kNothing,
          .parameters = las_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Las>(las_parameters().read(c.parameters));
          },
          .traits = {.preempts = true},
          .traits_with = [](const Parameters& p) { return queue_traits(p, {.preempts = true}); }};
}

}  // namespace corun::inline policies
