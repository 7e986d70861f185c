#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/groups/recommender_parameters.hpp"
#include "policies/parameters_of.hpp"
#include "policies/srsf_packed/moves.hpp"
#include "policies/srsf_packed/placement.hpp"
#include "policies/srsf_packed/preemption.hpp"
#include "policies/srsf_packed/queue.hpp"
#include "policies/srsf_packed/sizes.hpp"

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
///   Elastic     jobs that may have several numbers of GPUs are resized by the same gain: sizes.hpp. Their speeds are those of
///               AllocationBelief, the truth with `belief.model: truth`, else fitted to what jobs measure. A job that finds no
///               room takes fewer GPUs. It leaves its GPUs and starts anew where a resize pays.
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
namespace corun::inline policies {

namespace {

using namespace srsf;  // NOLINT: the parts of this policy

class SrsfPacked final : public Policy {
 public:
  SrsfPacked(const Options& options, PolicyContext context)
      : options_(options),
        belief_(std::move(context.belief)),
        jobs_(options_),
        running_(options_, jobs_, *belief_, context.preemption),
        queue_(options_, jobs_, running_),
        reservations_(options_, jobs_, running_),
        placer_(options_, jobs_, running_, reservations_),
        preemption_(jobs_, running_, reservations_, context.preemption),
        moves_(jobs_, running_, reservations_, preemption_),
        sizes_(options_, jobs_, running_, context.allocations, context.allocations_learn,
               std::move(context.fitted), context.preemption) {}

  const Belief* belief() const override { return belief_.get(); }
  void corun_ended(const EpisodeOutcome& outcome) override {
    belief_->learn(outcome);
    running_.forget_speeds();
  }

  void probe_ended(const ProbeOutcome& outcome) override {
    belief_->learn_probe(outcome);
    running_.forget_speeds();
  }

  void arrived(const JobView& job, Time now) override {
    jobs_.set_now(now);
    const auto [at, is_new] = jobs_.add(job.id);
    Job& j = *at;
    if (is_new) {
      if (job.estimate) j.estimate_s = to_seconds(*job.estimate);
      j.gang = j.asked = job.gpus;
      j.submit = job.submit;
      j.memory_mib = job.profile.mem_used_mib;
      j.types = job.on_types;
      j.is_overdue = job.service != nullptr;  // replicas of services go first, and stay
      j.pod = {job.gpus, job.gpu_milli, job.gpu_models, job.request};
      unknown_.push_back(job.id);
      sizes_.arrived(job, j);
      if (j.is_part() || j.asks_of_node()) placer_.expect_pods();
    }
    j.alone_only = job.resubmissions > 0;
    j.served = job.served;
    queue_.enter(job.id, j);
  }

  void departed(JobId job, LogKind how, Time now) override {
    jobs_.set_now(now);
    if (running_.contains(job)) running_.vacate(job, how);
    if (how != LogKind::kFinish && how != LogKind::kFail) return;
    if (!jobs_.contains(job)) return;  // it was done while it was profiled
    jobs_.remove(job, how == LogKind::kFinish);
    sizes_.ended(job);
    queue_.rank_again();
  }

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    jobs_.set_now(view.now());
    if (view.pass() != pass_) {
      begin(view);
      if (resize(view, out)) {
        restart(view);
        return;
      }
    }
    while (tried_ < options_.window) {
      const Entry* at = queue_.after(cursor_);
      if (at == nullptr) break;
      const Entry entry = *at;
      const std::optional<Entry> before = std::exchange(cursor_, entry);
      ++tried_;
      const JobView& job = jobs_.view(view, entry.job);
      bool may_preempt = options_.preempts;
      Placement place = best_place(view, entry, may_preempt);
      while (place.gpus.empty() && sizes_.shrink(view, entry.job)) {
        place = best_place(view, entry, may_preempt);
      }
      if (place.gpus.empty() && options_.preempts) {
        if (preempt_for(view, entry, job, out)) {
          restart(view);  // jobs before this one may have room now
          return;
        }
        may_preempt = false;
        place = best_place(view, entry, may_preempt);
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
      reservations_.passed_over(job);
      if (reservations_.has_one_for(entry, job)) reservations_.reserve(view, entry, job);
    }
    if (options_.preempts && move(view, out)) {
      restart(view);
      return;
    }
    wake(view, out);
  }

