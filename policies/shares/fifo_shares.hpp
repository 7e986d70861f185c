#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "policies/shares/mersenne_twister.hpp"
#include "policies/shares/share_problem.hpp"

/// First in, first out over GPU types, as shares of 1 (`fifo`, `fifo_perf` and `fifo_packed` of Gavel). Types count
/// from the last to the first.
namespace corun::inline policies {

enum class FifoTypes : std::uint8_t {
  kDrawn,  ///< a job that starts draws one of the types with free GPUs, and keeps it
  kFastest,  ///< all are assigned anew, in their order, each to the type with free GPUs on which it is fastest
  kPacked,  ///< as kFastest; then jobs join the one with which the sum of both normalised rates is greatest
};

struct FifoOptions {
  FifoTypes types = FifoTypes::kDrawn;
  double threshold =
      1.5;  ///< kPacked: the sum must be above; the first job that finds no partner ends the packing
  /// A fault of Gavel's simulator, as far as it is known: the GPUs of jobs that have ended are handed on before those of
  /// running jobs are counted, so that a gang may get more than there are; the round mechanism then lets them take turns.
  /// Else a gang that finds no type with enough GPUs lets all behind it wait.
  bool overcommits_gangs = false;
  std::uint32_t seed = 0;  ///< kDrawn
};

class FifoShares {
 public:
  explicit FifoShares(FifoOptions options) : options_(options), draws_(options.seed) {}

  /// The jobs of the problem are in the order of their arrival. Objective: 0.
  Shares assign(const ShareProblem& problem);

 private:
  struct Assigned {
    std::uint64_t job = 0;
    std::size_t type = 0;
    int gpus = 1;
  };

  std::optional<std::size_t> type_for(const ShareProblem& problem, std::size_t job,
                                      const std::vector<int>& available);
  void pack(const ShareProblem& problem, std::vector<std::pair<std::size_t, std::size_t>>& alone,
            const std::vector<std::size_t>& queue, std::size_t next, Shares& shares) const;

  FifoOptions options_;
  MersenneTwister draws_;
  std::vector<Assigned> assigned_;  ///< in the order of their arrival
};

}  // namespace corun::inline policies
