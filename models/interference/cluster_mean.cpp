#include "models/interference/cluster_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/fits/refuse.hpp"
#include "models/knowledge/clusters.hpp"
#include "models/knowledge/kmeans.hpp"
#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kClusterMean = "cluster-mean";

}  // namespace

const std::vector<WorkloadKey> ClusterMeanModel::kNone;

std::vector<double> ClusterMeanModel::position_of(std::span<const double> features) const {
  if (features.size() != features_.size()) {
    refuse(kClusterMean, "a job has " + std::to_string(features.size()) + " features, the model " +
                             std::to_string(features_.size()));
  }
  std::vector<double> z;
  z.reserve(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const double x = scaled_feature(features[f], features_[f].scale, kClusterMean);
    z.push_back(deviation_[f] > 0 ? (x - mean_[f]) / deviation_[f]
                                  : std::numeric_limits<double>::quiet_NaN());
  }
  return z;
}

std::size_t ClusterMeanModel::cluster_of(const PairJob& job) const {
  const std::vector<double> z = position_of(job.features);
  std::size_t best = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < clusters_; ++c) {
    double square = 0;
    for (std::size_t f = 0; f < z.size(); ++f) {
      if (std::isnan(z[f])) continue;
      const double d = z[f] - centres_[c * z.size() + f];
      square += d * d;
    }
    if (square < nearest) {
      nearest = square;
      best = c;
    }
  }
  return best;
}

void ClusterMeanModel::choose_centres(const SpeedTable& table) {
  const std::size_t width = features_.size();
  mean_.assign(width, 0);
  deviation_.assign(width, 0);
  clusters_ = 1;
  centres_.assign(width, 0);

  std::vector<std::size_t> theirs;
  for (const std::string_view name : kFeatureNames) {
    const auto at = std::ranges::find(features_, name, &SpeedTable::Feature::name);
    if (at == features_.end() || at->scale != FeatureScale::kLinear) break;
    theirs.push_back(static_cast<std::size_t>(at - features_.begin()));
  }
  if (theirs.size() == kFeatureNames.size()) {
    const Clusters& known = paper_clusters();
    clusters_ = known.centres.size();
    centres_.assign(clusters_ * width, 0);
    for (std::size_t f = 0; f < theirs.size(); ++f) {
      deviation_[theirs[f]] = 1;
      for (std::size_t c = 0; c < clusters_; ++c) {
        centres_[c * width + theirs[f]] = known.centres[c][f];
      }
    }
    return;
  }

  std::set<std::uint32_t> seen;
  for (const SpeedTable::Row& row : table.rows) {
    seen.insert(row.a);
    seen.insert(row.b);
  }
  for (std::size_t f = 0; f < width; ++f) {
    std::vector<double> known;
    for (const std::uint32_t job : seen) {
      const double x = scaled_feature(table.of(job)[f], features_[f].scale, kClusterMean);
      if (!std::isnan(x)) known.push_back(x);
    }
    if (known.empty()) continue;
    double sum = 0;
    for (const double x : known) sum += x;
    mean_[f] = sum / static_cast<double>(known.size());
    double square = 0;
    for (const double x : known) square += (x - mean_[f]) * (x - mean_[f]);
    const double deviation = std::sqrt(square / static_cast<double>(known.size()));
    constexpr double kSame = 1e-9;  // a smaller relative deviation is rounding
    if (deviation > kSame * std::max(1.0, std::fabs(mean_[f]))) deviation_[f] = deviation;
  }
  std::vector<double> rows;
  std::set<std::vector<double>> distinct;
  for (const std::uint32_t job : seen) {
    std::vector<double> z = position_of({table.of(job), width});
    for (double& x : z) x = std::isnan(x) ? 0 : x;  // k-means needs a value: the mean
    rows.insert(rows.end(), z.begin(), z.end());
    distinct.insert(std::move(z));
  }
  constexpr int kClusters = 3;
  if (width == 0 || distinct.size() < kClusters) return;
  KMeansOptions options;
  options.k = kClusters;
  centres_ = kmeans(rows, width, options).centres;
  clusters_ = kClusters;
}

