#include <memory>

#include <corun/policies/plugin.hpp>
#include <corun/policies/queues/queue_policy.hpp>

/// longest-first: the opposite of sjf, a policy to copy and change. Needs `estimates.duration`.
namespace {

class LongestFirst final : public corun::QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

 protected:
  double rank(const corun::JobView& job) const override {
    return -static_cast<double>(job.estimate.value().count());
  }
};

corun::PolicyEntry longest_first_entry() {
  return {.name = "longest-first",
          .description = "no sharing: longest estimated run time first",
          .parameters = corun::queue_parameters().specs(),
          .make = [](corun::PolicyContext c) -> std::unique_ptr<corun::Policy> {
            return std::make_unique<LongestFirst>(corun::queue_parameters().read(c.parameters));
          },
          .traits = {.needs_estimates = true},
          .traits_with =
              [](const corun::Parameters& p) {
                return corun::queue_traits(p, {.needs_estimates = true});
              }};
}

}  // namespace

CORUN_POLICY_LIBRARY(longest_first_entry())
