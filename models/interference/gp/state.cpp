#include "models/interference/gp/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/interference/fits/observations.hpp"
#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/refuse.hpp"
#include "models/model_state.hpp"

namespace corun::inline models::gp {

namespace {

/// Bound of the moments of features in a file.
constexpr double kLargestFeature = 1e100;

using model_state::finite_doubles;

void require(bool fine, const char* what) {
  if (!fine) refuse(what);
}

template <class Values>
bool within(const Values& values, double least, double most) {
  return std::all_of(values.begin(), values.end(),
                     [&](double v) { return v >= least && v <= most; });
}

/// The moments of places.
void load_features(const nlohmann::json& saved, std::size_t width, Features& out) {
  out.mean = finite_doubles(saved, "mean", width);
  out.deviation = finite_doubles(saved, "deviation", width);
  require(within(out.mean, -kLargestFeature, kLargestFeature) &&
              within(out.deviation, 0, kLargestFeature),
          "a mean or deviation of a feature is not possible");
}

void load_pressures(const nlohmann::json& saved, Features& out) {
  const auto pressures = finite_doubles(saved, "pressures", 2 * kPressureCount);
  require(within(pressures, 0, 2), "moments of the pressures are not possible");
  std::copy_n(pressures.begin(), kPressureCount, out.pressure_mean.begin());
  std::copy_n(pressures.begin() + kPressureCount, kPressureCount, out.pressure_deviation.begin());
}

Moments load_target(const nlohmann::json& saved) {
  const auto target = finite_doubles(saved, "target", 2);
  require(std::fabs(target[0]) <= 1e3 && target[1] > 0 && target[1] <= 1e3,
          "the mean or deviation of the speeds is not possible");
  return {target[0], target[1]};
}

Calibration load_calibration(const nlohmann::json& saved) {
  Calibration out;
  const auto factors = finite_doubles(saved, "factors", 2 * out.factors.size());
  double share = 0;
  for (std::size_t f = 0; f < out.factors.size(); ++f) {
    const Calibration::Factor& factor = out.factors[f] = {factors[2 * f], factors[2 * f + 1]};
    require(factor.share >= share && factor.share <= 1 && factor.factor >= kLeastFactor &&
                factor.factor <= kLargestFactor,
            "a factor of the deviation is not possible");
    share = factor.share;
  }
  out.residual_sigma = finite_doubles(saved, "residual_sigma", 1)[0];
  require(out.residual_sigma >= 0, "the residual sigma is below 0");
  return out;
}

/// `load`: jobs x (u, t, m).
void load_places(const nlohmann::json& saved, std::size_t width, const std::vector<double>& load,
                 std::vector<Place>& out) {
  const std::size_t n = load.size() / 3;
  const auto x = finite_doubles(saved, "x", n * width);
  require(within(x, -kFarthest, kFarthest), "a feature of a job is not possible");
  for (std::size_t j = 0; j < n; ++j) {
    const auto from = x.begin() + static_cast<std::ptrdiff_t>(j * width);
    out.push_back({{from, from + static_cast<std::ptrdiff_t>(width)},
                   {load[3 * j], load[3 * j + 1], load[3 * j + 2]}});
  }
}

/// Needs the features and the places in `data`.
void load_observations(const nlohmann::json& saved, TrainingSet& data) {
  const std::size_t n = data.rows.places.size();
  const auto slowed = model_state::integers(saved, "own");
  const auto co_runner = model_state::integers(saved, "partner");
  require(!slowed.empty() && slowed.size() <= kMostHeld && co_runner.size() == slowed.size(),
          "sizes of the rows do not fit each other");
  const auto there = [&](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < n; };
  require(std::all_of(slowed.begin(), slowed.end(), there) &&
              std::all_of(co_runner.begin(), co_runner.end(), there),
          "a row is of a job that is not there");
  const auto targets = finite_doubles(saved, "targets", slowed.size());
  require(within(targets, -1e6, 1e6), "a row's target is not possible");
  for (std::size_t a = 0; a < slowed.size(); ++a) {
    data.add(static_cast<std::uint32_t>(slowed[a]), static_cast<std::uint32_t>(co_runner[a]),
             targets[a]);
  }
}

}  // namespace

nlohmann::json State::save() const {
  using model_state::packed;
  const Features& f = data.features;
  std::vector<double> x, load, targets;
  for (const Place& place : data.rows.places) {
    x.insert(x.end(), place.x.begin(), place.x.end());
    load.insert(load.end(), {place.load.u, place.load.t, place.load.m});
  }
  std::vector<std::int32_t> slowed, co_runner;
  for (const Rows::Observation& o : data.rows.observations) {
    slowed.push_back(static_cast<std::int32_t>(o.own));
    co_runner.push_back(static_cast<std::int32_t>(o.co_runner));
    targets.push_back(o.target);
  }
  std::vector<double> pressures(f.pressure_mean.begin(), f.pressure_mean.end());
  pressures.insert(pressures.end(), f.pressure_deviation.begin(), f.pressure_deviation.end());
  std::vector<double> factors;
  for (const Calibration::Factor& one : calibration.factors) {
    factors.insert(factors.end(), {one.share, one.factor});
  }
  const Load& mean_load = f.mean_load;
  return {{"mean", packed(f.mean)},
          {"deviation", packed(f.deviation)},
          {"mean_load", packed(std::vector<double>{mean_load.u, mean_load.t, mean_load.m})},
          {"pressures", packed(pressures)},
          {"target", packed(std::vector<double>{data.target.mean, data.target.deviation})},
          {"parameters", packed(parameters)},
          {"factors", packed(factors)},
          {"residual_sigma", packed(std::vector<double>{calibration.residual_sigma})},
          {"x", packed(x)},
          {"load", packed(load)},
          {"own", packed(slowed)},
          {"partner", packed(co_runner)},
          {"targets", packed(targets)}};
}

State State::load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                  std::vector<WorkloadKey> workloads) {
  model_state::map_of(saved, 13, "state of a gp model");
  require(features.size() <= kMostFeatures, "too many features");
  require(workloads.size() <= 2 * kMostHeld, "too many jobs");
  const std::size_t width = expanded_width(features);
  State out;
  Features& f = out.data.features;
  f.given = std::move(features);
  out.data.keys = std::move(workloads);
  load_features(saved, width, f);
  const auto mean_load = finite_doubles(saved, "mean_load", 3);
  const auto load = finite_doubles(saved, "load", 3 * out.data.keys.size());
  require(within(mean_load, 0, 1) && within(load, 0, 1), "a job's load is not possible");
  f.mean_load = {mean_load[0], mean_load[1], mean_load[2]};
  load_pressures(saved, f);
  out.data.target = load_target(saved);
  out.parameters = finite_doubles(saved, "parameters", parameter_count(width));
  require(within(out.parameters, -kLargestParameter, kLargestParameter),
          "a parameter is not possible");
  out.calibration = load_calibration(saved);
  load_places(saved, width, load, out.data.rows.places);
  load_observations(saved, out.data);
  return out;
}

}  // namespace corun::inline models::gp
