#include "models/knowledge/clusters.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace corun {

ClusterAssignment assign_cluster(const Profile& profile) {
  const std::array<std::optional<double>, 3> features{profile.gpu_util_pct, profile.mem_alloc_pct,
                                                      profile.mem_time_pct};
  ClusterAssignment best{0, 0};
  double nearest = std::numeric_limits<double>::infinity();
  bool known = false;
  for (int c = 0; c < kClusters; ++c) {
    double square = 0;
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (!features[f]) continue;
      known = true;
      const double d = *features[f] - kClusterCentres[static_cast<std::size_t>(c)][f];
      square += d * d;
    }
    const double distance = std::sqrt(square);
    best.uncertainty += distance;
    if (distance < nearest) {
      nearest = distance;
      best.cluster = c;
    }
  }
  if (!known) return {0, std::numeric_limits<double>::infinity()};
  return best;
}

}  // namespace corun
