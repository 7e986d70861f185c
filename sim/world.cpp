#include "sim/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/rng.hpp"

namespace corun {

void draw_speeds(const CompanyOdds& odds, std::optional<std::uint64_t> noise_seed,
                 std::span<double> out) {
  std::size_t first = 0;
  std::size_t last = odds.rows;
  std::optional<Rng> rng;
  if (noise_seed && (odds.rows > 1 || odds.sigma)) {
    rng.emplace(*noise_seed, Stream::kWorldNoise, odds.entity);
  }
  if (rng && odds.rows > 1) {
    first = rng->below(static_cast<std::uint32_t>(odds.rows));
    last = first + 1;
  }
  const std::size_t width = out.size();
  for (std::size_t i = 0; i < width; ++i) {
    double speed = 0;
    for (std::size_t r = first; r < last; ++r) speed += odds.speeds[r * width + i];
    out[i] = speed / static_cast<double>(last - first);
  }
  if (!rng || !odds.sigma) return;
  const double sigma = *odds.sigma;
  for (double& speed : out) {
    const double factor = std::exp(sigma * rng->normal() - sigma * sigma / 2);
    speed = 1 / (1 + (1 / speed - 1) * factor);
  }
}

void World::pair_outcomes(JobId a, JobId b, std::vector<PairOutcome>& out) const {
  const std::array set{std::min(a, b), std::max(a, b)};
  std::array<double, 2> speed{};
  speeds({set, set}, std::nullopt, speed);
  if (a > b) std::swap(speed[0], speed[1]);
  out.assign(1, {1, speed[0], speed[1]});
}

}  // namespace corun
