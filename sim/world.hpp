#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/ids.hpp"

/// The world: what a co-run really costs in the simulation. Only the simulated backend asks it;
/// a policy never holds one (DESIGN 4.6).
namespace corun {

/// Where a speed came from.
enum class Provenance : std::uint8_t {
  kAlone,         ///< no co-runners, nothing to know
  kMeasured,      ///< a measured row of exactly these jobs
  kModelled,      ///< an interference model, within what it was fitted on
  kExtrapolated,  ///< a GPU type or a sharing mode the world was not measured on
};

/// Who is on a GPU now, and with which co-runners they came to be there.
struct CoRunners {
  std::span<const JobId> residents;  ///< ascending, not empty
  /// The residents just after the latest start on this GPU, ascending; contains `residents`. A
  /// measured group stays that group while its members leave one by one.
  std::span<const JobId> formed;
  /// Who of `residents` started last (of a group that started together, its last member).
  JobId newcomer = kNoJob;
};

class World {
 public:
  virtual ~World() = default;

  /// Normalised speed of each resident: out[i] in (0, 1] belongs to residents[i]; alone it is 1.
  /// `noise_seed` empty asks for expected speeds; else the draw is keyed by (seed, set of jobs), so
  /// that whoever forms the same set in the same replication sees the same draw.
  virtual Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise_seed,
                            std::span<double> out) const = 0;

  /// Whether two jobs may be on one GPU at all. Where not, the later one of the two runs out of memory
  /// there, whatever is known of its demand.
  virtual bool fits_together(JobId a, JobId b) const {
    (void)a;
    (void)b;
    return true;
  }

  /// How a co-run of two could turn out, with weights that add up to 1: what an expected cost is taken
  /// over. Unless a world knows better, its expected speeds for certain. Clears `out`.
  struct PairOutcome {
    double weight = 1;
    double speed_a = 1;
    double speed_b = 1;
  };
  virtual void pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const;
};

}  // namespace corun
