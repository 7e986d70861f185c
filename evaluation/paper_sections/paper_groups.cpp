#include "evaluation/paper_sections/paper_groups.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/catalog.hpp"
#include "policies/groups/recommender.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline evaluation {

namespace {

constexpr std::string_view kMisprinted = "J4-869";  ///< printed with another job's distance

std::string sample_name(std::string_view model, int batch_size) {
  return fmt::format("{}-{}", model, batch_size);
}

}  // namespace

std::vector<Profile> queue_profiles(const SampleSet& samples) {
  std::map<std::string, const Profile*> by_name;
  for (std::size_t i = 0; i < samples.names.size(); ++i) {
    by_name.emplace(samples.names[i], &samples.profiles[i]);
  }
  std::vector<Profile> profiles;
  for (const QueueJob& job : jrs_queue()) {
    const auto at = by_name.find(sample_name(job.model, job.batch_size));
    profiles.push_back(at == by_name.end() ? Profile{} : *at->second);
  }
  return profiles;
}

NamedGroups recommend_queue(const KnowledgeBase& kb, const std::vector<Profile>& profiles,
                            QueueOverrides overrides, std::string_view policy,
                            std::string_view pairing) {
  std::vector<ClusterAssignment> assignments;
  std::vector<JobView> job_views;
  std::vector<JobId> waiting;
  for (std::size_t j = 0; j < profiles.size(); ++j) {
    const QueueJob& job = jrs_queue()[j];
    ClusterAssignment a = assign_cluster(kb.clustering(), profiles[j]);
    if (overrides == QueueOverrides::kPrinted) {
      if (!has_features(profiles[j])) a.cluster = job.cluster;
      if (!has_features(profiles[j]) || job.id == kMisprinted) a.uncertainty = job.uncertainty;
    }
    assignments.push_back(a);
    JobView job_view;
    job_view.id = static_cast<JobId>(j);
    job_view.gpus = 1;
    job_view.profile = profiles[j];
    job_views.push_back(job_view);
    waiting.push_back(job_view.id);
  }
  const PolicyEntry& entry = *find_policy(policy);
  PolicyContext context{Parameters(entry.parameters),
                        std::make_unique<ClusterMeanBelief>(kb, std::move(assignments)), 1, false};
  context.parameters.set("pairing", std::string(pairing));
  const std::unique_ptr<Policy> made = entry.make(std::move(context));
  ClusterSpec cluster;
  cluster.nodes.assign(1, NodeSpec{});
  cluster.nodes.front().gpus = 1;
  const ClusterState idle(cluster);
  const ClusterView view(Time{0}, StartMode::kGroup, waiting, job_views, idle, 0, 1);
  NamedGroups groups;
  for (const Group& group :
       dynamic_cast<Recommender&>(*made).plan(view, waiting, 0, waiting.size())) {
    std::vector<std::string> names;
    for (const JobId id : group.jobs) names.emplace_back(jrs_queue()[index(id)].id);
    std::sort(names.begin(), names.end());
    groups.push_back(std::move(names));
  }
  return groups;
}

std::size_t groups_in_common(const NamedGroups& groups, std::string_view table) {
  const std::set<std::vector<std::string>> ours(groups.begin(), groups.end());
  std::size_t common = 0;
  for (const PaperScheduleGroup& group : paper_schedule(table).groups) {
    std::vector<std::string> jobs = group.jobs;
    std::sort(jobs.begin(), jobs.end());
    common += ours.count(jobs);
  }
  return common;
}

}  // namespace corun::inline evaluation
