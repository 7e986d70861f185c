#include "models/truth_belief.hpp"

#include <algorithm>
#include <array>

#include "models/interference/overlap.hpp"

namespace corun {

TruthBelief::TruthBelief(const World& world, std::vector<Duration> solo)
    : world_(world), solo_(std::move(solo)) {
  if (solo_.size() <= kRemembered) remembered_.resize(solo_.size() * solo_.size());
}

PairBelief TruthBelief::pair(JobId a, JobId b) const {
  if (remembered_.empty()) return ask(a, b);
  auto& known = remembered_[index(a) * solo_.size() + index(b)];
  if (!known) known = ask(a, b);
  return *known;
}

PairBelief TruthBelief::ask(JobId a, JobId b) const {
  const std::array set{std::min(a, b), std::max(a, b)};
  std::array<double, 2> speed{};
  world_.speeds({set, set}, std::nullopt, speed);
  if (a > b) std::swap(speed[0], speed[1]);
  const PairCost cost =
      pair_cost(to_seconds(solo_[index(a)]), to_seconds(solo_[index(b)]), speed[0], speed[1]);
  return {cost.isd_a, cost.isd_b, cost.ps, true};
}

}  // namespace corun
