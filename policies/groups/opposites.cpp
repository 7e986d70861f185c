#include <algorithm>
#include <cmath>

#include "policies/catalog.hpp"
#include "policies/groups/group_policy.hpp"

/// opposites: sorts the queue by maximum GPU utilisation and pairs the largest with the smallest; the
/// middle one of an odd queue stays alone. It knows nothing of co-runs: the baseline that an interference
/// model has to beat. A job of unknown utilisation counts as 50 %.
namespace corun::inline policies {

namespace {

class Opposites final : public GroupPolicy {
 public:
  using GroupPolicy::GroupPolicy;

  std::vector<Group> plan(const ClusterView& view, std::span<const JobId> waiting, std::uint64_t,
                          std::size_t) override {
    std::vector<JobId> jobs(waiting.begin(), waiting.end());
    std::sort(jobs.begin(), jobs.end(), [&](JobId a, JobId b) {
      const double ua = utilisation(view, a);
      const double ub = utilisation(view, b);
      return ua != ub ? ua > ub : a < b;
    });
    const bool share = view.max_jobs_per_gpu(kPair) >= kPair;
    std::vector<Group> groups;
    for (std::size_t i = 0, j = jobs.size(); i < j; ++i) {
      --j;
      if (i == j) {
        groups.push_back({.jobs = {jobs[i]}});
      } else if (share) {
        groups.push_back({.jobs = {jobs[i], jobs[j]}});
      } else {
        groups.push_back({.jobs = {jobs[i]}});
        groups.push_back({.jobs = {jobs[j]}});
      }
    }
    return groups;
  }

  /// The job whose utilisation is farthest from the resident's; ties to the lowest index.
  std::optional<JobId> co_runner(const ClusterView& view, JobId resident,
                                 std::span<const JobId> waiting) override {
    const double own = utilisation(view, resident);
    return *std::max_element(waiting.begin(), waiting.end(), [&](JobId a, JobId b) {
      const double da = std::fabs(utilisation(view, a) - own);
      const double db = std::fabs(utilisation(view, b) - own);
      return da != db ? da < db : a > b;
    });
  }

 private:
  static double utilisation(const ClusterView& view, JobId job) {
    return view.job(job).profile.gpu_util_pct.value_or(50);
  }
};

}  // namespace

PolicyEntry opposites_entry() {
  return {.name = "opposites",
          .description = "sort by GPU utilisation, pair the largest with the smallest",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Opposites>(c.plan_once);
          },
          .traits = {.plans_groups = true, .reads_utilisation = true}};
}

}  // namespace corun::inline policies
