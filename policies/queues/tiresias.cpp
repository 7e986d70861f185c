#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/queues/counted_queue.hpp"
#include "policies/queues/gittins.hpp"

/// tiresias: the scheduler of Tiresias (Gu et al., "Tiresias: A GPU Cluster Manager for Distributed Deep Learning",
/// NSDI 2019) as its published simulator has it: discretised least attained service, or with a sample of services the
/// Gittins index. It needs no run times.
///
///   1. Queue 0 has the jobs with less attained service than the first threshold, queue 1 those below the second, and
///      so on. A running job that has reached its threshold goes to the end of the next queue, at most one queue per
///      event. Attained is GPUs x time executed, or time executed alone (`attained: time`).
///   2. With `promote_after` f, a waiting job below queue 0 goes to the end of queue 0 when it has waited f times as
///      long as it has executed, both since its last promotion. Its executed time counts from 0 again.
///   3. The jobs take GPUs in the order of the queues, within one from first to last (counted_queue.hpp): a job
///      that does not fit holds up nobody.
///   4. Then in each queue the running jobs move before the waiting ones; both keep their order.
///   With `services_s` each queue is sorted before step 3 by the Gittins index, largest first, then by submit time.
///
/// `rules: paper` (default) moves a job down at the instant at which it reaches its threshold. `rules: simulator` agrees
/// with the simulator to the second, with its faults: times are whole seconds; the next event is planned as if
/// a job had (threshold - time executed) / GPUs to go, which is late for a gang, for the time executed is not
/// multiplied by the GPUs; and GittinsFormula::kSimulator.
///
/// `within: submit` is the policy tiresias of Lucid's simulator (Hu et al., ASPLOS 2023): within a queue jobs go by
/// submit time, of equals running ones first. `within: entry` is the policy tiresias of Pollux' simulator (Qiao et al., OSDI
/// 2021): step 4 is left out, so that a queue stays in the order in which its jobs came to it.
///
/// Departures from the paper: there is no profile of the skew of a model's tensors, which it places by; quantum
/// and sample of the Gittins index are given, not learned.
namespace corun::inline policies {

namespace {

enum class Attained : std::uint8_t { kService, kTime };
enum class Within : std::uint8_t { kQueue, kSubmit, kEntry };
enum class Rules : std::uint8_t { kPaper, kSimulator };

struct TiresiasOptions : CountedOptions {
  Attained attained = Attained::kService;
  std::vector<double> thresholds_s{3250, 7200};
  double promote_after = 0;
  Within within = Within::kQueue;
  std::vector<double> services_s;
  double quantum_s = 3250;
  Rules rules = Rules::kPaper;
};

class Tiresias final : public CountedQueue {
 public:
  explicit Tiresias(const TiresiasOptions& options)
      : CountedQueue(options.placing),
        options_(options),
        queues_(options.thresholds_s.size() + 1),
        index_(options.services_s, options.quantum_s,
               options.rules == Rules::kSimulator ? GittinsFormula::kSimulator
                                                  : GittinsFormula::kDefinition) {
    for (const double t : options.thresholds_s) thresholds_.push_back(from_seconds(t));
    std::ranges::sort(thresholds_);
  }

  void arrived(const JobView& job, Time now) override {
    if (const auto [at, is_new] = jobs_.try_emplace(job.id); is_new) {
      Standing& s = at->second;
      s.gang = options_.attained == Attained::kTime ? 1 : job.gpus;
      s.submit = job.submit;
      s.checked = now;
      arrivals_.push_back(job.id);
      queues_[0].push_back(job.id);
    }
    CountedQueue::arrived(job, now);
  }

  void departed(JobId job, LogKind how, Time now) override {
    if (const auto at = jobs_.find(job); at != jobs_.end()) {
      Standing& s = at->second;
      if (s.runs) settle(s, now);
      s.runs = false;
      if (how == LogKind::kFinish || how == LogKind::kFail) {
        std::erase(queues_[s.queue], job);
        std::erase(arrivals_, job);
        jobs_.erase(at);
      }
    }
    CountedQueue::departed(job, how, now);
  }

 protected:
  void order(const ClusterView& view, std::vector<JobId>& jobs) override {
    for (const JobId job : arrivals_) update(job, view.now());
    if (options_.within == Within::kSubmit) {
      for (const Running& r : running()) jobs.push_back(r.job);
      jobs.insert(jobs.end(), view.waiting().begin(), view.waiting().end());
      std::ranges::stable_sort(jobs, {}, [this](JobId j) {
        const Standing& s = jobs_.at(j);
        return std::pair(s.queue, s.submit);
      });
      return;
    }
    for (std::vector<JobId>& queue : queues_) {
      if (!options_.services_s.empty()) {
        std::ranges::stable_sort(queue, {}, [this](JobId j) {
          const Standing& s = jobs_.at(j);
          return std::pair(-s.index, s.submit);
        });
      }
      jobs.insert(jobs.end(), queue.begin(), queue.end());
    }
  }

  void counted(const ClusterView&, std::span<const JobId> jobs,
               const std::vector<bool>& takes) override {
    for (std::size_t j = 0; j < jobs.size(); ++j) jobs_.at(jobs[j]).runs = takes[j];
    if (options_.within == Within::kEntry) return;
    for (std::vector<JobId>& queue : queues_) {
      std::stable_partition(queue.begin(), queue.end(),
                            [this](JobId j) { return jobs_.at(j).runs; });
    }
  }

  void unplaced(JobId job) override { jobs_.at(job).runs = false; }

  Time next(const ClusterView& view) override {
    Time first = kNever;
    for (const JobId job : arrivals_) first = std::min(first, due(jobs_.at(job), view.now()));
    return first;
  }

