#include <algorithm>
#include <memory>

#include "policies/catalog.hpp"
#include "policies/preemptive_queue.hpp"

/// srtf: shortest remaining time first, without sharing. What remains is the estimated run time
/// less the time that the job has been on its GPUs, as the scheduler itself saw it, and not less
/// than 0; so a job whose estimate was too short is not preempted once that is used up. A waiting
/// job takes the GPUs of running ones of which more remains (preemptive_queue.hpp); what that costs
/// them is not asked. Needs `estimates.duration`. As in Gu et al., "Tiresias", NSDI 2019, where it
/// is the bound for those who know run times.
namespace corun {

namespace {

class Srtf final : public PreemptiveQueue {
 public:
  using PreemptiveQueue::PreemptiveQueue;

 protected:
  double rank(const JobView& job) const override {
    const Duration left = job.estimate.value() - job.served;
    return static_cast<double>(std::max(left, Duration::zero()).count());
  }
  /// A running job is ranked by when it would end.
  double clock(Time now) const override { return static_cast<double>(now.count()); }
};

}  // namespace

PolicyEntry srtf_entry() {
  return {.name = "srtf",
          .description = "no sharing: shortest remaining estimated time first, preemptive",
          .needs = PolicyNeeds::kNothing,
          .parameters = queue_parameters(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Srtf>(queue_options(c.parameters));
          },
          .traits = {.needs_estimates = true}};
}

}  // namespace corun
