#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/placement.hpp"
#include "policies/pod_ledger.hpp"
#include "policies/recommender_parameters.hpp"
#include "policies/remaining_service.hpp"

/// srsf-packed: shortest remaining service first, packed: least mean JCT [s] by what is believed. "SRSF" is the
/// order of Tiresias (Gu et al., NSDI 2019): remaining run time x GPUs. Its packing, its reservations and its use
/// of beliefs are corun's own.
///
/// A pass goes through the waiting jobs by rising expected service = expected rest (remaining_service.hpp) x
/// GPUs, ties by submit time. Each job starts where its placement adds the least delay, or waits.
///
///   Placement   GPUs of one node (a gang larger than the largest node: any GPUs) on which it may run, each
///               empty or with one job that has memory to spare. Delay of a placement [job s] =
///                 expected end of the job there - its rest alone on the reference type
///                 + for each job beside it: overlap x (1 - its speed beside the job);  overlap = the earlier
///                   of the two expected ends.
///               Gangs of unequal size may share: a gang runs at the least speed of its GPUs.
///   Sharing     pays if the GPUs do more work: s g - sum_h (1 - s_h) g_h >= gain x g, where s and s_h are the
///               believed speeds of the job and of its hosts, g and g_h their GPUs. For two equal gangs: s +
///               s_h >= 1 + gain. And the delay must not exceed the expected wait for GPUs of its own, by the
///               expected ends of running jobs and the GPUs that jobs before it wait for; in the preemptive mode not
///               kHysteresis x the time that it runs either, by which it delays a job with more service left.
///   Reservation the first `reservations` gangs that find no room (and all overdue jobs, see below) reserve the
///               GPUs that they can have first, by the expected ends of the jobs there. Until they start, only
///               jobs that are expected to end by then start on these GPUs (as in EASY backfilling).
///   Preemption  (`mode: preemptive`) a job without room takes that of others, if the completions per second that
///               they lose, the sum of kHysteresis x speed / (rest - cost of the preemption), are at most its
///               own, speed / rest. A job that was preempted cannot take its place back while expectations hold: no
///               ping-pong.
///               A job that is to end sooner alone on idle GPUs moves there, if that saves it and the jobs
///               beside it, costs included, a tenth of its time there.
///   GPU types   a job's speed alone on a type counts in the delay, the wait and the completions per second.
///               Without preemption it waits for a faster type if that delays it less.
///   Starvation  a job that has waited `patience` times its expected run time goes before all jobs that have
///               not, first come first served. The first such job keeps its GPUs reserved, and no other job
///               starts on them. Once started, it is not preempted. So it waits at most `patience` x its
///               expected run time + the time that such jobs before it and the jobs on its GPUs take.
///   Equals      of waiting jobs with the same expected service the one whose placement adds the least delay.
///   Tail        (`tail` > 0) a waiting job goes before the others, the longest first, once tail x its expected rest
///               exceeds the expected service of all jobs over the number of GPUs: it would be the last to end.
///               At tail = 2 it would be if it started now, beside a job, and all GPUs were shared by two.
///   Memory      demands that are known, enlarged by `memory_margin`, must fit together. A job that ran out of
///               memory gets GPUs of its own.
///   Parts       if a job asks for a part of a GPU, or for CPU or memory of its node: a job starts on a node that has
///               what it asks for. Parts of a GPU add up to at most the GPU, and no slowdown is expected of
///               them. Of placements with equal delays the one with the least growth of fragmentation is
///               taken (fragmentation.hpp). Expected service counts the part. A whole job shares with a whole
///               one by belief, where it finds no GPUs of its own. An overdue job that asks for CPU or memory
///               keeps all GPUs of the node.
///
/// Jobs' progress is what the believed speeds make of the time on GPUs.
///
/// Cost of a pass: the first `window` waiting jobs x GPUs of nodes with room.
namespace corun {

namespace {

constexpr double kHysteresis = 1.1;
constexpr double kLeastRest_s = 1e-3;
constexpr double kNever_s = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostSharing = 2;
constexpr int kWhole = 1000;  ///< of a GPU [1/1000]
/// Believed speeds below this are taken as this [1], so that every job has an expected end.
constexpr double kLeastSpeed = 0.01;
/// Of placements with equal delays: few hosts, then little room left on the node [job s].
constexpr double kHostPenalty_s = 1e-3;
constexpr double kRoomPenalty_s = 1e-6;

struct SrsfOptions {
  bool preempts = false;
  double gain = 0.2;
  int reservations = 3;
  double patience = 0;
  double memory_margin = 0;
  double risk = 0;
  double tail = 0;
  std::size_t window = 256;
};

class SrsfPacked final : public Policy {
 public:
  SrsfPacked(SrsfOptions options, PolicyContext context)
      : options_(options), belief_(std::move(context.belief)), loss_(context.preemption) {}

  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override {
    belief_->learn(outcome);
    speeds_.clear();
  }

  void arrived(const JobView& job, Time now) override {
    now_ = now;
    const auto [at, is_new] = jobs_.try_emplace(job.id);
    Job& j = at->second;
    if (is_new) {
      if (job.estimate) j.estimate_s = to_seconds(*job.estimate);
      j.gang = job.gpus;
      j.submit = job.submit;
      j.memory_mib = job.profile.mem_used_mib;
      j.types = job.on_types;
      j.pod = {job.gpus, job.gpu_milli, job.gpu_models, job.request};
      unknown_.push_back(job.id);
      pods_ |= j.is_part() || j.asks_of_node();
    }
    j.alone_only = job.resubmissions > 0;
    j.served = job.served;
    j.position = next_position_++;
    enqueue(job.id, j);
  }

  void departed(JobId job, LogKind how, Time now) override {
    if (!running_.contains(job)) return;
    now_ = now;
    vacate(job, how);
    if (how != LogKind::kFinish && how != LogKind::kFail) return;
    const auto at = jobs_.find(job);
    if (how == LogKind::kFinish) {
      service_.finished(at->second.estimate_s, at->second.had_s);
      ++finished_;
    }
    jobs_.erase(at);
    rank_again();
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    now_ = view.now();
    if (view.pass() != pass_) begin(view);
    while (tried_ < options_.window) {
      const auto at = cursor_ ? waiting_.upper_bound(*cursor_) : waiting_.begin();
      if (at == waiting_.end()) break;
      const Entry entry = *at;
      const std::optional<Entry> before = std::exchange(cursor_, entry);
      ++tried_;
      const JobView& job = view.job(entry.job);
      bool may_preempt = options_.preempts;
      Placement place = best_placement(view, entry, job, may_preempt);
      if (place.gpus.empty() && may_preempt) {
        if (preempt_for(view, entry, job, out)) {
          restart();  // jobs before this one may have room now
          return;
        }
        may_preempt = false;
        place = best_placement(view, entry, job, may_preempt);
      }
      if (!place.gpus.empty()) {
        const Entry chosen =
            overdue(entry) ? entry : best_of_equals(view, entry, place, may_preempt);
        if (chosen.job != entry.job) {  // `entry` is tried again
          cursor_ = before;
          --tried_;
        }
        const Why why = why_here(chosen, place.gpus);
        start(chosen, std::move(place.gpus), why, out);
        return;  // called again with an up-to-date view
      }
      ahead_ += job.gpus;
      if (overdue(entry) || (job.gpus > 1 && reservations_ < options_.reservations)) {
        reserve(view, entry, job);
      }
    }
    if (options_.preempts && move(view, out)) {
      restart();
      return;
    }
    wake(view, out);
  }

