#include <memory>

#include "policies/catalog.hpp"
#include "policies/pods/pod_policy.hpp"

/// best-fit: the node that would have the least left of its CPU and GPU, each as a share of the largest
/// node's, in equal parts. A share goes to the GPU with the least left that has room. The BestFit of the
/// FGD paper's comparison (Weng et al., "Beware of Fragmentation", USENIX ATC 2023).
namespace corun::inline policies {

namespace {

class BestFit final : public PodPolicy {
 protected:
  Fit fit(const PodNode& node, const PodKind& pod, double) const override {
    const auto cpu = static_cast<double>(node.left.cpu_milli - pod.request.cpu_milli);
    const double gpu = node.gpu_milli_left() - pod.gpus * pod.gpu_milli;
    return {cpu / most_cpu() / 2 + gpu / most_gpu() / 2, tightest_gpu(node, pod)};
  }
};

}  // namespace

PolicyEntry best_fit_entry() {
  return {
      .name = "best-fit",
      .description = "pods on parts of GPUs: the node that would have the least CPU and GPU left",
      .needs = PolicyNeeds::kNothing,
      .parameters = {},
      .make = [](PolicyContext) -> std::unique_ptr<Policy> { return std::make_unique<BestFit>(); },
      .traits = kPodTraits};
}

}  // namespace corun::inline policies
