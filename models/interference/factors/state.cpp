#include "models/interference/factors/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/interference/factors/basis.hpp"
#include "models/interference/factors/refuse.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/model_state.hpp"

namespace corun::inline models::factors {

namespace {

/// Squares of larger features would overflow.
constexpr double kLargestFeature = 1e100;

void require(bool fine, const char* what) {
  if (!fine) refuse(what);
}

/// Whether all moduli are at most `most`. The bounds are far beyond the results of a fit and prevent
/// overflow.
template <class Number>
bool bounded(const std::vector<Number>& values, Number most) {
  return std::all_of(values.begin(), values.end(), [&](Number v) { return std::fabs(v) <= most; });
}
bool moderate(const std::vector<float>& values) { return bounded(values, 1e12F); }

void check_samples(const FactorState& state) {
  const std::size_t n = state.keys.size();
  const std::size_t q = 1 + state.mean.size() + kernel_features(state);
  for (const FactorSample& s : state.samples) {
    require(s.rank >= 1 && s.rank <= kMostRank, "a rank is not possible");
    const auto k = static_cast<std::size_t>(s.rank) + 1;
    require(s.job.size() == n * k && s.co_runner.size() == n * k && s.beta.size() == q * 2 * k &&
                s.scatter.size() == 4 * k * k,
            "sizes of a sample do not fit");
    require(moderate(s.job) && moderate(s.co_runner) && moderate(s.beta) && moderate(s.scatter) &&
                s.noise > 0 && s.noise <= 1e12F && s.strength >= 1e-12F && s.strength <= 1e12F,
            "a sample has a number that is not possible");
  }
}

}  // namespace

void check(const FactorState& state) {
  const std::size_t n = state.keys.size();
  require(state.features.size() <= kMostFeatures, "too many features");
  const std::size_t width = expanded_width(state.features);
  require(n > 0 && state.mean.size() == width && state.deviation.size() == width &&
              state.inducing_points.size() == n * width && state.kernel_root.size() % n == 0,
          "sizes of features and jobs do not fit each other");
  require(kernel_features(state) <= kMostKernelFeatures, "too many kernel features");
  require(bounded(state.mean, kLargestFeature) && bounded(state.deviation, kLargestFeature) &&
              std::all_of(state.deviation.begin(), state.deviation.end(),
                          [](double v) { return v >= 0; }),
          "a mean or deviation of a feature is not possible");
  require(bounded(state.kernel_root, kLargestFeature) && bounded(state.inducing_points, kFarthest),
          "a feature of a job is not possible");
  require(std::fabs(state.target_mean) <= 1e3 && state.target_deviation > 0 &&
              state.target_deviation <= 1e3,
          "the mean or deviation of the speeds is not possible");
  require(state.freedom > 2 && std::isfinite(state.freedom), "freedom is not above 2 and finite");
  require(state.residual_sigma >= 0 && state.residual_sigma <= 1e3,
          "the scatter around the model is not possible");
  require(!state.samples.empty(), "no samples");
  require(state.predicting >= 1 && state.predicting <= state.samples.size(),
          "the samples that predict are not among the samples");
  check_samples(state);
}

nlohmann::json save(const FactorState& state) {
  using model_state::packed;
  auto samples = nlohmann::json::array();
  for (const FactorSample& s : state.samples) {
    samples.push_back({{"rank", s.rank},
                       {"noise", s.noise},
                       {"strength", s.strength},
                       {"own", packed(s.job)},
                       {"partner", packed(s.co_runner)},
                       {"beta", packed(s.beta)},
                       {"scatter", packed(s.scatter)}});
  }
  return {{"mean", packed(state.mean)},
          {"deviation", packed(state.deviation)},
          {"landmarks", packed(state.inducing_points)},
          {"kernel_root", packed(state.kernel_root)},
          {"target", packed(std::vector<double>{state.target_mean, state.target_deviation})},
          {"freedom", state.freedom},
          {"residual_sigma", state.residual_sigma},
          {"predicting", state.predicting},
          {"samples", std::move(samples)}};
}

FactorState load(const nlohmann::json& saved, std::vector<SpeedTable::Feature> features,
                 std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  map_of(saved, 9, "the model");
  FactorState state;
  state.features = std::move(features);
  state.keys = std::move(workloads);
  state.mean = doubles(saved, "mean");
  state.deviation = doubles(saved, "deviation");
  state.inducing_points = doubles(saved, "landmarks");
  state.kernel_root = doubles(saved, "kernel_root");
  const std::vector<double> target = finite_doubles(saved, "target", 2);
  state.target_mean = target[0];
  state.target_deviation = target[1];
  state.freedom = number_of(saved.at("freedom"), "freedom");
  state.residual_sigma = number_of(saved.at("residual_sigma"), "residual_sigma");
  const nlohmann::json& samples = list_of(saved.at("samples"), "samples");
  for (const nlohmann::json& node : samples) {
    map_of(node, 7, "a sample");
    const double noise = number_of(node.at("noise"), "noise");
    const double strength = number_of(node.at("strength"), "strength");
    if (!(noise > 0 && noise <= 1e12)) refuse("the noise of a sample is not possible");
    if (!(strength >= 1e-12 && strength <= 1e12)) {
      refuse("the strength of a sample is not possible");
    }
    state.samples.push_back({static_cast<int>(whole_of(node.at("rank"), "rank", 1, kMostRank)),
                             floats(node, "own"), floats(node, "partner"), floats(node, "beta"),
                             floats(node, "scatter"), static_cast<float>(noise),
                             static_cast<float>(strength)});
  }
  state.predicting = static_cast<std::size_t>(
      whole_of(saved.at("predicting"), "predicting", 1, static_cast<std::int64_t>(samples.size())));
  return state;
}

}  // namespace corun::inline models::factors