 private:
  /// A waiting job. Jobs that are overdue have rank -1, those of the tail rank 0.
  struct Entry {
    double rank = 0;  ///< expected service [GPU s]
    Time since{
        0};  ///< submit time; of an overdue job, when it became so; of the tail's, minus the expected rest
    std::uint64_t position = 0;
    JobId job = kNoJob;
    friend bool operator<(const Entry& a, const Entry& b) {
      return std::tie(a.rank, a.since, a.position) < std::tie(b.rank, b.since, b.position);
    }
  };
  static bool overdue(const Entry& entry) { return entry.rank < 0; }
  static bool of_tail(const Entry& entry) { return entry.rank == 0; }

  /// A job from its arrival to its end.
  struct Job {
    std::optional<double> estimate_s;
    double had_s = 0;   ///< work done in runs that have ended [solo s]
    double debt_s = 0;  ///< overhead that its next run begins with
    int gang = 1;
    Time submit{0};
    Duration served{0};
    std::optional<double> memory_mib;
    std::span<const ViewOnType> types;
    PodKind pod;
    std::uint32_t kind = 0;      ///< of pod, in the ledger
    std::uint64_t position = 0;  ///< of its latest arrival in the queue
    Entry entry;                 ///< while it waits
    Time due = kNever;           ///< overdue from then on
    bool is_overdue = false;
    bool alone_only = false;

    bool is_part() const { return pod.gpu_milli < kWhole; }
    double gpus() const { return is_part() ? pod.gpu_milli / double{kWhole} : gang; }
    bool asks_of_node() const { return pod.request.cpu_milli > 0 || pod.request.memory_mib > 0; }
  };
  struct Run {
    std::uint64_t number = 0;  ///< of its start
    Time start{0};
    Time since{0};     ///< `had_s` and `debt_s` are as of this time
    double had_s = 0;  ///< in this run
    double debt_s = 0;
    double speed = 1;
    double alone = 1;  ///< speed alone: the least of its GPUs' types
    std::vector<GpuId> gpus;
    /// The expected rest [solo s] at this time, after so many finished jobs: it is asked for many times in a pass.
    struct Rest {
      double rest_s = 0;
      Time at = kNever;
      std::uint64_t finished = 0;
    };
    mutable Rest rest;
  };
  /// A GPU for a job.
  struct Spot {
    double delay = 0;  ///< [job s]
    GpuId gpu{};
    JobId host = kNoJob;
    std::uint64_t number = 0;  ///< of the host's start
    double speed = 1;          ///< of the job there, its speed alone included
    double beside = 1;         ///< its normalised speed there
    double host_speed = 1;     ///< normalised
  };

  // The queue.

  void enqueue(JobId id, Job& j) {
    const double rest = rest_s(j);
    j.entry = {rest * j.gpus(), j.submit, j.position, id};
    if (options_.patience > 0 && !j.is_overdue) {
      // Not before one that is overdue already.
      j.due = std::max(
          now_, later(j.submit + j.served, from_seconds(std::min(options_.patience * rest, 1e9))));
      due_.insert({j.due, j.position, id});
    }
    if (j.is_overdue) j.entry = {-1, j.due, j.position, id};
    waiting_.insert(j.entry);
  }

  void leave_queue(JobId id, const Job& j) {
    waiting_.erase(j.entry);
    if (!j.is_overdue) due_.erase({j.due, j.position, id});
  }

  /// After the estimates' reliability has changed.
  void rank_again() {
    constexpr double kStep = 0.02;
    if (std::abs(service_.reliability() - ranked_with_) < kStep) return;
    ranked_with_ = service_.reliability();
    std::vector<JobId> all;
    for (const Entry& e : waiting_) all.push_back(e.job);
    for (const JobId id : all) {
      Job& j = jobs_.at(id);
      leave_queue(id, j);
      enqueue(id, j);
    }
  }

  void begin(const ClusterView& view) {
    pass_ = view.pass();
    on_.resize(view.gpus().size());
    if (!ledger_) ledger_.emplace(view);
    if (types_.empty()) look_up(view);
    for (const JobId id : unknown_) {
      Job& j = jobs_.at(id);
      j.kind = ledger_->submitted(j.pod);
    }
    if (pods_ && !unknown_.empty()) ledger_->learn();
    unknown_.clear();
    while (!due_.empty() && std::get<Time>(*due_.begin()) <= now_) {
      const JobId id = std::get<JobId>(*due_.begin());
      Job& j = jobs_.at(id);
      leave_queue(id, j);
      j.is_overdue = true;
      enqueue(id, j);
    }
    if (options_.tail > 0) promote_tail();
    restart();
    most_rest_s_ = 0;
    if (!options_.preempts) return;
    for (const auto& [id, run] : running_) {
      most_rest_s_ = std::max(most_rest_s_, rest_s(id, run) / run.alone);
    }
  }

  void promote_tail() {
    double service = 0;
    for (const std::vector<JobId>& here : on_) {
      for (const JobId id : here) {
        const Job& j = jobs_.at(id);
        service += rest_s(id, running_.at(id)) * (j.is_part() ? j.gpus() : 1);
      }
    }
    std::vector<std::pair<double, JobId>> rests;
    for (const Entry& e : waiting_) {
      const Job& j = jobs_.at(e.job);
      const double rest = rest_s(j);
      service += rest * j.gpus();
      if (e.rank > 0) rests.emplace_back(rest, e.job);
    }
    const double drain_s = service / static_cast<double>(on_.size());
    for (const auto& [rest, id] : rests) {
      if (options_.tail * rest <= drain_s) continue;
      Job& j = jobs_.at(id);
      waiting_.erase(j.entry);
      j.entry.rank = 0;
      j.entry.since = Time{0} - from_seconds(rest);
      waiting_.insert(j.entry);
    }
  }

