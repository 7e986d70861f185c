#include <algorithm>

#include "policies/catalog.hpp"
#include "policies/groups/group_policy.hpp"

/// fcfs: the two oldest waiting jobs share the next empty GPU. It stands for the JRS paper's kube-scheduler
/// "making First Come First Serve decisions" (JRS, fig. 5).
namespace corun::inline policies {

namespace {

class Fcfs final : public GroupPolicy {
 public:
  using GroupPolicy::GroupPolicy;

  std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting, std::uint64_t,
                          std::size_t wanted) override {
    const auto size = static_cast<std::size_t>(std::min(kPair, view.max_jobs_per_gpu(kPair)));
    std::vector<Group> groups;
    for (std::size_t i = 0; i < waiting.size() && groups.size() < wanted; i += size) {
      const auto members = waiting.subspan(i, std::min(size, waiting.size() - i));
      groups.push_back({.jobs = {members.begin(), members.end()}});
    }
    return groups;
  }
};

}  // namespace

PolicyEntry fcfs_entry() {
  return {.name = "fcfs",
          .description = "first come, first served: the two oldest jobs share the next GPU",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Fcfs>(c.plan_once);
          },
          .traits = {.plans_groups = true}};
}

}  // namespace corun::inline policies
