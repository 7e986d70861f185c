#include "models/knowledge/clusters.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace corun::inline models {

namespace {

using MaybeFeatures = std::array<std::optional<double>, kFeatures>;

/// Distance over the known features, each in units of its scale, extrapolated to all features: a profile that
/// lacks features must not seem nearer.
double distance(const MaybeFeatures& features, const FeatureVector& centre,
                const FeatureVector& scale) {
  double square = 0;
  double known = 0;
  for (std::size_t f = 0; f < kFeatures; ++f) {
    if (!features[f]) continue;
    known += 1;
    const double d = (*features[f] - centre[f]) / scale[f];
    square += d * d;
  }
  return std::sqrt(square * (static_cast<double>(kFeatures) / known));
}

constexpr FeatureVector kOptimum0{61.423, 43.245, 24.456};
constexpr FeatureVector kOptimum1{21.394, 8.046, 5.361};
constexpr FeatureVector kOptimum2{88.779, 56.377, 51.394};

}  // namespace

std::string_view name_of(Uncertainty rule) {
  return rule == Uncertainty::kAllCentres ? "all-centres" : "own-centre";
}

ClusterAssignment assign_cluster(const Clusters& clusters, const Profile& profile) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!has_features(profile)) {
    return {0, kInfinity, kInfinity, kInfinity, std::vector(clusters.centres.size(), kInfinity)};
  }
  const MaybeFeatures features{profile.gpu_util_pct, profile.mem_alloc_pct, profile.mem_time_pct};
  ClusterAssignment best;
  double nearest = kInfinity;
  for (int c = 0; c < clusters.count(); ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double d = distance(features, clusters.centres[i], clusters.scale);
    if (d < nearest) {
      nearest = d;
      best.cluster = c;
    }
  }
  const auto& centres =
      clusters.distance_centres.empty() ? clusters.centres : clusters.distance_centres;
  for (const FeatureVector& centre : centres) {
    best.distances.push_back(distance(features, centre, clusters.scale));
    best.all_centres += best.distances.back();
  }
  best.own_centre = best.distances[static_cast<std::size_t>(best.cluster)];
  best.uncertainty = clusters.rule == Uncertainty::kAllCentres ? best.all_centres : best.own_centre;
  return best;
}

const Clusters& paper_clusters() {
  static const Clusters clusters{{kOptimum0, kOptimum1, kOptimum2}, {}};
  return clusters;
}

const Clusters& printed_clusters() {
  static const Clusters clusters{
      {{60.553, 41.523, 23.590}, {20.661, 8.022, 5.091}, {86.815, 56.780, 49.482}},
      {kOptimum0, kOptimum1, kOptimum2}};
  return clusters;
}

}  // namespace corun::inline models