  /// To the first waiting job, without reservations.
  void restart() {
    cursor_.reset();
    tried_ = 0;
    free_by_s_.assign(on_.size(), kNever_s);
    for (const GpuId g : kept_) free_by_s_[index(g)] = 0;
    reservations_ = 0;
    ahead_ = 0;
    for (auto& [type, ends] : ends_s_) ends.clear();
    for (std::size_t g = 0; g < on_.size(); ++g) {
      double end = 0;
      for (const JobId id : on_[g]) end = std::max(end, end_s(id, running_.at(id)));
      ends_s_[types_[g]].push_back(end);
    }
    ends_are_sorted_ = false;
  }

  // Running jobs.

  struct Progress {
    double had_s = 0;
    double debt_s = 0;
  };
  Progress progress(const Run& run) const {
    const double done = run.speed * to_seconds(now_ - run.since);
    const double paid = std::min(done, run.debt_s * run.alone);
    return {run.had_s + done - paid, run.debt_s - paid / run.alone};
  }
  void advance(Run& run) const {
    const Progress now = progress(run);
    run.had_s = now.had_s;
    run.debt_s = now.debt_s;
    run.since = now_;
  }
  /// Expected rest of a waiting job [solo s].
  double rest_s(const Job& j) const { return service_.expected(j.estimate_s, j.had_s) + j.debt_s; }
  /// Expected rest of a running job [solo s].
  double rest_s(JobId id, const Run& run) const {
    if (run.rest.at != now_ || run.rest.finished != finished_) {
      const Progress then = progress(run);
      const Job& j = jobs_.at(id);
      run.rest = {service_.expected(j.estimate_s, j.had_s + then.had_s) + then.debt_s, now_,
                  finished_};
    }
    return run.rest.rest_s;
  }
  /// Time to its expected end, if no co-runner comes or leaves.
  double end_s(JobId id, const Run& run) const { return rest_s(id, run) / run.speed; }

  /// Believed speeds; the answers are kept until the belief learns.
  PairSpeeds speeds(JobId a, JobId b) {
    const auto [at, is_new] = speeds_.try_emplace(std::uint64_t{index(a)} << 32U | index(b));
    if (is_new) at->second = ask(a, b);
    return at->second;
  }
  PairSpeeds ask(JobId a, JobId b) const {
    PairSpeeds s = belief_->pair_speeds(a, b);
    if (options_.risk > 0 && s.a > 0 && s.b > 0) {
      const PairBelief p = belief_->pair(a, b);
      s = {1 / (1 + std::max(p.isd_a + options_.risk * p.sd_a, 0.0)),
           1 / (1 + std::max(p.isd_b + options_.risk * p.sd_b, 0.0))};
    }
    return {std::min(s.a, 1.0), std::min(s.b, 1.0)};
  }

  /// Believed speed of a running job, if `gone` were not there.
  double speed_without(JobId gone, JobId id, const Run& run) {
    double speed = run.alone;
    if (jobs_.at(id).is_part()) return speed;
    for (const GpuId g : run.gpus) {
      for (const JobId other : on_[index(g)]) {
        if (other == id || other == gone) continue;
        speed = std::min(speed, run.alone * std::max(speeds(id, other).a, kLeastSpeed));
      }
    }
    return speed;
  }
  void new_speed(JobId id) {
    Run& run = running_.at(id);
    advance(run);
    run.speed = speed_without(kNoJob, id, run);
  }
  void new_speeds_beside(JobId id, const std::vector<GpuId>& gpus) {
    std::set<JobId> others;
    for (const GpuId g : gpus) others.insert(on_[index(g)].begin(), on_[index(g)].end());
    others.erase(id);
    for (const JobId other : others) new_speed(other);
  }

  /// The job leaves its GPUs. A run that ends out of memory leaves progress as it was.
  void vacate(JobId id, LogKind how) {
    Run run = std::move(running_.at(id));
    running_.erase(id);
    advance(run);
    Job& j = jobs_.at(id);
    if (how == LogKind::kPreempt) {
      j.debt_s = loss_.seconds;
      run.had_s *= 1 - loss_.work;
    }
    if (how != LogKind::kOom) j.had_s += run.had_s;
    for (const GpuId g : run.gpus) std::erase(on_[index(g)], id);
    ledger_->book(j.kind, run.gpus, -1);
    new_speeds_beside(id, run.gpus);
  }

  /// Before the start.
  Why why_here(const Entry& entry, const std::vector<GpuId>& gpus) const {
    if (overdue(entry)) return Why::kOverdue;
    if (of_tail(entry)) return Why::kTail;
    const auto reserved = [&](GpuId g) { return free_by_s_[index(g)] < kNever_s; };
    const auto shared = [&](GpuId g) { return !on_[index(g)].empty(); };
    if (std::ranges::any_of(gpus, reserved)) return Why::kBackfills;
    if (jobs_.at(entry.job).is_part()) return Why::kPart;
    return std::ranges::any_of(gpus, shared) ? Why::kShares : Why::kAlone;
  }

  void start(const Entry& entry, std::vector<GpuId> gpus, Why why, std::vector<Decision>& out) {
    Job& j = jobs_.at(entry.job);
    leave_queue(entry.job, j);
    if (keeper_ == entry.job) {
      keeper_ = kNoJob;
      for (const GpuId g : kept_) free_by_s_[index(g)] = kNever_s;
      kept_.clear();
    }
    struct Host {
      JobId id{};
      double end_s = 0;
      double speed = 0;
    };
    std::vector<Host> hosts;
    if (!j.is_part()) {
      for (const GpuId g : gpus) {
        for (const JobId other : on_[index(g)]) {
          if (std::ranges::find(hosts, other, &Host::id) != hosts.end()) continue;
          const Run& host = running_.at(other);
          hosts.push_back({other, end_s(other, host), host.speed});
        }
      }
    }
    Run& run = running_[entry.job];
    run.number = next_number_++;
    run.start = run.since = now_;
    run.debt_s = j.debt_s;
    run.gpus = gpus;
    for (const GpuId g : gpus) {
      run.alone = std::min(run.alone, types_.empty() ? 1.0 : alone_on(j, types_[index(g)]));
      on_[index(g)].push_back(entry.job);
    }
    ledger_->book(j.kind, gpus, 1);
    new_speed(entry.job);
    new_speeds_beside(entry.job, gpus);
    Reason reason{.why = why, .beside = kNoJob, .speed = run.speed, .delay_s = 0};
    const double rest = rest_s(entry.job, run);
    *reason.delay_s = rest / run.speed - rest;
    double worst = kNever_s;
    for (const Host& host : hosts) {
      const double left = running_.at(host.id).speed / host.speed;
      *reason.delay_s += std::min(rest / run.speed, host.end_s / left) * (1 - left);
      const double beside = speeds(entry.job, host.id).a;
      if (beside < worst) {
        worst = beside;
        reason.beside = host.id;
      }
    }
    out.emplace_back(StartGroup{{entry.job}, std::move(gpus), reason});
  }

