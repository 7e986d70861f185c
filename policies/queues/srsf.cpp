#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/parameters_of.hpp"
#include "policies/queues/counted_queue.hpp"

/// srsf: shortest remaining service first, preemptive, without sharing. Remaining service is GPUs x remaining time,
/// remaining time the estimated run time less the time that the job has been on its GPUs, and what its preemptions
/// cost; at least 0. At each event the jobs take GPUs in this order (counted_queue.hpp); of equals, waiting ones go first
/// in the order of the queue, then running ones in that of their starts. Needs `estimates.duration`.
/// It is `shortest-gpu` of the simulator of Tiresias (Gu et al., NSDI 2019), with `remaining: time` its `shortest`, and
/// with `placement: consolidated` too the policy srtf of Lucid's simulator (Hu et al., ASPLOS 2023).
namespace corun::inline policies {

namespace {

enum class Remaining : std::uint8_t { kService, kTime };

struct SrsfOptions : CountedOptions {
  Remaining remaining = Remaining::kService;
};

class Srsf final : public CountedQueue {
 public:
  Srsf(const SrsfOptions& options, const PreemptionLoss& preemption)
      : CountedQueue(options.placing), options_(options), preemption_(preemption) {}

 protected:
  void order(const ClusterView& view, std::vector<JobId>& jobs) override {
    ranked_.clear();
    for (const JobId job : view.waiting()) ranked_.emplace_back(rank(view, job), job);
    for (const Running& r : running()) ranked_.emplace_back(rank(view, r.job), r.job);
    std::ranges::stable_sort(ranked_, {}, &Ranked::first);
    for (const auto& [rank, job] : ranked_) jobs.push_back(job);
  }

 private:
  using Ranked = std::pair<double, JobId>;

  double rank(const ClusterView& view, JobId id) const {
    const JobView& job = view.job(id);
    const Duration left = job.estimate.value() +
                          job.preemptions * from_seconds(preemption_.seconds_of(job.gpus)) -
                          job.attained(view.now());
    const auto ns = static_cast<double>(std::max(left, Duration::zero()).count());
    return options_.remaining == Remaining::kTime ? ns : ns * job.gpus;
  }

  SrsfOptions options_;
  PreemptionLoss preemption_;
  std::vector<Ranked> ranked_;
};

const ParametersOf<SrsfOptions>& srsf_parameters() {
  static const auto all =
      ParametersOf<SrsfOptions>()
          .choice("remaining", &SrsfOptions::remaining,
                  {{"service", Remaining::kService}, {"time", Remaining::kTime}},
                  "order by: service (GPUs x remaining time) or time")
          .only_where(some_jobs_are_gangs)
          .with(counted_parameters());
  return all;
}

}  // namespace

PolicyEntry srsf_entry() {
  return {.name = "srsf",
          .description = "no sharing: shortest remaining estimated service first, preemptive",
          .needs = PolicyNeeds::kNothing,
          .parameters = srsf_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Srsf>(srsf_parameters().read(c.parameters), c.preemption);
          },
          .traits = {.moves_running_jobs = true, .preempts = true, .needs_estimates = true},
          .traits_with =
              [](const Parameters& p) { return counted_traits(p, {.needs_estimates = true}); }};
}

}  // namespace corun::inline policies
