#include "policies/placement.hpp"

namespace corun {

std::vector<GpuId> choose_empty_gpus(const ClusterView& view, int gang) {
  const auto wanted = static_cast<std::size_t>(gang);
  std::vector<GpuId> chosen;
  if (view.empty_gpus().size() < gang) return chosen;
  if (gang == 1) {
    view.empty_gpus().each([&](GpuId g) {
      chosen.push_back(g);
      return false;
    });
    return chosen;
  }
  std::vector<std::vector<GpuId>> by_node(view.cluster().nodes.size());
  view.empty_gpus().each([&](GpuId g) {
    by_node[index(view.gpu(g).node)].push_back(g);
    return true;
  });
  const std::vector<GpuId>* best = nullptr;
  for (const auto& node : by_node) {
    if (node.size() >= wanted && (best == nullptr || node.size() < best->size())) best = &node;
  }
  if (best != nullptr) {
    chosen.assign(best->begin(), best->begin() + gang);
    return chosen;
  }
  view.empty_gpus().each([&](GpuId g) {
    chosen.push_back(g);
    return chosen.size() < wanted;
  });
  return chosen;
}

}  // namespace corun
