#include <memory>

#include "policies/catalog.hpp"
#include "policies/pods/pod_policy.hpp"

/// dot-product: the node whose free CPU and GPU, as a vector, has the least dot product with the pod's
/// requests, each as a share of the largest node's. A share goes to the GPU with the least left that has
/// room. The DotProd of the FGD paper's comparison (Weng et al., USENIX ATC 2023), after Tetris (Grandl et
/// al., SIGCOMM 2014), which takes the greatest. Departure: one GPU dimension per node, the sum over its
/// GPUs.
namespace corun::inline policies {

namespace {

class DotProduct final : public PodPolicy {
 protected:
  Fit fit(const PodNode& node, const PodKind& pod, double) const override {
    const double cpu = static_cast<double>(node.left.cpu_milli) / most_cpu() *
                       (static_cast<double>(pod.request.cpu_milli) / most_cpu());
    const double gpu = node.gpu_milli_left() / most_gpu() * (pod.gpus * pod.gpu_milli / most_gpu());
    return {cpu + gpu, tightest_gpu(node, pod)};
  }
};

}  // namespace

PolicyEntry dot_product_entry() {
  return {.name = "dot-product",
          .description = "pods on parts of GPUs: the node least aligned with what the pod asks for",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext) -> std::unique_ptr<Policy> {
            return std::make_unique<DotProduct>();
          },
          .traits = kPodTraits};
}

}  // namespace corun::inline policies