 private:
  void begin(const ClusterView& view) {
    pass_ = view.pass();
    running_.begin(view);
    for (const JobId id : unknown_) {
      Job& j = jobs_.at(id);
      j.kind = running_.ledger().submitted(j.pod);
    }
    if (placer_.pods() && !unknown_.empty()) running_.ledger().learn();
    unknown_.clear();
    queue_.promote_overdue();
    if (options_.tail > 0) queue_.promote_tail();
    restart(view);
    if (options_.preempts) preemption_.begin();
  }

  /// Takes jobs off their GPUs that are to start anew with another number.
  bool resize(const ClusterView& view, std::vector<Decision>& out) {
    const std::vector<JobId> jobs = sizes_.plan(view);
    for (const JobId id : jobs) {
      const Reason reason{.why = Why::kMakesRoom,
                          .beside = kNoJob,
                          .speed = std::nullopt,
                          .delay_s = preemption_.cost_s(running_.at(id))};
      running_.vacate(id, LogKind::kPreempt);
      out.emplace_back(Preempt{{id}, reason});
    }
    return !jobs.empty();
  }

  /// To the first waiting job, without reservations.
  void restart(const ClusterView& view) {
    cursor_.reset();
    tried_ = 0;
    reservations_.restart(view);
  }

  /// `may_preempt`: it shares only where that costs less than the place of another job.
  Placement best_place(const ClusterView& view, const Entry& entry, bool may_preempt) {
    const double most_s = may_preempt ? preemption_.delay_s(jobs_.at(entry.job)) : kNever_s;
    return placer_.best(view, entry, jobs_.view(view, entry.job), most_s);
  }

  /// Of the waiting jobs with the rank of `first`, the one whose placement adds the least delay. `place`: that of
  /// `first`, becomes its own.
  Entry best_of_equals(const ClusterView& view, const Entry& first, Placement& place,
                       bool may_preempt) {
    Entry best = first;
    std::size_t tried = tried_;
    for (const Entry* at = queue_.after(first);
         at != nullptr && at->rank == first.rank && place.delay > 0 && tried < options_.window;
         at = queue_.after(*at), ++tried) {
      Placement other = best_place(view, *at, may_preempt);
      if (other.gpus.empty() || other.delay >= place.delay) continue;
      place = std::move(other);
      best = *at;
    }
    return best;
  }

  /// Before the start.
  Why why_here(const Entry& entry, const std::vector<GpuId>& gpus) const {
    if (overdue(entry)) return Why::kOverdue;
    if (of_tail(entry)) return Why::kTail;
    const auto reserved = [&](GpuId g) { return reservations_.free_by_s(g) < kNever_s; };
    const auto shared = [&](GpuId g) { return !running_.on(g).empty(); };
    if (std::ranges::any_of(gpus, reserved)) return Why::kBackfills;
    if (jobs_.at(entry.job).is_part()) return Why::kPart;
    return std::ranges::any_of(gpus, shared) ? Why::kShares : Why::kAlone;
  }

  void start(const Entry& entry, std::vector<GpuId> gpus, Why why, std::vector<Decision>& out) {
    queue_.leave(entry.job, jobs_.at(entry.job));
    reservations_.started(entry);
    Reason reason = running_.start(entry.job, gpus);
    reason.why = why;
    out.emplace_back(StartGroup{{entry.job}, std::move(gpus), reason});
  }

  bool preempt_for(const ClusterView& view, const Entry& entry, const JobView& job,
                   std::vector<Decision>& out) {
    std::optional<Preemption::Room> room = preemption_.find(view, entry, job, placer_.pods());
    if (!room) return false;
    const Why why = overdue(entry) ? Why::kOverdue : Why::kShorter;
    for (const JobId victim : room->victims) {
      const Reason reason{.why = Why::kMakesRoom,
                          .beside = entry.job,
                          .speed = std::nullopt,
                          .delay_s = preemption_.cost_s(running_.at(victim))};
      running_.vacate(victim, LogKind::kPreempt);
      out.emplace_back(Preempt{{victim}, reason});
    }
    start(entry, std::move(room->gpus), why, out);
    return true;
  }

