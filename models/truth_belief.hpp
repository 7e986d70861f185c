#pragma once

#include <optional>
#include <vector>

#include "sim/belief.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// A belief that knows the world's expected costs, never its draws, and the solo times of the jobs. The
/// policy `oracle` reads it; `belief: {model: truth}` grants it to all believing policies. It learns nothing.
namespace corun {

class TruthBelief final : public Belief {
 public:
  /// `solo[i]` is J_a of JobId i. The world must outlive the belief.
  /// With `noise`, a cost is the mean over the possible outcomes of the co-run, else the cost at the expected
  /// speeds. The two differ because a cost is not linear in the noise.
  TruthBelief(const World& world, std::vector<Duration> solo, bool noise);

  PairBelief pair(JobId a, JobId b) const override;
  /// The world's expected speeds; 0 and 0 if the jobs do not fit on one GPU together.
  PairSpeeds pair_speeds(JobId a, JobId b) const override;
  void learn(const EpisodeOutcome&) override {}

 private:
  /// With more jobs than this, costs are computed at each call, because memory grows with their square.
  static constexpr std::size_t kRemembered = 1024;

  PairBelief ask(JobId a, JobId b) const;

  const World& world_;
  std::vector<Duration> solo_;
  bool noise_;
  mutable std::vector<std::optional<PairBelief>> remembered_;  ///< row-major; truth does not change
};

}  // namespace corun