  // Placement.

  static double alone_on(const Job& j, std::size_t type) {
    return j.types.empty() ? 1 : std::max(j.types[type].speed, kLeastSpeed);
  }
  double demand_mib(const Job& j, const GpuType& type) const {
    const std::optional<double> known = j.types.empty() || !j.types[type.id].memory_mib
                                            ? j.memory_mib
                                            : j.types[type.id].memory_mib;
    return known.value_or(0) * (1 + options_.memory_margin);
  }
  bool pays(const Job& j, double speed, double lost) const {
    return speed * j.gang - lost >= options_.gain * j.gang;
  }

  /// Adds the GPU, if the job can run there now.
  void look_at(const ClusterView& view, const Job& j, const JobView& job, double rest, GpuId g,
               std::vector<Spot>& spots) {
    const GpuType& type = view.gpu_type(g);
    const std::vector<JobId>& here = on_[index(g)];
    if (here.size() >= most_per_gpu_ || !may_run_on(job, type) || view.gpu(g).profiling) return;
    Spot spot;
    spot.gpu = g;
    spot.speed = alone_on(j, type.id);
    if (!here.empty()) {
      if (j.alone_only) return;
      spot.host = here.front();
      const Job& host = jobs_.at(spot.host);
      if (host.alone_only || host.is_part() || j.is_part()) return;
      if (demand_mib(j, type) + demand_mib(host, type) > type.memory_mib) return;
      if (!spots.empty() && spots.back().host == spot.host &&
          same_type(view, spots.back().gpu, g)) {
        const GpuId own = g;
        spot = spots.back();
        spot.gpu = own;
        spots.push_back(spot);
        return;
      }
      const PairSpeeds pair = speeds(job.id, spot.host);
      if (pair.a <= 0 || pair.b <= 0) return;
      const Run& run = running_.at(spot.host);
      spot.number = run.number;
      spot.beside = pair.a;
      spot.host_speed = pair.b;
      spot.speed *= pair.a;
      if (!pays(j, pair.a, (1 - pair.b) * host.gang)) return;
      spot.delay = std::min(rest / spot.speed, end_s(spot.host, run) / pair.b) * (1 - pair.b);
    }
    spot.delay += rest / spot.speed - rest;
    if (rest / spot.speed > free_by_s_[index(g)]) return;
    spots.push_back(spot);
  }
  static bool same_type(const ClusterView& view, GpuId a, GpuId b) {
    return view.gpu_type(a).id == view.gpu_type(b).id;
  }

  struct Placement {
    double delay = kNever_s;
    std::vector<GpuId> gpus;
  };

  /// Expected delay if it waits for GPUs of its own of one type, behind the jobs before it that wait: until as many
  /// GPUs have lost their jobs, by expected ends; infinite if there are not as many.
  double wait_s(const JobView& job, double rest) {
    if (!ends_are_sorted_) {
      for (auto& [type, ends] : ends_s_) std::ranges::sort(ends);
      ends_are_sorted_ = true;
    }
    const std::size_t needed =
        static_cast<std::size_t>(ahead_) + static_cast<std::size_t>(job.gpus);
    double least = kNever_s;
    for (const auto& [type, ends] : ends_s_) {
      if (needed > ends.size() || !may_run_on(job, *type_of_.at(type))) continue;
      const double speed = alone_on(jobs_.at(job.id), type);
      least = std::min(least, ends[needed - 1] + (rest / speed - rest));
    }
    return least;
  }

  /// Expected delay if it takes the place of a job that has more service left, if there is one: that job waits for as
  /// long as it runs.
  double preemption_s(const Job& j, double rest) const {
    const double runs_s = kHysteresis * rest / fastest(j);
    return runs_s <= most_rest_s_ ? runs_s + loss_.seconds : kNever_s;
  }

  /// The placement on these GPUs, if it is better.
  void consider(const Job& j, double rest, double wait, std::vector<Spot>& spots,
                Placement& best) const {
    const auto gang = static_cast<std::size_t>(j.gang);
    if (spots.size() < gang) return;
    std::ranges::stable_sort(spots, [](const Spot& a, const Spot& b) {
      return std::tie(a.delay, a.number) < std::tie(b.delay, b.number);
    });
    double speed = kNever_s;
    double beside = 1;
    double lost = 0;
    double delay = kRoomPenalty_s * static_cast<double>(spots.size() - gang);
    std::vector<JobId> hosts;
    for (std::size_t i = 0; i < gang; ++i) {
      speed = std::min(speed, spots[i].speed);
      beside = std::min(beside, spots[i].beside);
    }
    for (std::size_t i = 0; i < gang; ++i) {
      const Spot& spot = spots[i];
      if (spot.host == kNoJob || std::ranges::find(hosts, spot.host) != hosts.end()) continue;
      hosts.push_back(spot.host);
      lost += (1 - spot.host_speed) * jobs_.at(spot.host).gang;
      delay += kHostPenalty_s +
               std::min(rest / speed, end_s(spot.host, running_.at(spot.host)) / spot.host_speed) *
                   (1 - spot.host_speed);
    }
    if (!hosts.empty() && !pays(j, beside, lost)) return;
    delay += rest / speed - rest;
    // On GPUs of its own a preemptive policy may move it later.
    const double slack = hosts.empty() ? kHostPenalty_s : 0;
    if ((!hosts.empty() || !options_.preempts) && delay > wait + slack) return;
    if (delay >= best.delay) return;
    best.delay = delay;
    best.gpus.clear();
    for (std::size_t i = 0; i < gang; ++i) best.gpus.push_back(spots[i].gpu);
  }

  /// Whether no node may hold the gang.
  static bool is_wide(const ClusterView& view, const JobView& job) {
    return std::ranges::none_of(view.cluster().nodes, [&](const NodeSpec& node) {
      return node.gpus >= job.gpus && may_run_on(job, node.gpu);
    });
  }
  static bool can_meet(const ResourceRequest& have, const ResourceRequest& asked) {
    return (asked.cpu_milli == 0 || asked.cpu_milli <= have.cpu_milli) &&
           (asked.memory_mib == 0 || asked.memory_mib <= have.memory_mib);
  }

