#include "models/interference/cluster_mean_speed.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/interference/overlap.hpp"
#include "models/knowledge/clusters.hpp"

namespace corun {

namespace {

/// Position of an ordered pair of clusters.
std::size_t position(int of, int beside) {
  return static_cast<std::size_t>(of) * paper_clusters().centres.size() +
         static_cast<std::size_t>(beside);
}

}  // namespace

ClusterMeanSpeed ClusterMeanSpeed::fit(std::span<const CorunMeasurement> rows) {
  const Clusters& clusters = paper_clusters();
  const std::size_t pairs = clusters.centres.size() * clusters.centres.size();
  std::vector<double> sum(pairs, 0);
  std::vector<double> count(pairs, 0);
  std::vector<std::pair<std::size_t, double>> samples;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const std::vector<double> x = overlap_excess(row);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t pair =
          position(cluster_of(clusters, row.members[i]), cluster_of(clusters, row.members[1 - i]));
      sum[pair] += x[i];
      count[pair] += 1;
      samples.emplace_back(pair, x[i]);
    }
  }
  if (samples.empty()) throw std::invalid_argument("cluster means need measured pairs");
  double all = 0;
  for (const auto& [pair, x] : samples) all += x;
  const double overall = std::max(0.0, all / static_cast<double>(samples.size()));
  ClusterMeanSpeed model;
  for (std::size_t p = 0; p < pairs; ++p) {
    model.excess_.push_back(count[p] > 0 ? std::max(0.0, sum[p] / count[p]) : overall);
  }
  double error = 0;
  double scale = 0;
  for (const auto& [pair, x] : samples) {
    const double weight = std::min(1.0, 1 / (1 + x));
    error += std::pow(weight * (x - model.excess_[pair]), 2);
    scale += std::pow(weight * model.excess_[pair], 2);
  }
  model.sigma_ = scale > 0 ? std::sqrt(std::log1p(error / scale)) : 0;
  return model;
}

void ClusterMeanSpeed::speeds(std::span<const Profile* const> residents,
                              std::span<double> out) const {
  std::vector<int> cluster;
  cluster.reserve(residents.size());
  for (const Profile* p : residents) {
    cluster.push_back(assign_cluster(paper_clusters(), *p).cluster);
  }
  for (std::size_t i = 0; i < residents.size(); ++i) {
    double excess = 0;
    for (std::size_t j = 0; j < residents.size(); ++j) {
      if (j != i) excess += excess_[position(cluster[i], cluster[j])];
    }
    out[i] = 1 / (1 + excess);
  }
}

}  // namespace corun
