#include "results/timeline/gpu_lanes.hpp"

namespace corun::inline results {

std::optional<std::uint32_t> GpuLanes::come(JobId job) {
  const auto [at, is_new] = residents_.emplace(job, 0);
  if (!is_new) return std::nullopt;
  if (free_.empty()) {
    at->second = lanes_++;
  } else {
    at->second = *free_.begin();
    free_.erase(free_.begin());
  }
  return at->second;
}

std::optional<std::uint32_t> GpuLanes::leave(JobId job) {
  const auto at = residents_.find(job);
  if (at == residents_.end()) return std::nullopt;
  const std::uint32_t lane = at->second;
  residents_.erase(at);
  free_.insert(lane);
  return lane;
}

}  // namespace corun::inline results