  /// Takes a job off its GPUs that gains by idle ones; it starts there as the waiting jobs do.
  bool move(const ClusterView& view, std::vector<Decision>& out) {
    const JobId mover = moves_.best(view);
    if (mover == kNoJob) return false;
    const Reason reason{.why = Why::kMakesRoom,
                        .beside = kNoJob,
                        .speed = std::nullopt,
                        .delay_s = preemption_.cost_s(running_.at(mover))};
    running_.vacate(mover, LogKind::kPreempt);
    out.emplace_back(Preempt{{mover}, reason});
    return true;
  }

  /// Where estimates are not reliable, ranks of running jobs rise with time alone.
  void wake(const ClusterView& view, std::vector<Decision>& out) const {
    Time next = options_.preempts && sizes_.any_runs() ? later(jobs_.now(), kResizePeriod) : kNever;
    if (next < view.next_wake()) out.emplace_back(WakeAt{next});
    if (!options_.preempts || queue_.empty()) return;
    const Time resize_at = std::exchange(next, kNever);
    for (const auto& [id, run] : running_.all()) {
      const Job& j = jobs_.at(id);
      if (j.estimate_s && jobs_.service().reliability() > kReliable) continue;
      const Running::Progress then = running_.progress(run);
      const double had = j.had_s + then.had_s;
      const double wait = (RemainingService::next_step(had) - had + then.debt_s) / run.speed;
      next = std::min(next, later(jobs_.now(), from_seconds(std::max(wait, kShortestWake_s))));
    }
    if (next < view.next_wake() && next < resize_at) out.emplace_back(WakeAt{next});
  }
  static constexpr double kReliable = 0.9;
  static constexpr double kShortestWake_s = 1;
  static constexpr Duration kResizePeriod = std::chrono::seconds{60};  ///< as pollux and sia

  Options options_;
  std::unique_ptr<Belief> belief_;
  Jobs jobs_;
  Running running_;
  Queue queue_;
  Reservations reservations_;
  Placer placer_;
  Preemption preemption_;
  Moves moves_;
  Sizes sizes_;
  std::vector<JobId> unknown_;  ///< to the ledger, in order of arrival

  // Of the present pass.
  std::size_t pass_ = std::numeric_limits<std::size_t>::max();
  std::optional<Entry> cursor_;  ///< the last job tried
  std::size_t tried_ = 0;
};

const ParametersOf<srsf::Options>& srsf_packed_parameters() {
  using srsf::Options;
  static const auto all =
      ParametersOf<Options>()
          .choice("mode", &Options::preempts, {{"preemptive", true}, {"non-preemptive", false}},
                  "preemptive: jobs with much service left make room; or non-preemptive")
          .number(
              "gain", &Options::gain,
              {-1, 2, "jobs share where their GPUs do at least this much more work, a fraction"})
          .number("reservations", &Options::reservations,
                  {0, 1000, "gangs without room for which GPUs are reserved"})
          .only_where(some_jobs_are_gangs)
          .number("patience", &Options::patience,
                  {0, 1e6,
                   "a job that has waited so many times its expected run time goes first; 0: "
                   "never"})
          .number(
              "tail", &Options::tail,
              {0, 1e6,
               "a job goes first once this times its expected rest exceeds the expected service "
               "of all jobs over the GPUs: queues end earlier, jobs later in the mean; 0: "
               "never"})
          .number("memory_margin", &Options::memory_margin,
                  {0, 10, "share added to memory demands of jobs that share"})
          .only_where(jobs_share_memory)
          .number("risk", &Options::risk, kRiskText)
          .only_where(jobs_share)
          .number("window", &Options::window,
                  {1, 1e6, "waiting jobs that a pass tries to start, the first in the order"})
          .only_where(jobs_exceed_window);
  return all;
}

PolicyTraits srsf_packed_traits(const Parameters& parameters) {
  return {.always_colocates = true,
          .moves_running_jobs = true,
          .consolidates = true,
          .preempts = srsf_packed_parameters().read(parameters).preempts,
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
          .parameters = srsf_packed_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            const srsf::Options options = srsf_packed_parameters().read(c.parameters);
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
          .traits_with = srsf_packed_traits,
          .takes_allocations = true};
}

}  // namespace corun::inline policies