  /// Calls f with the GPUs of each node that may hold the gang; of all nodes at once if none can. Nodes of types
  /// on which the job may not run, or that have less CPU or memory than it asks for, do not count.
  template <typename F>
  void each_domain(const ClusterView& view, const JobView& job, F&& f) {
    const std::vector<NodeSpec>& nodes = view.cluster().nodes;
    const bool wide = is_wide(view, job);
    gpus_.clear();
    std::uint32_t next = 0;
    for (const NodeSpec& node : nodes) {
      const std::uint32_t first = next;
      next += static_cast<std::uint32_t>(node.gpus);
      if (!may_run_on(job, node.gpu) || (!wide && node.gpus < job.gpus)) continue;
      if (!wide && !can_meet({node.cpu_milli, node.memory_mib}, job.request)) continue;
      if (!wide) gpus_.clear();
      for (std::uint32_t g = first; g < next; ++g) gpus_.push_back(GpuId{g});
      if (!wide) f();
    }
    if (wide) f();
  }

  /// The node of the present domain, gpus_.
  const PodNode& domain_node() const { return ledger_->node(ledger_->node_of(gpus_.front())); }

  /// Whether the job may not join the jobs on the GPU, whatever part of it they leave.
  bool is_closed(const ClusterView& view, const Job& j, double rest, GpuId g) const {
    const GpuType& type = view.gpu_type(g);
    if (view.gpu(g).profiling || rest / alone_on(j, type.id) > free_by_s_[index(g)]) return true;
    const std::vector<JobId>& residents = on_[index(g)];
    if (residents.empty()) return false;
    double used = demand_mib(j, type);
    for (const JobId id : residents) {
      const Job& other = jobs_.at(id);
      if (other.alone_only) return true;
      used += demand_mib(other, type);
    }
    return j.alone_only || used > type.memory_mib;
  }

  /// A part of a GPU, or whole GPUs of its own, where the delay is least, then the growth of fragmentation.
  Placement pod_placement(const ClusterView& view, const Job& j, const JobView& job, double rest) {
    Placement best;
    double least_growth = kNever_s;
    std::optional<PodNode> open;  // the node without its closed GPUs
    each_domain(view, job, [&] {
      const std::size_t n = ledger_->node_of(gpus_.front());
      const PodNode* node = &ledger_->node(n);
      if (!node->has_room(j.pod)) return;
      open.reset();
      for (std::size_t g = 0; g < gpus_.size(); ++g) {
        if (node->gpus[g] == 0 || !is_closed(view, j, rest, gpus_[g])) continue;
        if (!open) open = ledger_->node(n);
        open->gpus[g] = 0;
      }
      if (open) {
        if (!open->has_room(j.pod)) return;
        node = &*open;
      }
      const double delay = rest / alone_on(j, types_[index(gpus_.front())]) - rest;
      if (delay > best.delay) return;
      const Fragmentation::Growth growth =
          open ? ledger_->growth_on(*open, j.pod) : ledger_->growth(j.kind, n);
      if (delay == best.delay && growth.growth >= least_growth) return;
      best.delay = delay;
      least_growth = growth.growth;
      best.gpus.clear();
      if (j.is_part()) {
        best.gpus.push_back(gpus_[static_cast<std::size_t>(growth.gpu)]);
        return;
      }
      for (std::size_t g = 0; best.gpus.size() < static_cast<std::size_t>(j.gang); ++g) {
        if (node->gpus[g] == kWhole) best.gpus.push_back(gpus_[g]);
      }
    });
    return best;
  }

  /// `preempts`: it shares only where that costs less than the place of another job.
  Placement best_placement(const ClusterView& view, const Entry& entry, const JobView& job,
                           bool preempts) {
    const Job& j = jobs_.at(entry.job);
    const double rest = rest_s(j);
    if (keeper_ == entry.job) {
      for (const GpuId g : kept_) free_by_s_[index(g)] = kNever_s;
    }
    Placement best;
    const bool is_pod = pods_ && !is_wide(view, job);
    if (is_pod) best = pod_placement(view, j, job, rest);
    if (best.gpus.empty() && !j.is_part()) {
      double wait = wait_s(job, rest);
      if (preempts) wait = std::min(wait, preemption_s(j, rest));
      each_domain(view, job, [&] {
        if (is_pod && !can_meet(domain_node().left, j.pod.request)) return;
        spots_.clear();
        for (const GpuId g : gpus_) look_at(view, j, job, rest, g, spots_);
        consider(j, rest, wait, spots_, best);
      });
    }
    if (keeper_ == entry.job && best.gpus.empty()) {
      for (const GpuId g : kept_) free_by_s_[index(g)] = 0;
    }
    std::ranges::sort(best.gpus);
    return best;
  }

  /// Of the waiting jobs with the rank of `first`, the one whose placement adds the least delay. `place`: that of
  /// `first`, becomes its own.
  Entry best_of_equals(const ClusterView& view, const Entry& first, Placement& place,
                       bool preempts) {
    Entry best = first;
    std::size_t tried = tried_;
    for (auto at = waiting_.upper_bound(first); at != waiting_.end() && at->rank == first.rank &&
                                                place.delay > 0 && tried < options_.window;
         ++at, ++tried) {
      Placement other = best_placement(view, *at, view.job(at->job), preempts);
      if (other.gpus.empty() || other.delay >= place.delay) continue;
      place = std::move(other);
      best = *at;
    }
    return best;
  }

  void look_up(const ClusterView& view) {
    for (const NodeSpec& node : view.cluster().nodes) {
      types_.insert(types_.end(), static_cast<std::size_t>(node.gpus), node.gpu.id);
      type_of_.emplace(node.gpu.id, &node.gpu);
    }
    most_parts_ = static_cast<std::size_t>(view.max_jobs_per_gpu(kWhole));
    most_per_gpu_ = std::min(most_parts_, kMostSharing);
  }

  /// Reserves the GPUs on which the job can start first.
  void reserve(const ClusterView& view, const Entry& entry, const JobView& job) {
    if (keeper_ == entry.job) return;
    const Job& j = jobs_.at(entry.job);
    const auto gang = static_cast<std::size_t>(j.gang);
    double first = kNever_s;
    std::vector<GpuId> chosen;
    std::vector<std::pair<double, GpuId>> ready;
    each_domain(view, job, [&] {
      ready.clear();
      for (const GpuId g : gpus_) {
        const bool may = may_run_on(job, view.gpu_type(g)) && !view.gpu(g).profiling;
        if (may && free_by_s_[index(g)] == kNever_s) {
          ready.emplace_back(ready_s(view.gpu_type(g), g, j), g);
        }
      }
      if (ready.size() < gang) return;
      std::ranges::sort(ready);
      double at = ready[gang - 1].first;
      if (j.asks_of_node() && gpus_.size() <= domain_node().gpus.size()) {
        at = std::max(at, node_ready_s(j.pod.request));
      }
      if (at >= first) return;
      first = at;
      chosen.clear();
      for (std::size_t i = 0; i < gang; ++i) chosen.push_back(ready[i].second);
    });
    if (chosen.empty()) return;
    if (!overdue(entry)) ++reservations_;
    const bool keeps = overdue(entry) && keeper_ == kNoJob;
    for (const GpuId g : chosen) free_by_s_[index(g)] = keeps ? 0 : first;
    if (keeps) {
      keeper_ = entry.job;
      kept_ = chosen;
      if (j.asks_of_node() && !is_wide(view, job)) keep_node(chosen.front());
    }
  }

