#include "models/interference/gp/training_set.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "models/interference/fits/observations.hpp"
#include "models/interference/gp/refuse.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline models::gp {

namespace {

/// Entities of the random streams that draw rows.
constexpr std::uint64_t kHyperEntity = ~0ULL;
constexpr std::uint64_t kFittedEntity = ~0ULL - 1;

}  // namespace

Rows Rows::some(std::size_t most, std::uint64_t seed) const {
  if (observations.size() <= most) return *this;
  std::vector<std::size_t> order(observations.size());
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed, Stream::kGpRows, kHyperEntity);
  rng.shuffle(std::span(order));
  order.resize(most);
  std::sort(order.begin(), order.end());
  Rows out;
  std::map<std::uint32_t, std::uint32_t> number;
  const auto see = [&](std::uint32_t job) {
    const auto [at, fresh] = number.emplace(job, static_cast<std::uint32_t>(out.places.size()));
    if (fresh) out.places.push_back(places[job]);
    return at->second;
  };
  for (const std::size_t a : order) {
    const std::uint32_t slowed = see(observations[a].own);
    out.observations.push_back({slowed, see(observations[a].co_runner), observations[a].target});
    out.phi.push_back(phi[a]);
  }
  return out;
}

double TrainingSet::target_of(double speed) const {
  return (-math::log(speed) - target.mean) / target.deviation;
}

void TrainingSet::add(std::uint32_t slowed, std::uint32_t co_runner, double of_target) {
  rows.observations.push_back({slowed, co_runner, of_target});
  rows.phi.push_back(features.pressures(rows.places[slowed].load, rows.places[co_runner].load));
}

TrainingSet training_set_of(const SpeedTable& table, std::size_t most, std::uint64_t seed) {
  if (table.features.size() > kMostFeatures) {
    refuse(std::to_string(table.features.size()) + " features, at most " +
           std::to_string(kMostFeatures) + " are possible");
  }
  TrainingSet out;
  out.features.given = table.features;
  std::vector<Observation> speeds = observations_of(table, kName);
  if (speeds.size() > most) {
    Rng rng(seed, Stream::kGpRows, kFittedEntity);
    rng.shuffle(std::span(speeds));
    speeds.resize(most);
  }

  // The jobs with a measured row, as the slowed job or as the co-runner.
  std::vector<std::uint32_t> number(table.jobs.size(), 0);  // from 1
  std::vector<Place> raw;
  const auto see = [&](std::uint32_t job) {
    if (number[job] == 0) {
      raw.push_back(out.features.raw_place({table.of(job), table.features.size()}));
      out.keys.push_back(table.jobs[job]);
      number[job] = static_cast<std::uint32_t>(raw.size());
    }
    return number[job] - 1;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jobs;
  std::vector<double> t;
  for (const Observation& speed : speeds) {
    const std::uint32_t slowed = see(speed.of);
    jobs.emplace_back(slowed, see(speed.beside));
    t.push_back(speed.log_slowdown);
  }

  out.features.learn_places(raw);
  for (Place& place : raw) {
    out.rows.places.push_back(out.features.standardised(std::move(place)));
  }
  std::vector<Pressures> pressures;
  for (const auto& [slowed, co_runner] : jobs) {
    pressures.push_back(
        raw_pressures(out.rows.places[slowed].load, out.rows.places[co_runner].load));
  }
  out.features.learn_pressures(pressures);
  out.target = log_slowdown_moments(t);
  for (std::size_t a = 0; a < t.size(); ++a) {
    out.add(jobs[a].first, jobs[a].second, (t[a] - out.target.mean) / out.target.deviation);
  }
  return out;
}

}  // namespace corun::inline models::gp
