#include <algorithm>
#include <memory>

#include "policies/catalog.hpp"
#include "policies/pods/pod_policy.hpp"

/// gpu-packing: GPUs in use first, then idle GPUs of nodes in use, then idle nodes. Of GPUs in use the one
/// with the least left; else the node with the fewest GPUs. The GpuPacking of the FGD paper's comparison
/// (Weng et al., USENIX ATC 2023).
namespace corun::inline policies {

namespace {

class GpuPacking final : public PodPolicy {
 protected:
  Fit fit(const PodNode& node, const PodKind& pod, double) const override {
    constexpr double kIdleGpu = 1e6;
    constexpr double kIdleNode = 2e6;
    const auto gpus = static_cast<double>(node.gpus.size());
    const int gpu = tightest_gpu(node, pod);
    const int left = gpu < 0 ? 1000 : node.gpus[static_cast<std::size_t>(gpu)];
    if (left < 1000) return {static_cast<double>(left), gpu};
    const bool idle = std::ranges::all_of(node.residents, [](int r) { return r == 0; });
    return {(idle ? kIdleNode : kIdleGpu) + gpus, gpu};
  }
};

}  // namespace

PolicyEntry gpu_packing_entry() {
  return {.name = "gpu-packing",
          .description = "pods on parts of GPUs: used GPUs first, then used nodes, then idle ones",
          .needs = PolicyNeeds::kNothing,
          .parameters = {},
          .make = [](PolicyContext) -> std::unique_ptr<Policy> {
            return std::make_unique<GpuPacking>();
          },
          .traits = kPodTraits};
}

}  // namespace corun::inline policies
