#include "runner/recommendation/service_recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/groups/recommender.hpp"
#include "services/queue_approximation.hpp"
#include "services/queue_simulation.hpp"

namespace corun::inline runner {

namespace {

/// What the requests of a service experience by the ISD of its replicas, in steps of 0.001.
class StretchedService {
 public:
  static constexpr int kStepsPerUnit = 1000;

  struct At {
    double within = 1;
    double busy = 0;  ///< share of time in which a replica works
  };

  /// `on_answer` is called after each stretch of the load that was not asked for before.
  StretchedService(const ServicePlan& plan, std::uint64_t seed, std::uint64_t entity,
                   std::function<void()> on_answer)
      : plan_(plan), seed_(seed), entity_(entity), on_answer_(std::move(on_answer)) {}

  const At& at(int step) {
    const auto known = known_.find(step);
    if (known != known_.end()) return known->second;
    const StepFunction stretch(1 + static_cast<double>(step) / kStepsPerUnit);
    const QueueResult result = served(stretch);
    on_answer_();
    return known_
        .emplace(step,
                 At{result.latency.share_within(from_seconds(plan_.goal_s)), result.utilisation()})
        .first->second;
  }
  const At& at_isd(double isd) {
    return at(static_cast<int>(
        std::lround(std::clamp(isd, 0.0, kMostIsdOfService) * static_cast<double>(kStepsPerUnit))));
  }
  bool keeps_goal(int step) { return at(step).within >= plan_.share; }

  /// Halves the steps between one at which the goal is kept and one at which it is not.
  std::optional<double> most_isd() {
    if (!keeps_goal(0)) return std::nullopt;
    int kept = 0;
    int missed = static_cast<int>(kMostIsdOfService) * kStepsPerUnit;
    if (keeps_goal(missed)) return kMostIsdOfService;
    while (missed - kept > 1) {
      const int middle = kept + (missed - kept) / 2;
      (keeps_goal(middle) ? kept : missed) = middle;
    }
    return static_cast<double>(kept) / kStepsPerUnit;
  }

 private:
  /// Of a trace each request is simulated; all stretches meet the same requests.
  QueueResult served(const StepFunction& stretch) const {
    if (!plan_.arrivals.empty()) {
      TraceRequests source(plan_.arrivals);
      QueueSimulation simulation{.seed = seed_, .entity = entity_};
      simulation.stretch = stretch;
      return simulate_queue(plan_.queue, source, simulation);
    }
    ApproximationOptions options{.seed = seed_, .entity = entity_};
    options.stretch = stretch;
    // A search asks for some twenty stretches of each level of the load.
    options.most_simulated = 1'000'000;
    options.most_sampled = 100'000;
    return approximate_queue(plan_.queue, plan_.load, plan_.spacing, options).result;
  }

