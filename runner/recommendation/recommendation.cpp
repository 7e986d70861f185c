#include "runner/recommendation/recommendation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/groups/recommender.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

/// A distance, or "unknown" for a job without a profile.
std::string shown_distance(double d) {
  return std::isfinite(d) ? fmt::format("{:.1f}", d) : "unknown";
}

std::string reason_of_bin(const Recommendation& r, const PolicyConfig& policy) {
  if (policy.settings.contains("bin")) return fmt::format("bin of {}, as given", r.jobs.size());
  return fmt::format("bin of {} filled by {} up to one GPU", r.jobs.size(),
                     std::get<std::string>(policy.settings.at("by")));
}

std::string reason_of(const Recommendation& r, const PolicyConfig& policy) {
  std::string text =
      r.group.bin ? reason_of_bin(r, policy)
                  : fmt::format("cluster pair {}-{}, rank {}, uncertainty {}/{}",
                                r.group.clusters->first, r.group.clusters->second, r.group.rank,
                                shown_distance(r.uncertainty[0]), shown_distance(r.uncertainty[1]));
  if (r.group.expected && !r.group.expected->observed) text += ", never observed: overall mean";
  if (!r.blank.empty()) text += fmt::format(", no profile of {}", fmt::join(r.blank, ", "));
  if (!r.overridden.empty()) {
    text += fmt::format(", {} by --overrides", fmt::join(r.overridden, ", "));
  }
  return text;
}

Recommendation recommendation_of(Group group, const Trace& trace, const ClusterBelief& clusters,
                                 const KnowledgeBase& kb, const Experiment& experiment) {
  Recommendation r;
  for (const JobId j : group.jobs) {
    const std::string& name = trace.jobs[index(j)].name;
    r.jobs.push_back(name);
    r.clusters.push_back(clusters.cluster(j));
    r.uncertainty.push_back(clusters.uncertainty(j));
    if (std::ranges::find(experiment.overrides(), name, &ClusterOverride::job) !=
        experiment.overrides().end()) {
      r.overridden.push_back(name);
    }
    if (std::isinf(r.uncertainty.back())) r.blank.push_back(name);
  }
  r.group = std::move(group);
  if (r.group.expected && r.group.expected->observed) {
    const int a = r.clusters[0];
    const int b = r.clusters[1];
    r.isd = {isd_interval(kb, a, b), isd_interval(kb, b, a)};
    r.ps = ps_interval(kb, a, b);
    r.observations = kb.ps(a, b).count();
  }
  r.reason = reason_of(r, experiment.policies().front().config);
  return r;
}

}  // namespace

RecommendedQueue recommend(const Experiment& experiment) {
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  const std::unique_ptr<World> world = experiment.make_world(*trace);
  const auto policy = experiment.make_policy(*trace, 0, experiment.policies().front(), *world);
  auto& recommender = dynamic_cast<Recommender&>(*policy);
  const Belief& belief = *recommender.belief();
  const KnowledgeBase* kb = knowledge_base_of(belief);
  if (kb == nullptr) {
    throw InputError(
        experiment.config().place("belief.initial"),
        "'" + printable(experiment.config().belief.initial) +
            "' has no clusters of profiles, expected a knowledge base: `corun kb build` makes "
            "one of profiles and co-runs");
  }
  const std::vector<JobView> views = experiment.views_of(*trace, 0);
  const ClusterState idle(experiment.cluster());

  RecommendedQueue queue;
  for (const JobView& view : views) queue.largest_gang = std::max(queue.largest_gang, view.gpus);
  for (int gang = 1; gang <= queue.largest_gang; ++gang) {
    std::vector<JobId> waiting;
    for (const JobId j : experiment.arrivals(*trace, 0)) {
      if (views[index(j)].gpus == gang) waiting.push_back(j);
    }
    if (waiting.empty()) continue;
    const ClusterView view(Time{0}, StartMode::kGroup, waiting, views, idle, 0, queue.largest_gang);
    for (Group& group : recommender.plan(view, waiting, queue.groups.size(), waiting.size())) {
      if (group.jobs.size() == 1) {
        queue.alone.push_back(trace->jobs[index(group.jobs.front())].name);
      } else {
        queue.groups.push_back(
            recommendation_of(std::move(group), *trace, *belief.as_clusters(), *kb, experiment));
      }
    }
  }
  return queue;
}

}  // namespace corun::inline runner
