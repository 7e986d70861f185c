#include "predictors/residual_process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <Eigen/Dense>
#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline predictors {

namespace {

constexpr double kLeastDeviation = 1e-9;  // of a feature
constexpr float kMostDeviations = 1e6F;   // from the mean: a distance stays finite
constexpr std::size_t kMostFeatures = 1000;

double kernel_of(const float* a, const float* b, std::size_t columns, double length) {
  double square = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const double difference = static_cast<double>(a[c]) - static_cast<double>(b[c]);
    square += difference * difference;
  }
  return math::exp(-std::sqrt(square) / length);
}

}  // namespace

void ResidualProcess::standardise(std::span<const float> features, float* out) const {
  for (std::size_t c = 0; c < mean_.size(); ++c) {
    const double x = (static_cast<double>(features[c]) - mean_[c]) * scale_[c];
    out[c] =
        std::isnan(x) ? 0 : std::clamp(static_cast<float>(x), -kMostDeviations, kMostDeviations);
  }
}

ResidualProcess ResidualProcess::fit(const ResidualRows& rows, const PredictorOptions& options) {
  const std::size_t columns = rows.columns;
  if (rows.rows() == 0 || rows.features.size() != rows.rows() * columns ||
      rows.weight.size() != rows.rows()) {
    throw std::invalid_argument("a residual process needs rows, with features and weights");
  }
  std::vector<std::size_t> chosen(rows.rows());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (chosen.size() > kMostRows) {
    Rng rng(options.seed, Stream::kGpRows);
    rng.shuffle(std::span(chosen));
    chosen.resize(kMostRows);
    std::ranges::sort(chosen);
  }
  ResidualProcess p;
  p.length_ = options.constants.length;
  p.mean_.assign(columns, 0);
  p.scale_.assign(columns, 0);
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0, squares = 0, count = 0;
    for (const std::size_t row : chosen) {
      const double x = static_cast<double>(rows.features[row * columns + c]);
      if (!std::isfinite(x)) continue;
      sum += x;
      count += 1;
    }
    if (count == 0) continue;
    p.mean_[c] = sum / count;
    for (const std::size_t row : chosen) {
      const double x = static_cast<double>(rows.features[row * columns + c]);
      if (std::isfinite(x)) squares += (x - p.mean_[c]) * (x - p.mean_[c]);
    }
    const double deviation = std::sqrt(squares / count);
    if (deviation > kLeastDeviation) p.scale_[c] = 1 / deviation;
  }
  p.points_.resize(chosen.size() * columns);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    p.standardise(std::span(rows.features).subspan(chosen[i] * columns, columns),
                  p.points_.data() + i * columns);
  }
  const auto size = static_cast<Eigen::Index>(chosen.size());
  Eigen::MatrixXd covariance(size, size);  // its lower triangle
  Eigen::VectorXd residual(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    const float* point = p.points_.data() + static_cast<std::size_t>(i) * columns;
    for (Eigen::Index j = 0; j < i; ++j) {
      covariance(i, j) = kernel_of(point, p.points_.data() + static_cast<std::size_t>(j) * columns,
                                   columns, p.length_);
    }
    const std::size_t row = chosen[static_cast<std::size_t>(i)];
    covariance(i, i) = 1 + options.constants.noise / static_cast<double>(rows.weight[row]);
    residual[i] = static_cast<double>(rows.residual[row]);
  }
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(covariance);
  const Eigen::VectorXd weights = factor.solve(residual);
  if (factor.info() != Eigen::Success || !weights.allFinite()) {
    throw std::invalid_argument("the residuals' covariance is singular");
  }
  p.weights_.assign(weights.begin(), weights.end());
  return p;
}

double ResidualProcess::mean(std::span<const float> features) const {
  std::vector<float> point(mean_.size());
  standardise(features, point.data());
  double sum = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    sum += weights_[i] *
           kernel_of(point.data(), points_.data() + i * point.size(), point.size(), length_);
  }
  return sum;
}

nlohmann::json ResidualProcess::save() const {
  using model_state::packed;
  return {{"mean", packed(mean_)},
          {"scale", packed(scale_)},
          {"points", packed(points_)},
          {"weights", packed(weights_)}};
}

ResidualProcess ResidualProcess::load(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 4, "a residual process");
  ResidualProcess p;
  p.weights_ = doubles(state, "weights");
  if (p.weights_.size() > kMostRows) throw std::invalid_argument("too many rows of a process");
  p.weights_ = finite_doubles(state, "weights", p.weights_.size());
  const std::size_t columns = doubles(state, "mean").size();
  if (columns > kMostFeatures) throw std::invalid_argument("too many features of a process");
  p.mean_ = finite_doubles(state, "mean", columns);
  p.scale_ = finite_doubles(state, "scale", columns);
  p.points_ = floats(state, "points");
  if (p.points_.size() != p.weights_.size() * columns ||
      !std::ranges::all_of(p.points_, [](float x) { return std::abs(x) <= kMostDeviations; })) {
    throw std::invalid_argument("points of a process that are not finite or do not fit");
  }
  return p;
}

}  // namespace corun::inline predictors
