#include "sim/world.hpp"

#include <algorithm>
#include <array>

namespace corun::inline sim {

void World::pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const {
  const std::array set{std::min(a, b), std::max(a, b)};
  std::array<double, 2> speed{};
  speeds({set, set}, std::nullopt, speed);
  if (a > b) std::swap(speed[0], speed[1]);
  out.assign(1, {1, speed[0], speed[1]});
}

}  // namespace corun::inline sim
