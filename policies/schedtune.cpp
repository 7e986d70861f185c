#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"

/// schedtune: SchedTune (Albahar et al., CCGrid 2022), section IV: predicted memory and time send each job to a GPU.
///
///   A job is sent to a GPU when it arrives and waits in that GPU's queue, first in first out (the paper gets these
///   queues from node selectors). Candidates are the GPUs whose type holds the job's predicted memory plus
///   `memory_margin_pct`, the predictor's largest error (section IV-C; Table V: 8.98 %). Among them:
///     - minimise `queueing-delay` (Algorithm 2, line 8): the least Delay_Q of equation 1, the time that is left of
///       the running jobs plus the time of the queued ones;
///     - minimise `completion-time` (equation 2): the least Delay_Q plus the job's own time on that type.
///   Ties go to the lowest GPU. Equation 1 adds up the running jobs though they run at once; so does this.
///   The first job of a queue starts beside the residents if they are fewer than the threshold and if predicted
///   memory, margins included, adds up to no more than the GPU has (the request for volcano.sh/gpu-memory).
///   The threshold depends on the type's memory (section IV-G): memory / `memory_per_job_mib`, at least 1, at most
///   `collocation_limit`. The paper prints no threshold.
///   A job whose memory is not known (an unseen model) goes to the type with the most memory (section IV-B), and so
///   does one that ran out of memory or that no GPU would hold; it has its GPU alone.
///
/// Departures: nodes have one GPU in the paper, here each GPU has a queue; a gang waits in the queues of its GPUs,
/// which are the ones with the least of it, and starts when it is the first in all of them. The controller
/// decides about one job after the other and takes `decision_s` for each (section V-F measured 6 % of the makespan).
namespace corun::inline policies {

namespace {

enum class SchedTuneObjective : std::uint8_t { kQueueingDelay, kCompletionTime };

struct SchedTuneOptions {
  SchedTuneObjective objective = SchedTuneObjective::kQueueingDelay;
  double memory_margin_pct = 8.98;
  int collocation_limit = 4;
  double memory_per_job_mib = 2048;
  Duration decision{0};
};

class SchedTune final : public Policy {
 public:
  explicit SchedTune(const SchedTuneOptions& options) : options_(options) {}

  void arrived(const JobView& job, Time now) override {
    decided_ = later(std::max(decided_, now), options_.decision);
    fresh_.push_back({decided_, job.id});
  }

  void departed(JobId job, LogKind, Time) override {
    const auto at = sent_.find(job);
    if (at == sent_.end()) return;
    for (const GpuId g : at->second.gpus) {
      std::erase(queues_[index(g)].running, job);
      changed_.insert(g);
    }
    sent_.erase(at);
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    queues_.resize(view.gpus().size());
    for (; !fresh_.empty() && fresh_.front().decided <= view.now(); fresh_.pop_front()) {
      send(view, view.job(fresh_.front().job));
    }
    if (!fresh_.empty()) out.emplace_back(WakeAt{fresh_.front().decided});
    while (!changed_.empty()) {
      const GpuId gpu = *changed_.begin();
      if (!start_first(view, gpu, out)) changed_.erase(gpu);
    }
  }

 private:
  /// A job that is not yet sent.
  struct Fresh {
    Time decided{0};  ///< when the controller will have decided about it
    JobId job = kNoJob;
  };
  /// A job that was sent to its GPUs.
  struct Sent {
    std::vector<GpuId> gpus;           ///< ascending
    std::vector<Duration> times;       ///< predicted, by GPU
    std::vector<double> memories_mib;  ///< with the margin, by GPU; infinity: it has the GPU alone
    Time start{0};                     ///< once it runs
    std::size_t ready =
        0;  ///< so many of its GPUs, the first ones, have room and it is their first job

