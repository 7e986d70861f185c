#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/interference/interference_world.hpp"
#include "sim/metrics.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/featureless_model.hpp"

/// Random batch experiments: jobs at time 0, groups, a world. For the tests of what evaluates them
/// without events, on the processor and on the GPU.
namespace corun::test {

/// Everybody has this excess per other resident, and this scatter.
class FlatModel final : public FeaturelessModel {
 public:
  FlatModel(double excess, double sigma) : excess_(excess), sigma_(sigma) {}
  void speeds(std::span<const PairJob> residents, std::span<double> out) const override {
    for (double& s : out) s = 1 / (1 + excess_ * static_cast<double>(residents.size() - 1));
  }
  double residual_sigma() const override { return sigma_; }

 private:
  double excess_;
  double sigma_;
};

struct BatchCase {
  ClusterSpec cluster;
  Workload workload;
  std::unique_ptr<World> world;
  std::vector<std::vector<JobId>> groups;
  std::optional<std::uint64_t> noise_seed;
};

/// Up to `most_jobs` jobs in groups of one to `most_members`. Half of the cases are made of whole seconds
/// and few different numbers, so that much happens at the same instant.
inline BatchCase random_batch_case(std::uint64_t seed, std::uint32_t most_jobs = 24,
                                   std::uint32_t most_members = 4) {
  Rng rng(seed, Stream::kTest, 2024);
  const auto chance = [&](double p) { return rng.uniform() < p; };
  BatchCase c;
  const bool coarse = chance(0.5);
  const double speed = coarse || chance(0.5) ? 1 : 0.5 + 3.5 * rng.uniform();
  c.cluster = cluster(static_cast<int>(1 + rng.below(8)), 1, speed, 1000);
  if (chance(0.5)) c.noise_seed = seed;
  const std::uint32_t count = 1 + rng.below(most_jobs);
  const bool memory = chance(0.5);
  std::vector<JobSpec> jobs;
  std::vector<WorkloadKey> keys;
  for (std::uint32_t i = 0; i < count; ++i) {
    JobBuilder j = job(coarse        ? seconds(10 * (1 + rng.below(3)))
                       : chance(0.1) ? Duration{1 + rng.below(3)}
                                     : from_seconds(1e-3 + 100 * rng.uniform()));
    if (memory && chance(0.8)) j.memory(1 + rng.below(249));
    if (chance(0.9)) j.util(100 * rng.uniform());
    jobs.push_back(j);
    keys.push_back(chance(0.2) ? kUnknownWorkload : static_cast<WorkloadKey>(1 + rng.below(3)));
  }
  c.workload = workload(std::move(jobs));
  switch (rng.below(6)) {
    case 0:
      c.world = std::make_unique<ErraticWorld>(seed);
      break;
    case 1:
      c.world = std::make_unique<ShareWorld>(coarse ? 0.5 : 0.3 * rng.uniform());
      break;
    case 2: {  // who is left of three goes on as before: nothing is planned anew
      std::vector<double> table;
      for (std::uint32_t i = 0; i < count; ++i) {
        table.push_back(coarse ? 1.0 / (1 + rng.below(3)) : 0.2 + 0.8 * rng.uniform());
      }
      c.world = std::make_unique<TableWorld>(std::move(table));
      break;
    }
    default: {
      const double sigma = chance(0.5) ? 0.5 : 0;
      std::vector<CorunMeasurement> rows;
      for (std::uint32_t r = rng.below(8); r > 0; --r) {
        CorunMeasurement row;
        row.source = "drawn";
        const std::uint32_t size = 2 + rng.below(2);
        for (std::uint32_t m = 0; m < size; ++m) {
          CorunMember member;
          member.workload = static_cast<WorkloadKey>(1 + rng.below(3));
          member.solo_s = 10;
          member.corun_s = 12 + (coarse ? 2.0 * rng.below(3) : 6 * rng.uniform());
          row.members.push_back(member);
        }
        rows.push_back(row);
      }
      c.world = std::make_unique<InterferenceWorld>(
          std::make_shared<const MeasuredTable>(rows),
          std::make_shared<const FlatModel>(coarse ? 0.5 : 0.4 * rng.uniform(), sigma), keys,
          std::vector<double>{}, chance(0.2));
    }
  }
  std::vector<JobId> order(c.workload.arrivals);
  rng.shuffle(std::span(order));
  for (std::size_t at = 0; at < order.size();) {
    std::vector<JobId>& group = c.groups.emplace_back();
    for (std::uint32_t m = 1 + rng.below(most_members); m > 0 && at < order.size(); --m) {
      group.push_back(order[at++]);
    }
  }
  return c;
}

/// Through the event engine, by a policy that starts the groups one after the other.
inline RunRecord by_events(const BatchCase& c) {
  std::size_t next = 0;
  ScriptedPolicy policy([&](const ClusterView& view, std::vector<Decision>& out) {
    view.empty_gpus().each([&](GpuId g) {
      if (next == c.groups.size()) return false;
      out.push_back(StartGroup{c.groups[next++], {g}});
      return true;
    });
  });
  RunOptions options;
  options.simulation.noise_seed = c.noise_seed;
  return run(c.cluster, c.workload, *c.world, policy, options).record;
}

/// The same bits, NaN included; the name of the first metric that differs, else nothing.
inline std::string first_difference(const MetricValues& a, const MetricValues& b) {
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    if (std::bit_cast<std::uint64_t>(a[m]) == std::bit_cast<std::uint64_t>(b[m])) continue;
    if (a[m] != a[m] && b[m] != b[m]) continue;
    return std::string(metric_info(static_cast<Metric>(m)).name) + ": " + std::to_string(a[m]) +
           " and " + std::to_string(b[m]);
  }
  return {};
}

}  // namespace corun::test
