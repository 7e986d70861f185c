#include <algorithm>
#include <memory>

#include "policies/catalog.hpp"
#include "policies/queues/preemptive_queue.hpp"

/// srtf: shortest remaining time first, without sharing. The remaining time is the estimated run time less
/// the time that the job has been on its GPUs, as the scheduler observed it, and at least 0; so a job whose
/// estimate was too short is not preempted after that. A waiting job takes the GPUs of running jobs with
/// more remaining time (preemptive_queue.hpp), whatever preemption costs them. Needs `estimates.duration`.
/// As in Gu et al., "Tiresias", NSDI 2019, where it is the upper bound for policies that know run times.
namespace corun::inline policies {

namespace {

class Srtf final : public PreemptiveQueue {
 public:
  using PreemptiveQueue::PreemptiveQueue;

 protected:
  double rank(const JobView& job) const override {
    const Duration left = job.estimate.value() - job.served;
    return static_cast<double>(std::max(left, Duration::zero()).count());
  }
  /// A running job is ranked by its expected end.
  double clock(Time now) const override { return static_cast<double>(now.count()); }
};

}  // namespace

PolicyEntry srtf_entry() {
  return {.name = "srtf",
          .description = "no sharing: shortest remaining estimated time first, preemptive",
          .needs = PolicyNeeds::kNothing,
          .parameters = queue_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Srtf>(queue_parameters().read(c.parameters));
          },
          .traits = {.preempts = true, .needs_estimates = true},
          .traits_with =
              [](const Parameters& p) {
                return queue_traits(p, {.preempts = true, .needs_estimates = true});
              }};
}

}  // namespace corun::inline policies