    /// Position of one of its GPUs.
    std::size_t at(GpuId gpu) const {
      return static_cast<std::size_t>(std::ranges::lower_bound(gpus, gpu) - gpus.begin());
    }
  };
  struct Candidate {
    Duration cost{0};
    GpuId gpu{};
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return std::tie(a.cost, a.gpu) < std::tie(b.cost, b.gpu);
    }
  };
  struct Queue {
    std::deque<JobId> waiting;
    std::vector<JobId> running;
    Duration pending{0};  ///< summed times of `waiting`
  };

  static Duration time_on(const JobView& job, const GpuType& type) {
    const double speed = job.on_types.empty() ? type.speed : job.on_types[type.id].speed;
    return from_seconds(to_seconds(job.estimate.value_or(Duration::zero())) / speed);
  }
  /// With the margin [MiB].
  std::optional<double> memory_on(const JobView& job, const GpuType& type) const {
    const std::optional<double> mib =
        job.on_types.empty() ? job.profile.mem_used_mib : job.on_types[type.id].memory_mib;
    if (!mib) return std::nullopt;
    return *mib * (1 + options_.memory_margin_pct / 100);
  }
  int threshold(const GpuType& type) const {
    const double jobs = std::floor(type.memory_mib / options_.memory_per_job_mib);
    return static_cast<int>(std::clamp(jobs, 1.0, static_cast<double>(options_.collocation_limit)));
  }

  /// Equation 1.
  Duration delay(const ClusterView& view, GpuId gpu) const {
    const Queue& queue = queues_[index(gpu)];
    Duration sum = queue.pending;
    for (const JobId j : queue.running) {
      const Sent& sent = sent_.at(j);
      sum += std::max(sent.start + sent.times[sent.at(gpu)] - view.now(), Duration{0});
    }
    return sum;
  }

  /// Algorithm 2: into the queues of its GPUs.
  void send(const ClusterView& view, const JobView& job) {
    const auto wanted = static_cast<std::size_t>(job.gpus);
    std::vector<Candidate> candidates;
    double least_mib = 0;  // infinity: it has its GPUs alone
    for (const bool alone : {false, true}) {
      candidates.clear();
      for (std::uint32_t i = 0; i < queues_.size(); ++i) {
        const GpuType& type = view.gpu_type(GpuId{i});
        if (!may_run_on(job, type)) continue;
        if (!alone) {
          const std::optional<double> mib = memory_on(job, type);
          if (job.resubmissions > 0 || !mib || *mib > type.memory_mib) continue;
        }
        const bool own = options_.objective == SchedTuneObjective::kCompletionTime;
        candidates.push_back(
            {delay(view, GpuId{i}) + (own ? time_on(job, type) : Duration{0}), GpuId{i}});
      }
      if (alone) keep_largest(view, wanted, candidates);
      if (candidates.size() >= wanted) {
        std::sort(candidates.begin(), candidates.end());
        least_mib = alone ? std::numeric_limits<double>::infinity() : 0;
        break;
      }
    }
    if (candidates.size() < wanted) return;  // no GPUs for it; the control loop tells it
    Sent sent;
    for (std::size_t i = 0; i < wanted; ++i) sent.gpus.push_back(candidates[i].gpu);
    std::ranges::sort(sent.gpus);
    for (const GpuId g : sent.gpus) {
      const GpuType& type = view.gpu_type(g);
      sent.times.push_back(time_on(job, type));
      sent.memories_mib.push_back(std::max(least_mib, memory_on(job, type).value_or(0)));
      queues_[index(g)].waiting.push_back(job.id);
      queues_[index(g)].pending += sent.times.back();
      changed_.insert(g);
    }
    sent_[job.id] = std::move(sent);
  }

  /// Leaves the GPUs with the most memory, at least `wanted` of them if there are so many.
  static void keep_largest(const ClusterView& view, std::size_t wanted,
                           std::vector<Candidate>& candidates) {
    const auto memory = [&](const Candidate& c) { return view.gpu_type(c.gpu).memory_mib; };
    std::ranges::sort(candidates, std::ranges::greater{}, memory);
    if (candidates.size() < wanted) return;
    const double least = memory(candidates[wanted - 1]);
    std::erase_if(candidates, [&](const Candidate& c) { return memory(c) < least; });
  }

