#include "sim/belief.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/rng.hpp"

namespace corun::inline sim {

PairBelief sampled_cost(const PairBelief& expected, std::uint64_t draw, std::uint32_t a,
                        std::uint32_t b) {
  const std::array<std::uint32_t, 2> both{std::min(a, b), std::max(a, b)};
  Rng rng(draw, Stream::kThompson, hash_entity(both));
  const double of_lower = rng.normal();
  const double of_upper = a == b ? of_lower : rng.normal();
  const double of_ps = rng.normal();
  const double scale = 1 / std::sqrt(expected.co_runs);
  PairBelief drawn = expected;
  drawn.isd_a += scale * expected.sd_a * (a <= b ? of_lower : of_upper);
  drawn.isd_b += scale * expected.sd_b * (a <= b ? of_upper : of_lower);
  drawn.ps += scale * expected.sd_ps * of_ps;
  return drawn;
}

PairBelief ClusterBelief::sampled_cluster_pair(int a, int b, std::uint64_t draw) const {
  return sampled_cost(cluster_pair(a, b), draw, static_cast<std::uint32_t>(a),
                      static_cast<std::uint32_t>(b));
}

PairSpeeds Belief::pair_speeds(JobId a, JobId b) const {
  const PairBelief expected = pair(a, b);
  const auto speed = [](double isd) { return 1 / (1 + std::max(isd, 0.0)); };
  return {speed(expected.isd_a), speed(expected.isd_b)};
}

PairBelief Belief::sampled_pair(JobId a, JobId b, std::uint64_t draw) const {
  return sampled_cost(pair(a, b), draw, static_cast<std::uint32_t>(index(a)),
                      static_cast<std::uint32_t>(index(b)));
}

std::vector<CoRunner> Belief::top_co_runners(const CoRunnerSearch& search,
                                             const CostRule& rule) const {
  const std::span<const JobId> jobs = search.jobs;
  const std::size_t n = jobs.size();
  const std::size_t each = n == 0 ? 0 : std::min(search.k, n - 1);
  struct Ranked {
    double cost;
    std::size_t distance;
    std::uint32_t position;
  };
  const auto cheaper = [](const Ranked& a, const Ranked& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.distance < b.distance;
  };
  std::vector<CoRunner> out;
  std::vector<Ranked> of_one;
  const std::size_t rows = search.rows ? search.rows->size() : n;
  out.reserve(rows * each);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t i = search.rows ? (*search.rows)[r] : r;
    of_one.clear();
    for (std::size_t d = 1; d < n; ++d) {
      const std::size_t j = i + d < n ? i + d : i + d - n;
      // A cost is always asked for in one order, because the sum of two ISDs must not depend on the
      // row.
      const PairBelief expected = pair(jobs[std::min(i, j)], jobs[std::max(i, j)]);
      const double cost =
          objective_cost(rule, expected) - (search.prices.empty() ? 0 : search.prices[j]);
      of_one.push_back({std::isnan(cost) ? std::numeric_limits<double>::infinity() : cost, d,
                        static_cast<std::uint32_t>(j)});
    }
    const auto end = of_one.begin() + static_cast<std::ptrdiff_t>(each);
    std::partial_sort(of_one.begin(), end, of_one.end(), cheaper);
    for (auto at = of_one.begin(); at != end; ++at) out.push_back({at->position, at->cost});
  }
  return out;
}

}  // namespace corun::inline sim
