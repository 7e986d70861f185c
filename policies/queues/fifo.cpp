#include <memory>

#include "policies/catalog.hpp"
#include "policies/queues/queue_policy.hpp"

/// fifo: first in, first out, without sharing: by submit time, each job on GPUs of its own. A job that
/// finds no room holds up the jobs behind it. The baseline of this name in simulators of GPU clusters
/// (Lucid's, Gavel's, Alibaba's). `fcfs` of the JRS paper shares GPUs.
namespace corun::inline policies {

namespace {

class Fifo final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;

 protected:
  double rank(const JobView&) const override { return 0; }
};

}  // namespace

PolicyEntry fifo_entry() {
  return {.name = "fifo",
          .description = "no sharing: by submit time, head of the line blocks",
          .needs = PolicyNeeds::kNothing,
          .parameters = queue_parameters().specs(),
          .make = [](PolicyContext c) -> std::unique_ptr<Policy> {
            return std::make_unique<Fifo>(queue_parameters().read(c.parameters));
          },
          .traits_with = [](const Parameters& p) { return queue_traits(p); }};
}

}  // namespace corun::inline policies