  const ServicePlan& plan_;
  std::uint64_t seed_;
  std::uint64_t entity_;
  std::function<void()> on_answer_;
  std::map<int, At> known_;
};

/// A belief about the ISD that a replica would have beside a job.
struct BelievedIsd {
  double mean = 0;
  PredictionInterval interval{kNaN, kNaN};
  std::optional<double> kept;  ///< probability of an ISD of `most` or less
  std::string reason;
};

std::string shown_co_runs(std::int64_t co_runs) {
  if (co_runs == 0) return "never observed: overall mean";
  return fmt::format("{} co-run{}", co_runs, co_runs == 1 ? "" : "s");
}

/// By clusters the next ISD is of Student's t, as in isd_interval(); a model's is normal.
BelievedIsd believed_isd(const Belief& belief, JobId job, JobId replica,
                         std::optional<double> most) {
  const PairBelief pair = belief.pair(job, replica);
  BelievedIsd believed;
  believed.mean = std::max(0.0, pair.isd_b);
  if (const KnowledgeBase* kb = knowledge_base_of(belief)) {
    const ClusterBelief& clusters = *belief.as_clusters();
    const int a = clusters.cluster(job);
    const int b = clusters.cluster(replica);
    believed.interval = isd_interval(*kb, b, a);
    const double p = most ? isd_probability(*kb, b, a, *most) : 0;
    if (!std::isnan(believed.interval.lo)) believed.kept = p;
    believed.reason =
        fmt::format("cluster pair {}-{}, {}", b, a, shown_co_runs(kb->ps(a, b).count()));
    for (const auto& [id, whose] : {std::pair{job, "the job"}, {replica, "the service"}}) {
      if (std::isinf(clusters.uncertainty(id))) {
        believed.reason += fmt::format(", no profile of {}", whose);
      }
    }
    return believed;
  }
  if (!pair.observed || pair.sd_b <= 0) {
    believed.reason = pair.observed ? "of unknown spread" : "never observed";
    return believed;
  }
  constexpr double kHalfOf90 = 1.6448536269514722;  // standard deviations
  believed.interval = {std::max(0.0, pair.isd_b - kHalfOf90 * pair.sd_b),
                       pair.isd_b + kHalfOf90 * pair.sd_b};
  believed.kept =
      most ? boost::math::cdf(boost::math::normal(0, 1), (*most - pair.isd_b) / pair.sd_b) : 0;
  believed.reason = "by the model";
  return believed;
}

BesideService beside_service(const Belief& belief, JobId job, JobId replica,
                             const ServiceRecommendation& of, StretchedService& service,
                             double sure) {
  const BelievedIsd believed = believed_isd(belief, job, replica, of.most_isd);
  BesideService beside;
  beside.isd = believed.mean;
  beside.isd_interval = believed.interval;
  const StretchedService::At at = service.at_isd(believed.mean);
  beside.within = at.within;
  // It has its speed beside a working replica in the share of time in which that works (DESIGN 4.23).
  const double isd_of_job = std::max(0.0, belief.pair(job, replica).isd_a);
  beside.job_isd = 1 / (1 - at.busy * (1 - 1 / (1 + isd_of_job))) - 1;
  constexpr double kDigits = 1e6;  // the last bits of a distribution depend on the machine
  if (believed.kept) beside.probability = std::round(*believed.kept * kDigits) / kDigits;
  beside.may_share = beside.probability && *beside.probability >= sure;
  beside.reason = believed.reason;
  if (!of.most_isd) beside.reason = "the service misses its goal alone";
  return beside;
}

}  // namespace

std::vector<ServiceRecommendation> recommend_for_services(
    const Experiment& experiment, double sure,
    const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  const std::unique_ptr<World> world = experiment.make_world(*trace);
  const auto policy = experiment.make_policy(*trace, 0, experiment.policies().front(), *world);
  const Belief& belief = *dynamic_cast<Recommender&>(*policy).belief();
  const std::uint64_t seed = experiment.seed_of(0);
  const std::vector<ServicePlan> plans = experiment.services().plans(seed);

  // Stretches: of the search for the most, and of the jobs, which are alike if their clusters are.
  constexpr std::size_t kOfSearch = 16;
  const std::size_t of_service = kOfSearch + experiment.arrivals(*trace, 0).size();
  std::vector<ServiceRecommendation> all;
  for (std::size_t s = 0; s < plans.size(); ++s) {
    const ServicePlan& plan = plans[s];
    std::size_t done = s * of_service;
    const auto step = [&] {
      if (progress) progress(std::min(++done, (s + 1) * of_service), plans.size() * of_service);
    };
    StretchedService service(plan, seed, s, step);
    ServiceRecommendation of;
    of.service = plan.name;
    of.goal_s = plan.goal_s;
    of.share = plan.share;
    of.load_per_s = mean_rate(plan.load);
    of.replicas = plan.queue.replicas;
    of.within_alone = service.at(0).within;
    of.most_isd = service.most_isd();
    const auto replica = std::ranges::find_if(
        trace->jobs, [&](const TraceJob& job) { return job.spec.service == static_cast<int>(s); });
    const auto replica_id = static_cast<JobId>(replica - trace->jobs.begin());
    for (const JobId job : experiment.arrivals(*trace, 0)) {
      const TraceJob& asked = trace->jobs[index(job)];
      if (asked.spec.is_replica()) continue;
      BesideService beside;
      if (asked.spec.gpus > 1) {
        beside.reason = fmt::format("needs {} GPUs, a replica has one", asked.spec.gpus);
      } else {
        beside = beside_service(belief, job, replica_id, of, service, sure);
      }
      beside.job = asked.name;
      of.jobs.push_back(std::move(beside));
    }
    std::ranges::stable_sort(of.jobs, [](const BesideService& a, const BesideService& b) {
      const double pa = a.probability.value_or(-1);
      const double pb = b.probability.value_or(-1);
      return pa != pb ? pa > pb : !std::isnan(a.job_isd) && !(a.job_isd >= b.job_isd);
    });
    all.push_back(std::move(of));
  }
  return all;
}

}  // namespace corun::inline runner
