#include <algorithm>

#include "policies/catalog.hpp"
#include "policies/groups/group_policy.hpp"
#include "sim/rng.hpp"

/// random: a uniformly drawn pair of waiting jobs shares the next empty GPU. It stands for the JRS paper's
/// kube-scheduler "making random decisions" (JRS, fig. 5). Draws are keyed by (seed, group).
namespace corun::inline policies {

namespace {

class Random final : public GroupPolicy {
 public:
  Random(bool plan_once, std::uint64_t seed) : GroupPolicy(plan_once), seed_(seed) {}

  std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting,
                          std::uint64_t first, std::size_t wanted) override {
    const auto size = static_cast<std::size_t>(std::min(kPair, view.max_jobs_per_gpu(kPair)));
    std::vector<JobId> left(waiting.begin(), waiting.end());
    sort_by_submission(view, left);
    std::vector<Group> groups;
    while (!left.empty() && groups.size() < wanted) {
      Rng rng(seed_, Stream::kRandomPolicy, first + groups.size());
      Group group;
      while (!left.empty() && group.jobs.size() < size) {
        const auto at = left.begin() + rng.below(static_cast<std::uint32_t>(left.size()));
        group.jobs.push_back(*at);
        left.erase(at);
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }

  std::optional<JobId> co_runner(const ClusterView& view, JobId resident,
                                 std::span<const JobId> waiting) override {
    std::vector<JobId> jobs(waiting.begin(), waiting.end());
    sort_by_submission(view, jobs);
    Rng rng(seed_, Stream::kRandomPolicy, (std::uint64_t{1} << 32) + index(resident));
    return jobs[rng.below(static_cast<std::uint32_t>(jobs.size()))];
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

PolicyEntry random_entry() {
  return {.name = "random",
          .description = "a uniformly drawn pair of waiting jobs shares the next GPU",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Random>(c.plan_once, c.seed);
          },
          .traits = {.plans_groups = true}};
}

}  // namespace corun::inline policies
