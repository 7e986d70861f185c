#pragma once

#include <optional>
#include <vector>

#include "sim/belief.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// A belief that knows the world's expected costs (never its draws) and the jobs' solo times: what the
/// policy `oracle` reads, and what `belief: {model: truth}` grants to all. It has nothing to learn.
namespace corun {

class TruthBelief final : public Belief {
 public:
  /// `solo[i]` is J_a of JobId i. The world must outlive the belief.
  /// With `noise` a cost is the mean over how the co-run could turn out, else that at the expected
  /// speeds: a cost is not linear in the noise, so the two differ.
  TruthBelief(const World& world, std::vector<Duration> solo, bool noise);

  PairBelief pair(JobId a, JobId b) const override;
  /// The world's expected speeds, as they are.
  PairSpeeds pair_speeds(JobId a, JobId b) const override;
  void learn(const EpisodeOutcome&) override {}

 private:
  /// Beyond this many jobs costs are asked for anew each time: the square of it is kept in memory.
  static constexpr std::size_t kRemembered = 1024;

  PairBelief ask(JobId a, JobId b) const;

  const World& world_;
  std::vector<Duration> solo_;
  bool noise_;
  mutable std::vector<std::optional<PairBelief>> remembered_;  ///< row-major; truth does not change
};

}  // namespace corun