  void keep_node(GpuId gpu) {
    const PodNode& node = ledger_->node(ledger_->node_of(gpu));
    kept_.clear();
    for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
      kept_.push_back(GpuId{static_cast<std::uint32_t>(index(node.first)) + g});
      free_by_s_[index(kept_.back())] = 0;
    }
  }

  /// When the node of the present domain has the CPU and memory, by the expected ends of its jobs [s from now].
  double node_ready_s(const ResourceRequest& asked) const {
    ResourceRequest left = domain_node().left;
    std::map<JobId, double> ends;
    for (const GpuId g : gpus_) {
      for (const JobId id : on_[index(g)]) ends.emplace(id, end_s(id, running_.at(id)));
    }
    std::vector<std::pair<double, JobId>> sorted;
    for (const auto& [id, end] : ends) sorted.emplace_back(end, id);
    std::ranges::sort(sorted);
    double at = 0;
    for (const auto& [end, id] : sorted) {
      if (can_meet(left, asked)) break;
      at = end;
      left.cpu_milli += jobs_.at(id).pod.request.cpu_milli;
      left.memory_mib += jobs_.at(id).pod.request.memory_mib;
    }
    return at;
  }

  /// Whether a GPU has room for the job beside `jobs` others, whose parts and memory demands are these.
  bool has_room(const GpuType& type, const Job& j, std::size_t jobs, int parts_milli, int wholes,
                double used_mib) const {
    if (jobs == 0) return true;
    if (used_mib + demand_mib(j, type) > type.memory_mib || j.alone_only) return false;
    if (wholes == 0)
      return j.is_part() && jobs < most_parts_ && parts_milli + j.pod.gpu_milli <= kWhole;
    return !j.is_part() && parts_milli == 0 && jobs < most_per_gpu_;
  }

  /// When the GPU has room for the job, by the expected ends of its residents [s from now].
  double ready_s(const GpuType& type, GpuId g, const Job& j) const {
    struct Resident {
      double end_s = 0;
      double mib = 0;
      int part_milli = 0;  ///< 0: a whole job
    };
    std::vector<Resident> residents;
    double used = 0;
    int parts = 0;
    int wholes = 0;
    for (const JobId id : on_[index(g)]) {
      const Job& other = jobs_.at(id);
      residents.push_back({end_s(id, running_.at(id)), demand_mib(other, type),
                           other.is_part() ? other.pod.gpu_milli : 0});
      used += residents.back().mib;
      parts += residents.back().part_milli;
      wholes += other.is_part() ? 0 : 1;
    }
    std::ranges::sort(residents, {},
                      [](const Resident& r) { return std::tuple(r.end_s, r.mib, r.part_milli); });
    double at = 0;
    std::size_t left = residents.size();
    for (const Resident& r : residents) {
      if (has_room(type, j, left, parts, wholes, used)) break;
      at = r.end_s;
      --left;
      used -= r.mib;
      parts -= r.part_milli;
      wholes -= r.part_milli == 0 ? 1 : 0;
    }
    return at;
  }

  // Preemption.

  struct Option {
    double loss = kNever_s;  ///< completions per second and GPU
    GpuId gpu{};
    std::vector<JobId> victims;
    std::uint64_t number = 0;  ///< of the first victim's start
  };

  bool may_preempt(JobId id, const Run& run) const {
    return run.start != now_ && !jobs_.at(id).is_overdue;
  }
  /// What a preemption costs the job, in time at speed 1 [s].
  double cost_s(const Run& run) const {
    return loss_.seconds + loss_.work * (run.had_s + to_seconds(now_ - run.since));
  }
  /// Completions per second that the preemption of a job loses; more if it costs much.
  double loss_of(JobId id, const Run& run) const {
    return kHysteresis * run.alone / std::max(rest_s(id, run) - cost_s(run), kLeastRest_s);
  }

  /// As room_on() for a job that takes no part in sharing by belief, or where parts run: without the residents
  /// that lose least, as many as need be. A part never shares with a whole job.
  Option room_among_parts(const ClusterView& view, GpuId g, const Job& j) const {
    Option option{0, g, {}, 0};
    const GpuType& type = view.gpu_type(g);
    std::vector<std::tuple<double, std::uint64_t, JobId>> sorted;  // by loss, ties by start
    double used = 0;
    int parts = 0;
    int wholes = 0;
    bool closed = false;  // by a job that must be alone
    for (const JobId id : on_[index(g)]) {
      const Job& other = jobs_.at(id);
      const Run& run = running_.at(id);
      sorted.emplace_back(loss_of(id, run), run.number, id);
      used += demand_mib(other, type);
      parts += other.is_part() ? other.pod.gpu_milli : 0;
      wholes += other.is_part() ? 0 : 1;
      closed |= other.alone_only;
    }
    std::ranges::sort(sorted);
    std::size_t left = sorted.size();
    for (const auto& [loss, number, id] : sorted) {
      if (!closed && has_room(type, j, left, parts, wholes, used)) break;
      const Run& run = running_.at(id);
      if (!may_preempt(id, run)) return {};
      const Job& other = jobs_.at(id);
      option.loss += loss;
      if (option.victims.empty()) option.number = number;
      option.victims.push_back(id);
      --left;
      used -= demand_mib(other, type);
      parts -= other.is_part() ? other.pod.gpu_milli : 0;
      wholes -= other.is_part() ? 0 : 1;
      closed = closed && left > 0;
    }
    return option;
  }

