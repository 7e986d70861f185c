#include "models/truth_belief.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "models/formulas/overlap.hpp"

namespace corun::inline models {

TruthBelief::TruthBelief(const World& world, std::vector<Duration> solo, bool noise)
    : world_(world), solo_(std::move(solo)), noise_(noise) {}

PairSpeeds TruthBelief::pair_speeds(JobId a, JobId b) const {
  if (!world_.fits_together(a, b, 0)) return {0, 0};
  std::vector<World::PairOutcome> outcomes;
  world_.World::pair_outcomes(a, b, outcomes);  // the base class: at the expected speeds
  return {outcomes.front().speed_a, outcomes.front().speed_b};
}

PairSpeeds TruthBelief::pair_speeds_on(JobId a, JobId b, std::uint32_t gpu_type) const {
  if (!world_.fits_together(a, b, gpu_type)) return {0, 0};
  const std::array<JobId, 2> jobs{std::min(a, b), std::max(a, b)};
  std::array<double, 2> speeds{1, 1};
  world_.speeds({jobs, jobs, jobs[1], gpu_type}, std::nullopt, speeds);
  return a < b ? PairSpeeds{speeds[0], speeds[1]} : PairSpeeds{speeds[1], speeds[0]};
}

PairBelief TruthBelief::pair(JobId a, JobId b) const {
  const std::uint64_t key = std::uint64_t{index(a)} << 32U | index(b);
  if (const auto known = remembered_.find(key); known != remembered_.end()) return known->second;
  if (remembered_.size() >= kRemembered) remembered_.clear();
  return remembered_.emplace(key, ask(a, b)).first->second;
}

PairBelief TruthBelief::ask(JobId a, JobId b) const {
  if (!world_.fits_together(a, b, 0)) return {kMisfit, kMisfit, -kMisfit, true};
  std::vector<World::PairOutcome> outcomes;
  if (noise_) {
    world_.pair_outcomes(a, b, outcomes);
  } else {
    world_.World::pair_outcomes(a, b, outcomes);  // the base class: at the expected speeds
  }
  const double solo_a = to_seconds(solo_[index(a)]);
  const double solo_b = to_seconds(solo_[index(b)]);
  PairBelief expected{0, 0, 0, true};
  for (const World::PairOutcome& o : outcomes) {
    const PairCost cost = pair_cost(solo_a, solo_b, o.speed_a, o.speed_b);
    expected.isd_a += o.weight * cost.isd_a;
    expected.isd_b += o.weight * cost.isd_b;
    expected.ps += o.weight * cost.ps;
  }
  return expected;
}

}  // namespace corun::inline models
