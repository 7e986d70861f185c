#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/world.hpp"

/// A world given by a list of pair speeds; a pair without a row runs at full speed. It has no noise and no
/// model. It repeats simulators that use such a list (Lucid's). With an empty list, sharing costs nothing.
namespace corun::inline models {

/// Normalised speeds by ordered pair of workloads.
class ListedPairs {
 public:
  /// Has no effect if this ordered pair is listed already. Speeds must be above 0, workloads known.
  void add(WorkloadKey a, WorkloadKey b, double speed_a, double speed_b) {
    speeds_.try_emplace({a, b}, std::array{speed_a, speed_b});
  }
  /// The row of (a, b), else that of (b, a), with `turned` set to whether it is the latter; else nullptr.
  const std::array<double, 2>* find(WorkloadKey a, WorkloadKey b, bool& turned) const;
  std::size_t size() const { return speeds_.size(); }

 private:
  std::map<std::pair<WorkloadKey, WorkloadKey>, std::array<double, 2>> speeds_;
};

class ListedPairsWorld final : public World {
 public:
  /// `workloads[i]` is the workload of JobId i. `pairs` must not be null; replications may share it.
  ListedPairsWorld(std::shared_ptr<const ListedPairs> pairs, std::vector<WorkloadKey> workloads)
      : pairs_(std::move(pairs)), workloads_(std::move(workloads)) {}

  /// Two residents: the row (newcomer, other), else (other, newcomer), else speed 1. More residents: each job
  /// runs at the least of its pair speeds, at most 1. Provenance: kMeasured if all pairs are listed, else
  /// kModelled; kAlone for one resident or an empty list. `noise_seed` has no effect.
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override;

 private:
  std::shared_ptr<const ListedPairs> pairs_;
  std::vector<WorkloadKey> workloads_;
};

}  // namespace corun::inline models
