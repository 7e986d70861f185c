#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corun::inline runner {

/// What may be drawn anew in each replication, each by a seed of its own (sim/rng.hpp, Stream).
enum class Drawn : std::uint8_t {
  kJobs,       ///< generated jobs, and profiles of jobs without one
  kOrder,      ///< the order of arrivals
  kCosts,      ///< costs of co-runs that were not measured
  kSpeeds,     ///< speeds alone on GPU types that were not measured
  kBeliefs,    ///< the pairs that are known beforehand (belief.known)
  kEstimates,  ///< errors of the estimates that policies see
  kChoices,    ///< the policies' random choices
  kCluster,    ///< speeds of jobs, costs of starts, late reports and lengths of rounds
};
inline constexpr std::size_t kDrawnKinds = 8;

/// For each of them the replication whose seed it takes: one number for all in a replication. Other combinations
/// tell what a single kind does.
class Draws {
 public:
  explicit Draws(std::size_t replication) { of_.fill(replication); }

  std::size_t of(Drawn drawn) const { return of_[static_cast<std::size_t>(drawn)]; }
  /// These draws with this kind taken from another replication.
  Draws with(Drawn drawn, std::size_t replication) const {
    Draws other = *this;
    other.of_[static_cast<std::size_t>(drawn)] = replication;
    return other;
  }

 private:
  std::array<std::size_t, kDrawnKinds> of_{};
};

}  // namespace corun::inline runner