  /// The cheapest way to make room for the job on a GPU: without one of its residents, or none.
  Option room_on(const ClusterView& view, GpuId g, const Job& j, JobId id) {
    Option best;
    const GpuType& type = view.gpu_type(g);
    const std::vector<JobId>& here = on_[index(g)];
    const bool parts = std::ranges::any_of(here, [&](JobId o) { return jobs_.at(o).is_part(); });
    if (j.is_part() || parts) return room_among_parts(view, g, j);
    for (std::size_t v = 0; v <= here.size(); ++v) {
      Option option{0, g, {}, 0};
      double used = demand_mib(j, type);
      std::size_t stay = 0;
      bool suits = true;
      for (std::size_t i = 0; i < here.size() && suits; ++i) {
        if (i == v) continue;
        ++stay;
        const Job& host = jobs_.at(here[i]);
        used += demand_mib(host, type);
        const PairSpeeds pair = speeds(id, here[i]);
        suits = !j.alone_only && !host.alone_only && pair.a > 0 && pair.b > 0 &&
                pays(j, pair.a, (1 - pair.b) * host.gang);
      }
      if (!suits || stay >= most_per_gpu_ || used > type.memory_mib) continue;
      if (v < here.size()) {
        const Run& run = running_.at(here[v]);
        if (!may_preempt(here[v], run)) continue;
        option.loss = loss_of(here[v], run);
        option.victims = {here[v]};
        option.number = run.number;
      }
      if (option.loss < best.loss) best = option;
    }
    return best;
  }

  bool preempt_for(const ClusterView& view, const Entry& entry, const JobView& job,
                   std::vector<Decision>& out) {
    const Job& j = jobs_.at(entry.job);
    const double rest = rest_s(j);
    if (kHysteresis * rest > most_rest_s_ * fastest(j)) return false;
    const auto gang = static_cast<std::size_t>(j.gang);
    double most = 0;  // completions per second
    std::vector<GpuId> gpus;
    std::vector<JobId> victims;
    std::vector<Option> options;
    each_domain(view, job, [&] {
      options.clear();
      for (const GpuId g : gpus_) {
        if (!may_run_on(job, view.gpu_type(g)) || view.gpu(g).profiling) continue;
        if (rest > free_by_s_[index(g)]) continue;
        const Option option = room_on(view, g, j, entry.job);
        if (option.loss < kNever_s) options.push_back(option);
      }
      if (options.size() < gang) return;
      std::ranges::stable_sort(options, [](const Option& a, const Option& b) {
        return std::tie(a.loss, a.number) < std::tie(b.loss, b.number);
      });
      double loss = 0;
      double speed = kNever_s;
      std::vector<JobId> marked;
      for (std::size_t i = 0; i < gang; ++i) {
        speed = std::min(speed, alone_on(j, types_[index(options[i].gpu)]));
        for (const JobId victim : options[i].victims) {
          if (std::ranges::find(marked, victim) != marked.end()) continue;
          marked.push_back(victim);
          loss += loss_of(victim, running_.at(victim));
        }
      }
      if (marked.empty()) return;  // it would wait for less: see wait_s()
      if (pods_ && !is_wide(view, job) && !node_suffices(j, marked)) return;
      const double gain = speed / rest - loss;
      if (gain < 0 || (!gpus.empty() && gain <= most)) return;
      most = gain;
      victims = marked;
      gpus.clear();
      for (std::size_t i = 0; i < gang; ++i) gpus.push_back(options[i].gpu);
    });
    if (gpus.empty()) return false;
    const Why why = overdue(entry) ? Why::kOverdue : Why::kShorter;
    for (const JobId victim : victims) {
      const Run& run = running_.at(victim);
      const Reason reason{.why = Why::kMakesRoom,
                          .beside = entry.job,
                          .speed = std::nullopt,
                          .delay_s = cost_s(run)};
      vacate(victim, LogKind::kPreempt);
      out.emplace_back(Preempt{{victim}, reason});
    }
    std::ranges::sort(gpus);
    start(entry, std::move(gpus), why, out);
    return true;
  }

  /// Whether the node of the present domain has the job's CPU and memory without these jobs.
  bool node_suffices(const Job& j, const std::vector<JobId>& without) const {
    ResourceRequest left = domain_node().left;
    for (const JobId id : without) {
      left.cpu_milli += jobs_.at(id).pod.request.cpu_milli;
      left.memory_mib += jobs_.at(id).pod.request.memory_mib;
    }
    return can_meet(left, j.pod.request);
  }

  // Moves.

  /// What the completion times of a running job and of those beside it gain [job s], if it goes on alone on GPUs where
  /// it takes so long; a tenth of that time is taken off.
  double gain_of_move(JobId id, const Run& run, double there_s) {
    const double here = end_s(id, run);
    double gain = here - kHysteresis * there_s;
    std::set<JobId> others;
    for (const GpuId g : run.gpus) others.insert(on_[index(g)].begin(), on_[index(g)].end());
    others.erase(id);
    for (const JobId other : others) {
      const Run& host = running_.at(other);
      const double without = speed_without(id, other, host);
      gain += std::min(here, end_s(other, host)) * (1 - host.speed / without);
    }
    return gain;
  }
  /// The highest speed alone that the job has on idle GPUs, which it may take; 0 if it finds too few.
  double idle_speed(const ClusterView& view, const JobView& job, const Job& j, double rest) {
    const auto gang = static_cast<std::size_t>(j.gang);
    double best = 0;
    std::vector<double> idle;
    each_domain(view, job, [&] {
      idle.clear();
      for (const GpuId g : gpus_) {
        const GpuType& type = view.gpu_type(g);
        if (!on_[index(g)].empty() || !may_run_on(job, type) || view.gpu(g).profiling) continue;
        const double speed = alone_on(j, type.id);
        if (rest / speed <= free_by_s_[index(g)]) idle.push_back(speed);
      }
      if (idle.size() < gang) return;
      std::ranges::sort(idle, std::greater<>{});
      best = std::max(best, idle[gang - 1]);
    });
    return best;
  }
  /// Takes the job off its GPUs that gains most on idle ones; it starts there by best_placement().
  bool move(const ClusterView& view, std::vector<Decision>& out) {
    if (std::ranges::none_of(on_, [](const auto& here) { return here.empty(); })) return false;
    JobId mover = kNoJob;
    double most = 0;
    for (const auto& [id, run] : running_) {
      const Job& j = jobs_.at(id);
      if (!may_preempt(id, run) || j.is_part() || j.asks_of_node()) continue;
      if (run.speed >= fastest(j)) continue;
      const double rest = rest_s(id, run) + cost_s(run);
      const double speed = idle_speed(view, view.job(id), j, rest);
      if (speed <= run.speed) continue;
      const double gain = gain_of_move(id, run, rest / speed);
      if (gain <= 0 || gain < most) continue;
      if (gain == most && run.number > running_.at(mover).number) continue;
      most = gain;
      mover = id;
    }
    if (mover == kNoJob) return false;
    const double cost = cost_s(running_.at(mover));
    vacate(mover, LogKind::kPreempt);
    out.emplace_back(Preempt{
        {mover},
        Reason{.why = Why::kMakesRoom, .beside = kNoJob, .speed = std::nullopt, .delay_s = cost}});
    return true;
  }
  /// The highest speed alone of the job on a type of the cluster.
  double fastest(const Job& j) const {
    double most = 0;
    for (const auto& [id, type] : type_of_) most = std::max(most, alone_on(j, id));
    return most;
  }

