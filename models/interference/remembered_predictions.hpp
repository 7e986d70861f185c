#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/interference/interference_model.hpp"

/// The predictions that a model which does not learn has made: a pair of the same jobs is predicted once,
/// whatever belief or replication asks. Jobs are the same if their keys and all bits of their features are.
namespace corun::inline models {

/// Thread-safe.
class RememberedPredictions {
 public:
  /// Most pairs and jobs remembered; others are predicted each time.
  static constexpr std::size_t kPairsMax = 1U << 15U;
  static constexpr std::size_t kJobsMax = 1U << 12U;

  /// The bits of model.predict(jobs, pairs), with its exceptions. `model` must be the same in all calls.
  std::vector<SpeedPrediction> predict(const InterferenceModel& model,
                                       std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs);

  /// Number of pairs remembered.
  std::size_t size() const;

 private:
  using Job = std::pair<WorkloadKey, std::vector<std::uint64_t>>;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  static Job job_of(const PairJob& job);
  static std::uint64_t pair_of(std::uint32_t of, std::uint32_t beside) {
    return std::uint64_t{of} << 32U | beside;
  }
  /// Numbers of the jobs; kNone for one that is not remembered.
  std::vector<std::uint32_t> numbers_of(std::span<const Job> jobs) const;
  void remember(std::span<const Job> jobs, std::span<const PairQuery> pairs,
                std::span<const SpeedPrediction> predicted);

  mutable std::shared_mutex mutex_;  ///< guards all below; nothing is predicted under it
  std::map<Job, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, SpeedPrediction> pairs_;  ///< by pair_of()
};

}  // namespace corun::inline models
