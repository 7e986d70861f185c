#include <memory>
#include <vector>

#include "policies/catalog.hpp"
#include "policies/pods/fragmentation.hpp"
#include "policies/pods/pod_policy.hpp"

/// fgd: fragmentation gradient descent (Weng, Yang, Yu, Wang, Tang, Yang, Zhang, "Beware of Fragmentation:
/// Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC 2023). A pod goes to
/// the node, and a share to the GPU on it, with the least growth of fragmentation (fragmentation.hpp).
///
/// Departures: the target workload is learnt. Growths are compared unrounded, not as whole scores from 0 to
/// 100; memory counts beside CPU; ties go to the lowest index, not to a random one.
namespace corun::inline policies {

namespace {

class Fgd final : public PodPolicy {
 protected:
  bool learn(const std::vector<PodKindCount>& kinds, std::int64_t submitted) override {
    return fragmentation_.learn(kinds, submitted);
  }
  double worth(const PodNode& node) const override { return fragmentation_.of(node); }
  Fit fit(const PodNode& node, const PodKind& pod, double before) const override {
    const Fragmentation::Growth best = fragmentation_.with(node, pod, before);
    return {best.growth, best.gpu};
  }

 private:
  Fragmentation fragmentation_;
};

}  // namespace

PolicyEntry fgd_entry() {
  return {.name = "fgd",
          .description =
              "pods on parts of GPUs: where fragmentation grows least (FGD, USENIX ATC 2023)",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext) -> std::unique_ptr<Policy> { return std::make_unique<Fgd>(); },
          .traits = kPodTraits};
}

}  // namespace corun::inline policies