  bool has_room(const ClusterView& view, GpuId gpu, double memory_mib) const {
    const Queue& queue = queues_[index(gpu)];
    if (queue.running.empty()) return true;
    const GpuType& type = view.gpu_type(gpu);
    const int most = std::min(threshold(type), view.max_jobs_per_gpu(options_.collocation_limit));
    if (static_cast<int>(queue.running.size()) >= most) return false;
    double used = memory_mib;
    for (const JobId j : queue.running) {
      const Sent& sent = sent_.at(j);
      used += sent.memories_mib[sent.at(gpu)];
    }
    return used <= type.memory_mib;
  }

  /// Starts the first job of this queue if it may; true if it did.
  bool start_first(const ClusterView& view, GpuId gpu, std::vector<Decision>& out) {
    if (queues_[index(gpu)].waiting.empty()) return false;
    const JobId job = queues_[index(gpu)].waiting.front();
    Sent& sent = sent_.at(job);
    // A GPU that is ready stays so: no job starts there before this one.
    for (; sent.ready < sent.gpus.size(); ++sent.ready) {
      const GpuId next = sent.gpus[sent.ready];
      const bool first = queues_[index(next)].waiting.front() == job;
      if (!first || !has_room(view, next, sent.memories_mib[sent.ready])) return false;
    }
    sent.start = view.now();
    for (std::size_t i = 0; i < sent.gpus.size(); ++i) {
      Queue& queue = queues_[index(sent.gpus[i])];
      queue.waiting.pop_front();
      queue.pending -= sent.times[i];
      queue.running.push_back(job);
      changed_.insert(sent.gpus[i]);
    }
    out.push_back(StartGroup{{job}, sent.gpus});
    return true;
  }

  SchedTuneOptions options_;
  std::deque<Fresh> fresh_;
  Time decided_{0};  ///< about the last of them
  std::vector<Queue> queues_;
  std::unordered_map<JobId, Sent> sent_;
  std::set<GpuId> changed_;  ///< whose first job may have room
};

const ParametersOf<SchedTuneOptions>& schedtune_parameters() {
  static const auto all =
      ParametersOf<SchedTuneOptions>()
          .choice("minimise", &SchedTuneOptions::objective,
                  {{"queueing-delay", SchedTuneObjective::kQueueingDelay},
                   {"completion-time", SchedTuneObjective::kCompletionTime}},
                  "what is least on the chosen GPU: its queue, or the job's completion")
          .only_where(gpus_are_of_several_types)
          .number("memory_margin_pct", &SchedTuneOptions::memory_margin_pct,
                  {0, 1000, "added to predicted memory, the largest error of the predictor [%]"})
          .only_where(memory_is_known)
          .number("collocation_limit", &SchedTuneOptions::collocation_limit,
                  {1, 1000, "jobs that share a GPU at most"})
          .only_where(jobs_share_memory)
          .number("memory_per_job_mib", &SchedTuneOptions::memory_per_job_mib,
                  {1, 1e9, "a GPU takes one job for each so much memory that it has [MiB]"})
          .only_where(jobs_share_memory)
          .number(
              "decision_s", &SchedTuneOptions::decision,
              {0, 1e6,
               "time that the controller takes to decide about a job, one after the other [s]"});
  return all;
}

std::unique_ptr<Policy> make_schedtune(PolicyContext context) {
  return std::make_unique<SchedTune>(schedtune_parameters().read(context.parameters));
}

}  // namespace

PolicyEntry schedtune_entry() {
  return {.name = "schedtune",
          .description =
              "predicted memory and time send each job to the GPU with the least queueing "
              "delay (SchedTune, CCGrid 2022)",
          .needs = PolicyNeeds::kNothing,
          .parameters = schedtune_parameters().specs(),
          .make = make_schedtune,
          .traits = {.always_colocates = true,
                     .needs_estimates = true,
                     .reads_speeds_on_types = true,
                     .reads_memory = true}};
}

}  // namespace corun::inline policies
