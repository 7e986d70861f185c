#include "models/interference/interference_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/formulas/overlap.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

std::uint64_t entity_of(std::span<const JobId> set) {
  std::vector<std::uint32_t> ids;
  ids.reserve(set.size());
  for (const JobId j : set) ids.push_back(static_cast<std::uint32_t>(index(j)));
  return hash_entity(ids);
}

}  // namespace

MeasuredTable::MeasuredTable(std::span<const CorunMeasurement> rows) {
  for (const CorunMeasurement& m : rows) {
    if (std::any_of(m.members.begin(), m.members.end(),
                    [](const CorunMember& c) { return c.workload == kUnknownWorkload; })) {
      continue;
    }
    const std::vector<double> excess = overlap_excess(m);
    std::vector<std::size_t> order(m.members.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return m.members[a].workload < m.members[b].workload;
    });
    Row row;
    for (const std::size_t i : order) {
      row.workloads.push_back(m.members[i].workload);
      row.excess.push_back(excess[i]);
      row.speed.push_back(1 / (1 + excess[i] * static_cast<double>(order.size() - 1)));
    }
    rows_[row.workloads].push_back(row);
  }
}

MeasuredTable::MeasuredTable(const SpeedTable& table) {
  const auto add = [&](std::span<const std::uint32_t> jobs, std::span<const double> speeds) {
    std::vector<std::pair<WorkloadKey, double>> members;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      members.emplace_back(table.jobs.at(jobs[i]), speeds[i]);
    }
    if (std::ranges::any_of(members, [](const auto& member) {
          return member.first == kUnknownWorkload || std::isnan(member.second);
        })) {
      return;
    }
    std::ranges::stable_sort(members, {}, [](const auto& member) { return member.first; });
    Row row;
    for (const auto& [workload, speed] : members) {
      if (!(speed > 0)) throw std::invalid_argument("a measured speed is not above 0");
      row.workloads.push_back(workload);
      row.excess.push_back((1 / speed - 1) / static_cast<double>(members.size() - 1));
      row.speed.push_back(speed);
    }
    rows_[row.workloads].push_back(row);
  };
  for (const SpeedTable::Row& pair : table.rows) {
    add(std::array{pair.a, pair.b}, std::array{pair.speed_a, pair.speed_b});
  }
  for (const SpeedTable::Group& group : table.groups) add(group.jobs, group.speeds);
}

InterferenceWorld::InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                                     std::shared_ptr<const InterferenceModel> model,
                                     const std::vector<WorldJob>& jobs, bool extrapolated)
    : measured_(std::move(measured)), model_(std::move(model)), extrapolated_(extrapolated) {
  for (const WorldJob& job : jobs) {
    const std::vector<double> x =
        job.features.empty()
            ? feature_values(job.profile, model_->features(), ImputedProfiles::kBelieved)
            : job.features;
    if (x.size() != model_->features().size()) {
      throw std::invalid_argument("a job of the world has " + std::to_string(x.size()) +
                                  " features, the model " +
                                  std::to_string(model_->features().size()));
    }
    features_.insert(features_.end(), x.begin(), x.end());
    workloads_.push_back(job.workload);
  }
}

InterferenceWorld::InterferenceWorld(std::shared_ptr<const MeasuredTable> measured,
                                     std::shared_ptr<const InterferenceModel> model,
                                     std::vector<WorkloadKey> workloads,
                                     std::vector<double> features, bool extrapolated)
    : measured_(std::move(measured)),
      model_(std::move(model)),
      workloads_(std::move(workloads)),
      features_(std::move(features)),
      extrapolated_(extrapolated) {
  if (features_.size() != workloads_.size() * model_->features().size()) {
    throw std::invalid_argument("the world has another number of features than its jobs ask for");
  }
}

Provenance InterferenceWorld::speeds(const CoRunners& co_runners,
                                     std::optional<std::uint64_t> noise_seed,
                                     std::span<double> out) const {
  const SpeedDistribution from = distribution(co_runners);
  draw_speeds(from, noise_seed, out);
  return from.provenance;
}

void InterferenceWorld::draw_speeds(const SpeedDistribution& from,
                                    std::optional<std::uint64_t> noise_seed,
                                    std::span<double> out) {
  std::size_t first = 0;
  std::size_t last = from.rows;
  std::optional<Rng> rng;
  if (noise_seed && (from.rows > 1 || from.sigma)) {
    rng.emplace(*noise_seed, Stream::kWorldNoise, from.entity);
  }
  if (rng && from.rows > 1) {
    first = rng->below(static_cast<std::uint32_t>(from.rows));
    last = first + 1;
  }
  const std::size_t width = out.size();
  for (std::size_t i = 0; i < width; ++i) {
    double speed = 0;
    for (std::size_t r = first; r < last; ++r) speed += from.speeds[r * width + i];
    out[i] = speed / static_cast<double>(last - first);
  }
  if (!rng || !from.sigma) return;
  const double sigma = *from.sigma;
  for (double& speed : out) {
    const double factor = math::exp(sigma * rng->normal() - sigma * sigma / 2);
    speed = 1 / (1 + (1 / speed - 1) * factor);
  }
}

