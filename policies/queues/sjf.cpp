#include <memory>

#include "policies/catalog.hpp"
#include "policies/queues/queue_policy.hpp"

/// sjf: shortest job first, without sharing and without preemption: by estimated run time, ties by submit
/// time. The first job that finds no room holds up the jobs behind it. Needs `estimates.duration`.
namespace corun::inline policies {

namespace {

class Sjf final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

 protected:
  double rank(const JobView& job) const override {
    return static_cast<double>(job.estimate.value().count());
  }
};

}  // namespace

PolicyEntry sjf_entry() {
  return {.name = "sjf",
          .description = "no sharing: shortest estimated run time first, head of the line blocks",
          .needs = PolicyNeeds::kNothing,
          .parameters = queue_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Sjf>(queue_parameters().read(c.parameters));
          },
          .traits = {.needs_estimates = true},
          .traits_with =
              [](const Parameters& p) { return queue_traits(p, {.needs_estimates = true}); }};
}

}  // namespace corun::inline policies
