#include "sim/cluster_state.hpp"

#include <algorithm>
#include <cassert>

namespace corun::inline sim {

void ClusterState::add(GpuId g, JobId job, bool profiling) {
  GpuState& gpu = gpus_[index(g)];
  gpu.profiling = profiling;
  if (gpu.residents.empty()) {
    gpu.residents.push_back(job);
    empty_.erase(g, gpu.node);
    return;
  }
  const auto at = std::lower_bound(gpu.residents.begin(), gpu.residents.end(), job);
  assert(at == gpu.residents.end() || *at != job);
  gpu.residents.insert(at, job);
}

void ClusterState::remove(GpuId g, JobId job) {
  GpuState& gpu = gpus_[index(g)];
  const auto at = std::lower_bound(gpu.residents.begin(), gpu.residents.end(), job);
  assert(at != gpu.residents.end() && *at == job);
  gpu.residents.erase(at);
  gpu.profiling = false;
  if (gpu.residents.empty()) empty_.insert(g, gpu.node);
}

void ClusterState::add_alone(std::span<const GpuId> gpus, JobId job) {
  each_node(gpus, [&](NodeId node, std::span<const GpuId> own) {
    for (const GpuId g : own) {
      assert(gpus_[index(g)].residents.empty());
      gpus_[index(g)].residents.push_back(job);
    }
    empty_.erase(own, node);
  });
}

void ClusterState::remove_alone(std::span<const GpuId> gpus) {
  each_node(gpus, [&](NodeId node, std::span<const GpuId> own) {
    for (const GpuId g : own) {
      assert(gpus_[index(g)].residents.size() == 1);
      gpus_[index(g)].residents.clear();
    }
    empty_.insert(own, node);
  });
}

}  // namespace corun::inline sim