ClusterMeanModel ClusterMeanModel::fit(const SpeedTable& table, const FitOptions&) {
  check_table(table, kClusterMean);
  ClusterMeanModel model;
  model.features_ = table.features;
  model.choose_centres(table);
  std::vector<std::size_t> cluster;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    cluster.push_back(model.cluster_of({table.jobs[j], {table.of(j), table.features.size()}}));
  }

  const std::size_t pairs = model.clusters_ * model.clusters_;
  std::vector<double> sum(pairs, 0);
  std::vector<double> count(pairs, 0);
  std::vector<std::pair<std::size_t, double>> samples;
  const auto add = [&](std::uint32_t of, std::uint32_t beside, double speed) {
    if (std::isnan(speed)) return;
    const std::size_t pair = cluster[of] * model.clusters_ + cluster[beside];
    const double x = 1 / speed - 1;
    sum[pair] += x;
    count[pair] += 1;
    samples.emplace_back(pair, x);
  };
  for (const SpeedTable::Row& row : table.rows) {
    add(row.a, row.b, row.speed_a);
    add(row.b, row.a, row.speed_b);
  }
  if (samples.empty()) refuse(kClusterMean, "no measured pair");
  double all = 0;
  for (const auto& [pair, x] : samples) all += x;
  const double overall = std::max(0.0, all / static_cast<double>(samples.size()));
  for (std::size_t p = 0; p < pairs; ++p) {
    model.excess_.push_back(count[p] > 0 ? std::max(0.0, sum[p] / count[p]) : overall);
  }
  double error = 0;
  double scale = 0;
  std::vector<double> residuals;
  for (const auto& [pair, x] : samples) {
    const double weight = std::min(1.0, 1 / (1 + x));
    const double away = weight * (x - model.excess_[pair]);
    const double excess = weight * model.excess_[pair];
    error += away * away;
    scale += excess * excess;
    residuals.push_back(math::log1p(x) - math::log1p(model.excess_[pair]));
  }
  model.sigma_ = scale > 0 ? std::sqrt(math::log1p(error / scale)) : 0;
  model.spread_ = ResidualSpread::of(residuals);
  return model;
}

std::vector<SpeedPrediction> ClusterMeanModel::predict(std::span<const PairJob> jobs,
                                                       std::span<const PairQuery> pairs) const {
  std::vector<std::size_t> cluster;
  cluster.reserve(jobs.size());
  for (const PairJob& job : jobs) cluster.push_back(cluster_of(job));
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    out.push_back(spread_.around(1 / (1 + excess(cluster.at(i), cluster.at(j)))));
  }
  return out;
}

std::shared_ptr<PairFormula> ClusterMeanModel::formula(
    std::span<const PairJob> kinds, std::span<const std::uint32_t> kind_of) const {
  std::vector<std::uint32_t> cluster;
  for (const PairJob& kind : kinds) cluster.push_back(static_cast<std::uint32_t>(cluster_of(kind)));
  KindTableJobs jobs;
  jobs.kinds = clusters_;
  jobs.excess = excess_;
  for (const double x : excess_) {
    const SpeedPrediction p = spread_.around(1 / (1 + x));
    jobs.add(p.speed, p.sd);
  }
  for (const std::uint32_t kind : kind_of) jobs.kind.push_back(cluster.at(kind));
  return std::make_shared<PairFormula>(PairFormula{std::move(jobs)});
}

std::vector<SpeedPrediction> ClusterMeanModel::predict_co_runners(
    std::span<const PairJob> residents) const {
  return spread_.around(*this, residents);
}

void ClusterMeanModel::speeds(std::span<const PairJob> residents, std::span<double> out) const {
  std::vector<std::size_t> cluster;
  cluster.reserve(residents.size());
  for (const PairJob& job : residents) cluster.push_back(cluster_of(job));
  for (std::size_t i = 0; i < residents.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < residents.size(); ++j) {
      if (j != i) sum += excess(cluster[i], cluster[j]);
    }
    out[i] = 1 / (1 + sum);
  }
}

nlohmann::json ClusterMeanModel::save() const {
  using model_state::packed;
  return {{"clusters", clusters_},           {"mean", packed(mean_)},
          {"deviation", packed(deviation_)}, {"centres", packed(centres_)},
          {"excess", packed(excess_)},       {"sigma", sigma_},
          {"spread", spread_.save()}};
}

ClusterMeanModel ClusterMeanModel::load(const nlohmann::json& saved,
                                        std::vector<SpeedTable::Feature> features,
                                        const std::vector<WorkloadKey>&) {
  using namespace model_state;
  map_of(saved, 7, "the model");
  ClusterMeanModel model;
  model.features_ = std::move(features);
  const std::size_t width = model.features_.size();
  constexpr std::int64_t kMostClusters = 1000;
  model.clusters_ =
      static_cast<std::size_t>(whole_of(saved.at("clusters"), "clusters", 1, kMostClusters));
  model.mean_ = finite_doubles(saved, "mean", width);
  model.deviation_ = finite_doubles(saved, "deviation", width);
  model.centres_ = finite_doubles(saved, "centres", model.clusters_ * width);
  model.excess_ = finite_doubles(saved, "excess", model.clusters_ * model.clusters_);
  model.sigma_ = number_of(saved.at("sigma"), "sigma");
  model.spread_ = ResidualSpread::load(saved.at("spread"));
  const auto negative = [](double x) { return x < 0; };
  if (model.sigma_ < 0 || std::ranges::any_of(model.excess_, negative) ||
      std::ranges::any_of(model.deviation_, negative)) {
    refuse(kClusterMean, "an excess or a deviation is negative");
  }
  return model;
}

}  // namespace corun::inline models
