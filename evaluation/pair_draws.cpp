#include "evaluation/pair_draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"

namespace corun::inline evaluation {

namespace {

/// Share of a model's unexplained variance that belongs to single co-runs.
constexpr double kNoiseShare = 0.25;
/// Standard deviation of log speeds that no measurement goes below.
constexpr double kLeastDeviation = 0.002;
/// Log slowdowns are kept between those of kFastest and of a speed of 0.001, the least that tables may hold.
const double kLeastLog = -math::log(kFastest);
constexpr double kMostLog = 6.907755278982137;

double log_slowdown(double speed) { return std::clamp(-math::log(speed), kLeastLog, kMostLog); }

/// What is believed of one direction of a pair, beside the model's draws.
struct Direction {
  double own = 0;       ///< standard deviation of what only a measurement shows
  double noise = 0;     ///< variance of a measurement
  double measured = 0;  ///< mean of the measured t
  double measurements = 0;
};

/// The number that names a draw of the model.
std::uint64_t name_of_draw(std::uint64_t seed, std::size_t draw) {
  Rng rng(seed, Stream::kPairDraws, 2 * draw);
  const std::uint64_t high = rng.next();
  return high << 32U | rng.next();
}

}  // namespace

void draw_pairs(const InterferenceModel& model, std::span<const PairJob> jobs,
                std::span<const MeasuredPair> measured, const PairDrawOptions& options,
                MeasurementProblem& problem) {
  const std::size_t pairs = problem.pairs.size();
  const std::size_t draws = options.draws;
  std::vector<PairQuery> queries;
  for (const auto& pair : problem.pairs) {
    queries.push_back({pair.a, pair.b});
    queries.push_back({pair.b, pair.a});
  }
  const std::vector<SpeedPrediction> predicted = model.predict(jobs, queries);

  problem.draws = draws;
  problem.shown.assign(draws * queries.size(), 0);
  parallel_for(draws, options.threads, [&](std::size_t d) {
    const std::vector<double> speeds = model.sample(jobs, queries, name_of_draw(options.seed, d));
    double* const row = problem.shown.data() + d * queries.size();
    for (std::size_t q = 0; q < queries.size(); ++q) row[q] = log_slowdown(speeds[q]);
  });

  std::vector<Direction> directions(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) {
    double mean = 0;
    for (std::size_t d = 0; d < draws; ++d) mean += problem.shown[d * queries.size() + q];
    mean /= static_cast<double>(draws);
    double sampled = 0;
    for (std::size_t d = 0; d < draws; ++d) {
      const double off = problem.shown[d * queries.size() + q] - mean;
      sampled += off * off / static_cast<double>(draws - 1);
    }
    const SpeedPrediction& p = predicted[q];
    const double sd = (math::log(p.hi) - math::log(p.lo)) / (2 * kHalfWidth90);
    const double unexplained = std::max(0.0, sd * sd - sampled);
    directions[q].own = std::sqrt((1 - kNoiseShare) * unexplained);
    directions[q].noise = std::max(kNoiseShare * unexplained, kLeastDeviation * kLeastDeviation);
  }
  for (const MeasuredPair& m : measured) {
    const std::array<double, 2> speeds{m.speed_a, m.speed_b};
    for (std::size_t side = 0; side < 2; ++side) {
      if (std::isnan(speeds[side])) continue;
      Direction& direction = directions[2 * m.pair + side];
      direction.measurements += 1;
      direction.measured +=
          (log_slowdown(speeds[side]) - direction.measured) / direction.measurements;
    }
  }
  for (std::size_t p = 0; p < pairs; ++p) {
    if (directions[2 * p].measurements > 0 && directions[2 * p + 1].measurements > 0) {
      problem.pairs[p].may_be_measured = false;
    }
  }

  problem.cost.assign(draws * pairs, 0);
  problem.noise.resize(queries.size());
  for (std::size_t q = 0; q < queries.size(); ++q) problem.noise[q] = directions[q].noise;
  parallel_for(draws, options.threads, [&](std::size_t d) {
    double* const row = problem.shown.data() + d * queries.size();
    std::vector<double> z(queries.size());
    Rng(options.seed, Stream::kPairDraws, 2 * d + 1).normals(z);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const Direction& direction = directions[q];
      row[q] = direction.measurements > 0
                   ? direction.measured + z[q] * std::sqrt(direction.noise / direction.measurements)
                   : row[q] + z[q] * direction.own;
      row[q] = std::clamp(row[q], kLeastLog, kMostLog);
      problem.cost[d * pairs + q / 2] += math::exp(row[q]) - 1;
    }
  });
}

}  // namespace corun::inline evaluation
