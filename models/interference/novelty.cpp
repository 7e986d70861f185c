#include "models/interference/novelty.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "models/interference/fits/moments.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/model_state.hpp"

namespace corun::inline models {

namespace {

constexpr double kShareNearer = 0.9;
constexpr const char* kName = "novelty";
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

Novelty::Novelty(const SpeedTable& table) {
  std::set<std::uint32_t> measured;
  for (const SpeedTable::Row& row : table.rows) measured.insert({row.a, row.b});
  std::vector<std::vector<double>> expanded;
  for (const std::uint32_t job : measured) {
    expanded.push_back(
        expand_features({table.of(job), table.features.size()}, table.features, kName));
  }
  width_ = expanded_width(table.features);
  if (width_ == 0) return;
  for (std::size_t f = 0; f < width_; ++f) {
    std::vector<double> values;
    for (const auto& job : expanded) values.push_back(job[f]);
    const Moments moments = moments_of(values, 0);
    mean_.push_back(moments.mean);
    deviation_.push_back(moments.deviation);
  }
  for (const auto& job : expanded) {
    for (std::size_t f = 0; f < width_; ++f) {
      jobs_.push_back(deviation_[f] > 0 ? (job[f] - mean_[f]) / deviation_[f]
                                        : std::numeric_limits<double>::quiet_NaN());
    }
  }
  std::vector<double> distances;
  for (std::size_t j = 0; j < expanded.size(); ++j) {
    const double distance = nearest(jobs_.data() + j * width_, j);
    if (std::isfinite(distance)) distances.push_back(distance);
  }
  if (distances.empty()) return;
  std::sort(distances.begin(), distances.end());
  const auto at = static_cast<std::size_t>(kShareNearer * static_cast<double>(distances.size()));
  limit_ = distances[std::min(at, distances.size() - 1)];
}

double Novelty::nearest(const double* job, std::size_t but) const {
  double least = std::numeric_limits<double>::infinity();
  const std::size_t count = width_ == 0 ? 0 : jobs_.size() / width_;
  for (std::size_t other = 0; other < count; ++other) {
    if (other == but) continue;
    double squares = 0;
    double known = 0;
    for (std::size_t f = 0; f < width_; ++f) {
      const double difference = job[f] - jobs_[other * width_ + f];
      if (std::isnan(difference)) continue;
      squares += difference * difference;
      known += 1;
    }
    if (known > 0) {
      least = std::min(least, std::sqrt(squares * static_cast<double>(width_) / known));
    }
  }
  return least;
}

bool Novelty::is_far(std::span<const double> values,
                     std::span<const SpeedTable::Feature> features) const {
  if (limit_ < 0) return false;
  std::vector<double> job = expand_features(values, features, kName);
  for (std::size_t f = 0; f < width_; ++f) {
    job[f] = deviation_[f] > 0 ? (job[f] - mean_[f]) / deviation_[f]
                               : std::numeric_limits<double>::quiet_NaN();
  }
  const double distance = nearest(job.data(), kNone);
  return std::isfinite(distance) && distance > limit_;
}

nlohmann::json Novelty::save() const {
  return {{"mean", model_state::packed(mean_)},
          {"deviation", model_state::packed(deviation_)},
          {"jobs", model_state::packed(jobs_)},
          {"limit", limit_}};
}

Novelty Novelty::load(const nlohmann::json& state, std::span<const SpeedTable::Feature> features) {
  using namespace model_state;
  map_of(state, 4, kName);
  Novelty out;
  out.width_ = expanded_width(features);
  out.mean_ = finite_doubles(state, "mean", out.width_);
  out.deviation_ = finite_doubles(state, "deviation", out.width_);
  out.jobs_ = doubles(state, "jobs");
  out.limit_ = number_of(state.at("limit"), "limit");
  const bool is_whole = out.width_ == 0 ? out.jobs_.empty() : out.jobs_.size() % out.width_ == 0;
  const bool has_deviations =
      std::ranges::all_of(out.deviation_, [](double deviation) { return deviation >= 0; });
  const bool is_finite =
      std::ranges::none_of(out.jobs_, [](double value) { return std::isinf(value); });
  if (!is_whole || !has_deviations || !is_finite) {
    throw std::invalid_argument("the distances of jobs are not possible");
  }
  return out;
}

}  // namespace corun::inline models