 private:
  /// State of a job from its arrival to its end.
  struct Standing {
    std::size_t queue = 0;
    int gang = 1;  ///< factor of executed time in attained service
    Time submit{0};
    bool runs = false;
    Time checked{0};       ///< until then `executed` and `waited` count
    Duration executed{0};  ///< since its last promotion
    Duration waited{0};    ///< since its last promotion, while `executed` was above 0
    double index = 0;      ///< Gittins
  };

  static void settle(Standing& s, Time now) {
    if (s.runs) {
      s.executed += now - s.checked;
    } else if (s.executed > Duration::zero()) {
      s.waited += now - s.checked;
    }
    s.checked = now;
  }

  static double attained_ns(const Standing& s) {
    return static_cast<double>(s.executed.count()) * s.gang;
  }

  /// The wait after which a job is promoted.
  Duration patience(const Standing& s) const {
    const double ns = options_.promote_after * static_cast<double>(s.executed.count());
    if (options_.rules == Rules::kPaper) return from_nanoseconds(std::ceil(ns));
    return from_seconds(std::floor(ns / 1e9));
  }

  bool may_rise(const Standing& s) const {
    return options_.promote_after > 0 && !s.runs && s.queue > 0 && s.executed > Duration::zero();
  }

  void go_to(std::size_t queue, JobId job, Standing& s) {
    std::erase(queues_[s.queue], job);
    s.queue = queue;
    queues_[queue].push_back(job);
  }

  void update(JobId job, Time now) {
    Standing& s = jobs_.at(job);
    settle(s, now);
    if (s.runs) {
      if (s.queue < thresholds_.size() &&
          attained_ns(s) >= static_cast<double>(thresholds_[s.queue].count())) {
        go_to(s.queue + 1, job, s);
      }
    } else if (may_rise(s) && s.waited >= patience(s)) {
      s.executed = s.waited = Duration::zero();
      go_to(0, job, s);
    }
    if (!options_.services_s.empty()) s.index = index_.at(attained_ns(s) / 1e9);
  }

  /// When the job changes its queue next, as far as the policy plans it.
  Time due(const Standing& s, Time now) const {
    if (s.runs) {
      if (s.queue == thresholds_.size()) return kNever;
      const auto limit = static_cast<double>(thresholds_[s.queue].count());
      if (options_.rules == Rules::kPaper) {
        return later(now,
                     from_nanoseconds(std::ceil(std::max(limit - attained_ns(s), 0.0) / s.gang)));
      }
      const double left = limit - static_cast<double>(s.executed.count());
      return later(now, from_seconds(std::ceil(std::max(left, 0.0) / s.gang / 1e9)));
    }
    if (!may_rise(s)) return kNever;
    const Duration left = patience(s) - s.waited;
    return left > Duration::zero() ? later(now, left) : kNever;
  }

  TiresiasOptions options_;
  std::vector<Duration> thresholds_;  ///< ascending, of attained service
  std::vector<std::vector<JobId>> queues_;
  std::vector<JobId> arrivals_;  ///< the jobs in the system in the order of their arrival
  std::unordered_map<JobId, Standing> jobs_;
  GittinsIndex index_;
};

const ParametersOf<TiresiasOptions>& tiresias_parameters() {
  static const auto all =
      ParametersOf<TiresiasOptions>()
          .choice("attained", &TiresiasOptions::attained,
                  {{"service", Attained::kService}, {"time", Attained::kTime}},
                  "what thresholds limit: service (GPUs x time executed) or time")
          .only_where(some_jobs_are_gangs)
          .number("thresholds_s", &TiresiasOptions::thresholds_s,
                  {1e-6, 1e9, "attained at which a job goes to the next queue [GPU s, or s]"})
          .number("promote_after", &TiresiasOptions::promote_after,
                  {0, 1e6,
                   "a job that has waited so many times as long as it has executed goes back to "
                   "the first queue; 0: never"})
          .choice(
              "within", &TiresiasOptions::within,
              {{"queue", Within::kQueue}, {"submit", Within::kSubmit}, {"entry", Within::kEntry}},
              "order in a queue: queue: the first to come, running jobs before waiting ones; "
              "submit: by submit time (Lucid's simulator); entry: the first to come (Pollux' "
              "simulator)")
          .number("services_s", &TiresiasOptions::services_s,
                  {1e-6, 1e12,
                   "a sample of the services of jobs [GPU s]: queues go by the Gittins index"})
          .number("quantum_s", &TiresiasOptions::quantum_s,
                  {1e-6, 1e9, "service that the Gittins index looks ahead [GPU s]"})
          .only_where([](const ParameterContext& c) -> std::string {
            return c.parameters.numbers("services_s").empty() ? "services_s is empty" : "";
          })
          .choice("rules", &TiresiasOptions::rules,
                  {{"paper", Rules::kPaper}, {"simulator", Rules::kSimulator}},
                  "simulator: times and Gittins index of Tiresias' simulator, with its faults")
          .with(counted_parameters());
  return all;
}

}  // namespace

PolicyEntry tiresias_entry() {
  return {.name = "tiresias",
          .description =
              "no sharing: queues by attained service, or Gittins index; preemptive, by the "
              "rules of Tiresias' simulator (NSDI 2019)",
          .needs = PolicyNeeds::kNothing,
          .parameters = tiresias_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Tiresias>(tiresias_parameters().read(c.parameters));
          },
          .traits = {.moves_running_jobs = true, .preempts = true},
          .traits_with = [](const Parameters& p) { return counted_traits(p); }};
}

}  // namespace corun::inline policies
