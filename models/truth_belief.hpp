#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/belief.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// A belief that knows the world's expected costs, never its draws, and the solo times of the jobs. The
/// policy `oracle` reads it; `belief: {model: truth}` grants it to all believing policies. It learns nothing.
namespace corun::inline models {

class TruthBelief final : public Belief {
 public:
  /// `solo[i]` is J_a of JobId i. The world must outlive the belief.
  /// With `noise`, a cost is the mean over the possible outcomes of the co-run, else the cost at the expected
  /// speeds. The two differ because a cost is not linear in the noise.
  TruthBelief(const World& world, std::vector<Duration> solo, bool noise);

  /// Jobs that do not fit on one GPU together: ISDs of kMisfit, PS of -kMisfit.
  PairBelief pair(JobId a, JobId b) const override;
  /// The world's expected speeds; 0 and 0 if the jobs do not fit on one GPU together.
  PairSpeeds pair_speeds(JobId a, JobId b) const override;
  PairSpeeds pair_speeds_on(JobId a, JobId b, std::uint32_t gpu_type) const override;
  void learn(const EpisodeOutcome&) override {}

 private:
  /// A fraction, above any slowdown of jobs that fit.
  static constexpr double kMisfit = 1000;
  /// Pairs remembered, some 80 MB; then all are forgotten. A pass asks for far fewer.
  static constexpr std::size_t kRemembered = std::size_t{1} << 20U;

  PairBelief ask(JobId a, JobId b) const;

  const World& world_;
  std::vector<Duration> solo_;
  bool noise_;
  mutable std::unordered_map<std::uint64_t, PairBelief>
      remembered_;  ///< by pair; truth does not change
};

}  // namespace corun::inline models