InterferenceWorld::SpeedDistribution InterferenceWorld::distribution(
    const CoRunners& co_runners) const {
  const auto residents = co_runners.residents;
  SpeedDistribution out;
  out.speeds.assign(residents.size(), 1.0);
  if (residents.size() < 2) return out;
  out.provenance = extrapolated_ ? Provenance::kExtrapolated : Provenance::kMeasured;
  if (co_runners.formed.size() > residents.size() &&
      measured_distribution(co_runners.formed, residents, out)) {
    return out;
  }
  if (measured_distribution(residents, residents, out)) return out;

  out.provenance = extrapolated_ ? Provenance::kExtrapolated : Provenance::kModelled;
  const std::size_t width = model_->features().size();
  std::vector<PairJob> asked;
  asked.reserve(residents.size());
  for (const JobId j : residents) {
    asked.push_back({workloads_[index(j)], std::span(features_).subspan(index(j) * width, width)});
  }
  model_->speeds(asked, out.speeds);
  out.sigma = model_->residual_sigma();
  out.entity = entity_of(residents);
  return out;
}

void InterferenceWorld::pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const {
  const std::size_t first = workloads_[index(a)] <= workloads_[index(b)] ? 0 : 1;
  const std::array workloads{workloads_[index(a)], workloads_[index(b)]};
  if (const auto* rows = measured_->find({workloads[first], workloads[1 - first]})) {
    out.clear();
    for (const MeasuredTable::Row& row : *rows) {
      out.push_back({1 / static_cast<double>(rows->size()), 1 / (1 + row.excess[first]),
                     1 / (1 + row.excess[1 - first])});
    }
    return;
  }
  World::pair_outcomes(a, b, out);
  const double sigma = model_->residual_sigma();
  if (sigma == 0) return;
  // Gauss-Hermite nodes and weights for the standard normal, exact for polynomials of degree nine.
  struct Node {
    double z, weight;
  };
  constexpr std::array<Node, 5> kNodes{{{-2.8569700138728056, 0.011257411327720691},
                                        {-1.3556261799742659, 0.22207592200561266},
                                        {0, 0.53333333333333333},
                                        {1.3556261799742659, 0.22207592200561266},
                                        {2.8569700138728056, 0.011257411327720691}}};
  const PairOutcome at_mean = out.front();
  const auto speed = [&](double mean_speed, double z) {
    return 1 / (1 + (1 / mean_speed - 1) * math::exp(sigma * z - sigma * sigma / 2));
  };
  out.clear();
  for (const Node& x : kNodes) {
    for (const Node& y : kNodes) {
      out.push_back(
          {x.weight * y.weight, speed(at_mean.speed_a, x.z), speed(at_mean.speed_b, y.z)});
    }
  }
}

bool InterferenceWorld::measured_distribution(std::span<const JobId> group,
                                              std::span<const JobId> residents,
                                              SpeedDistribution& out) const {
  if (measured_->groups() == 0) return false;
  std::vector<WorkloadKey> workloads;
  workloads.reserve(group.size());
  for (const JobId j : group) workloads.push_back(workloads_[index(j)]);
  // Position of each job in the row: members in ascending order of workload, ties by job.
  std::vector<std::size_t> order(group.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return workloads[a] < workloads[b]; });
  std::vector<WorkloadKey> sorted;
  sorted.reserve(group.size());
  for (const std::size_t i : order) sorted.push_back(workloads[i]);
  const auto* rows = measured_->find(sorted);
  if (rows == nullptr) return false;

  out.rows = rows->size();
  out.entity = entity_of(group);
  const std::size_t width = residents.size();
  out.speeds.resize(out.rows * width);
  const auto others = static_cast<double>(width - 1);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const JobId job = group[order[at]];
    const auto resident = std::lower_bound(residents.begin(), residents.end(), job);
    if (resident == residents.end() || *resident != job) continue;  // has left already
    const auto place = static_cast<std::size_t>(resident - residents.begin());
    for (std::size_t r = 0; r < out.rows; ++r) {
      const MeasuredTable::Row& row = (*rows)[r];
      out.speeds[r * width + place] =
          width == group.size() ? row.speed[at] : 1 / (1 + row.excess[at] * others);
    }
  }
  return true;
}

}  // namespace corun::inline models
