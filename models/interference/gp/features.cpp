#include "models/interference/gp/features.hpp"

#include <algorithm>
#include <cmath>

#include "models/interference/fits/moments.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/gp/refuse.hpp"

namespace corun::inline models::gp {

namespace {

/// The moments of `value` of each of `from`.
template <class T, class Value>
Moments moments(const std::vector<T>& from, const Value& value) {
  std::vector<double> column(from.size());
  std::transform(from.begin(), from.end(), column.begin(), value);
  return moments_of(column, 1);
}

double scaled(double x, double mean, double deviation) {
  if (std::isnan(x) || deviation == 0) return 0;
  return std::clamp((x - mean) / deviation, -kFarthest, kFarthest);
}

}  // namespace

Pressures raw_pressures(const Load& slowed, const Load& co_runner) {
  double raw[kPressureCount];
  raw_pressures_of(slowed, co_runner, raw);
  return std::to_array(raw);
}

Place Features::raw_place(std::span<const double> features) const {
  Place out;
  out.x = expand_features(features, given, kName);
  const auto fraction = [&](const char* name) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (given[f].name == name) return std::clamp(features[f] / 100, 0.0, 1.0);
    }
    return 0.0;
  };
  out.load = {fraction("gpu_util_pct"), fraction("mem_time_pct"), fraction("mem_alloc_pct")};
  return out;
}

Place Features::standardised(Place place) const {
  for (std::size_t f = 0; f < place.x.size(); ++f) {
    place.x[f] = scaled(place.x[f], mean[f], deviation[f]);
  }
  if (std::isnan(place.load.u)) place.load.u = mean_load.u;
  if (std::isnan(place.load.t)) place.load.t = mean_load.t;
  if (std::isnan(place.load.m)) place.load.m = mean_load.m;
  return place;
}

Pressures Features::pressures(const Load& slowed, const Load& co_runner) const {
  Model formula;
  set_pressures(formula);
  double standard[kPressureCount];
  pressures_of(formula, slowed, co_runner, standard);
  return std::to_array(standard);
}

void Features::set_pressures(Model& formula) const {
  std::copy(pressure_mean.begin(), pressure_mean.end(), formula.pressure_mean);
  std::copy(pressure_deviation.begin(), pressure_deviation.end(), formula.pressure_deviation);
  formula.farthest = kFarthest;
}

void Features::learn_places(const std::vector<Place>& raw) {
  for (std::size_t f = 0; f < expanded_width(given); ++f) {
    const Moments of = moments(raw, [&](const Place& place) { return place.x[f]; });
    mean.push_back(of.mean);
    deviation.push_back(of.deviation);
  }
  mean_load = {moments(raw, [](const Place& place) { return place.load.u; }).mean,
               moments(raw, [](const Place& place) { return place.load.t; }).mean,
               moments(raw, [](const Place& place) { return place.load.m; }).mean};
}

void Features::learn_pressures(const std::vector<Pressures>& raw) {
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    const Moments of = moments(raw, [&](const Pressures& phi) { return phi[p]; });
    pressure_mean[p] = of.mean;
    pressure_deviation[p] = of.deviation;
  }
}

}  // namespace corun::inline models::gp
