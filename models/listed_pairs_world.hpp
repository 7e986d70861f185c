#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/world.hpp"

/// A world that is a list: the speeds of pairs as somebody wrote them down, and full speed where there
/// is no row. It has no noise and no model. For repeating what a simulator did that goes by such a list
/// (Lucid's), and, with an empty list, for workloads in which sharing costs nothing.
namespace corun {

/// Speeds relative to alone, by ordered pair of workloads: the first listed row of a pair counts.
class ListedPairs {
 public:
  /// Keeps what is there for this ordered pair already. Speeds above 0; workloads known.
  void add(WorkloadKey a, WorkloadKey b, double speed_a, double speed_b) {
    speeds_.try_emplace({a, b}, std::array{speed_a, speed_b});
  }
  /// As listed for (a, b), else for (b, a) turned round, else nullptr; turned says which.
  const std::array<double, 2>* find(WorkloadKey a, WorkloadKey b, bool& turned) const;
  std::size_t size() const { return speeds_.size(); }

 private:
  std::map<std::pair<WorkloadKey, WorkloadKey>, std::array<double, 2>> speeds_;
};

class ListedPairsWorld final : public World {
 public:
  /// `workloads[i]` is that of JobId i. The list is shared by many replications and is not null.
  ListedPairsWorld(std::shared_ptr<const ListedPairs> pairs, std::vector<WorkloadKey> workloads)
      : pairs_(std::move(pairs)), workloads_(std::move(workloads)) {}

  /// Of two: the row (newcomer, other), else (other, newcomer), else full speed. Of more: a job runs at
  /// the least of its speeds beside each of the others.
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                    std::span<double> out) const override;

 private:
  std::shared_ptr<const ListedPairs> pairs_;
  std::vector<WorkloadKey> workloads_;
};

}  // namespace corun