  /// Where estimates are not reliable, ranks of running jobs rise with time alone.
  void wake(const ClusterView& view, std::vector<Decision>& out) const {
    if (!options_.preempts || waiting_.empty()) return;
    Time next = kNever;
    for (const auto& [id, run] : running_) {
      const Job& j = jobs_.at(id);
      if (j.estimate_s && service_.reliability() > kReliable) continue;
      const Progress then = progress(run);
      const double had = j.had_s + then.had_s;
      const double wait = (RemainingService::next_step(had) - had + then.debt_s) / run.speed;
      next = std::min(next, later(now_, from_seconds(std::max(wait, kShortestWake_s))));
    }
    if (next < view.next_wake()) out.emplace_back(WakeAt{next});
  }
  static constexpr double kReliable = 0.9;
  static constexpr double kShortestWake_s = 1;

  SrsfOptions options_;
  std::unique_ptr<Belief> belief_;
  PreemptionLoss loss_;
  RemainingService service_;
  std::uint64_t finished_ = 0;  ///< jobs that service_ has learnt from
  double ranked_with_ = 1;      ///< reliability of the estimates behind the ranks

  Time now_{0};
  std::unordered_map<JobId, Job> jobs_;
  std::set<Entry> waiting_;
  std::set<std::tuple<Time, std::uint64_t, JobId>> due_;  ///< waiting jobs that are not overdue
  std::unordered_map<JobId, Run> running_;
  std::unordered_map<std::uint64_t, PairSpeeds> speeds_;  ///< by both jobs
  std::vector<std::vector<JobId>> on_;                    ///< by GPU
  std::vector<std::size_t> types_;                        ///< by GPU
  std::map<std::size_t, const GpuType*> type_of_;         ///< of the cluster, by number
  int widest_ = 0;                                        ///< GPUs of the largest node
  std::size_t most_per_gpu_ = kMostSharing;               ///< whole jobs
  std::size_t most_parts_ = kWhole;
  std::optional<PodLedger> ledger_;
  std::vector<JobId> unknown_;  ///< to the ledger, in order of arrival
  bool pods_ = false;  ///< some job asked for a part of a GPU, or for CPU or memory of its node
  std::uint64_t next_position_ = 0;
  std::uint64_t next_number_ = 1;

  JobId keeper_ = kNoJob;  ///< the overdue job that keeps GPUs reserved
  std::vector<GpuId> kept_;

  // Of the present pass.
  std::size_t pass_ = std::numeric_limits<std::size_t>::max();
  std::optional<Entry> cursor_;  ///< the last job tried
  std::size_t tried_ = 0;
  std::vector<double> free_by_s_;  ///< by GPU: jobs that start must end by then [s from now]
  int reservations_ = 0;
  /// By type, of its GPUs: when all their jobs have left [s from now].
  std::map<std::size_t, std::vector<double>> ends_s_;
  bool ends_are_sorted_ = false;  ///< ascending
  int ahead_ = 0;                 ///< GPUs that the jobs before the present one wait for
  double most_rest_s_ = 0;        ///< of a running job alone on its GPUs, at least
  std::vector<GpuId> gpus_;
  std::vector<Spot> spots_;
};

std::span<const ParameterSpec> srsf_packed_parameters() {
  static const std::vector<ParameterSpec> specs = {
      {.name = "mode",
       .description = "preemptive: jobs with much service left make room; or non-preemptive",
       .kind = ParameterKind::kChoice,
       .fallback = std::string("preemptive"),
       .choices = {"preemptive", "non-preemptive"}},
      {.name = "gain",
       .description = "jobs share where their GPUs do at least this much more work, a fraction",
       .kind = ParameterKind::kNumber,
       .fallback = 0.2,
       .min = -1,
       .max = 2,
       .choices = {}},
      {.name = "reservations",
       .description = "gangs without room for which GPUs are reserved",
       .kind = ParameterKind::kInteger,
       .fallback = std::int64_t{3},
       .min = 0,
       .max = 1000,
       .choices = {}},
      {.name = "patience",
       .description =
           "a job that has waited so many times its expected run time goes first; 0: never",
       .kind = ParameterKind::kNumber,
       .fallback = 50.0,
       .min = 0,
       .max = 1e6,
       .choices = {}},
      {.name = "tail",
       .description =
           "a job goes first once this times its expected rest exceeds the expected service of all "
           "jobs over the GPUs: queues end earlier, jobs later in the mean; 0: never",
       .kind = ParameterKind::kNumber,
       .fallback = 0.0,
       .min = 0,
       .max = 1e6,
       .choices = {}},
      {.name = "memory_margin",
       .description = "share added to memory demands of jobs that share",
       .kind = ParameterKind::kNumber,
       .fallback = 0.0,
       .min = 0,
       .max = 10,
       .choices = {}},
      risk_parameter(),
      {.name = "window",
       .description = "waiting jobs that a pass tries to start, the first in the order",
       .kind = ParameterKind::kInteger,
       .fallback = std::int64_t{256},
       .min = 1,
       .max = 1000000,
       .choices = {}},
  };
  return specs;
}

PolicyTraits srsf_packed_traits(const Parameters& parameters) {
  return {.always_colocates = true,
          .moves_running_jobs = true,
          .consolidates = true,
          .preempts = parameters.choice("mode") == "preemptive",
          .reads_estimates = true,
          .reads_speeds_on_types = true,
          .reads_memory = true,
          .reads_requests = true};
}

}  // namespace

PolicyEntry srsf_packed_entry() {
  return {.name = "srsf-packed",
          .description =
              "least mean completion time: shortest remaining service first, packed by expected "
              "delay, with reservations",
          .needs = PolicyNeeds::kBelief,
          .parameters = srsf_packed_parameters(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            const Parameters& p = c.parameters;
            SrsfOptions options;
            options.preempts = p.choice("mode") == "preemptive";
            options.gain = p.number("gain");
            options.reservations = static_cast<int>(*p.integer("reservations"));
            options.patience = p.number("patience");
            options.tail = p.number("tail");
            options.memory_margin = p.number("memory_margin");
            options.risk = p.number("risk");
            options.window = static_cast<std::size_t>(*p.integer("window"));
            return std::make_unique<SrsfPacked>(options, std::move(c));
          },
          .traits = {.always_colocates = true,
                     .moves_running_jobs = true,
                     .consolidates = true,
                     .preempts = true,
                     .reads_estimates = true,
                     .reads_speeds_on_types = true,
                     .reads_memory = true,
                     .reads_requests = true},
          .traits_with = srsf_packed_traits};
}

}  // namespace corun
