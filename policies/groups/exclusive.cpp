#include "policies/catalog.hpp"
#include "policies/groups/group_policy.hpp"

/// exclusive: no sharing. Every job has its GPUs alone, oldest first: a reference with ISD 0 and PS 0.
/// The slot-based scheduler of Yeung et al. (HotCloud 2020) is the same, under the alias `slot`.
namespace corun::inline policies {

namespace {

class Exclusive final : public GroupPolicy {
 public:
  using GroupPolicy::GroupPolicy;

  std::vector<Group> plan(const ClusterView&, std::span<const JobId> waiting, std::uint64_t,
                          std::size_t wanted) override {
    std::vector<Group> groups;
    for (const JobId j : waiting.first(std::min(wanted, waiting.size()))) {
      groups.push_back({.jobs = {j}});
    }
    return groups;
  }

  std::optional<JobId> co_runner(const ClusterView&, JobId, std::span<const JobId>) override {
    return std::nullopt;
  }
};

}  // namespace

PolicyEntry exclusive_entry() {
  return {.name = "exclusive",
          .description = "no sharing: one job per GPU, oldest first (the bound with ISD 0)",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Exclusive>(c.plan_once);
          },
          .traits = {.shares = false, .plans_groups = true},
          .alias = "slot"};
}

}  // namespace corun::inline policies
