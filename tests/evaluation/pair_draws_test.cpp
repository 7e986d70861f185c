#include "evaluation/pair_draws.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/featureless_model.hpp"

namespace corun::pair_draws_test {
namespace {

/// Every direction has speed 0.5, and its log an interval of +-0.4 around it. Draws move all pairs alike, by 0.1 up or
/// down.
class MovesTogether final : public test::FeaturelessModel {
 public:
  double residual_sigma() const override { return 0; }
  std::vector<SpeedPrediction> predict(std::span<const PairJob>,
                                       std::span<const PairQuery> pairs) const override {
    const double half = 1.6448536269514722 * 0.4;
    return std::vector<SpeedPrediction>(pairs.size(),
                                        {0.5, 0.2, 0.5 * std::exp(-half), 0.5 * std::exp(half)});
  }
  std::vector<double> sample(std::span<const PairJob>, std::span<const PairQuery> pairs,
                             std::uint64_t draw) const override {
    return std::vector<double>(pairs.size(), 0.5 * std::exp(draw % 2 == 0 ? 0.1 : -0.1));
  }
};

MeasurementProblem three_jobs() {
  MeasurementProblem problem;
  problem.kinds = {0, 1, 2};
  problem.pairs = {{0, 1, true}, {0, 2, true}, {1, 2, true}};
  return problem;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};
Moments shown_by(const MeasurementProblem& problem, std::size_t direction) {
  Moments m;
  const std::size_t width = 2 * problem.pairs.size();
  for (std::size_t d = 0; d < problem.draws; ++d) {
    m.mean += problem.shown[d * width + direction] / static_cast<double>(problem.draws);
  }
  for (std::size_t d = 0; d < problem.draws; ++d) {
    const double off = problem.shown[d * width + direction] - m.mean;
    m.variance += off * off / static_cast<double>(problem.draws);
  }
  return m;
}

TEST(PairDraws, TheModelsDrawsAndWhatItLeavesUnexplained) {
  MeasurementProblem problem = three_jobs();
  const std::vector<PairJob> jobs(3);
  draw_pairs(MovesTogether{}, jobs, {}, {.draws = 4000}, problem);
  ASSERT_EQ(problem.draws, 4000U);
  ASSERT_EQ(problem.cost.size(), 12000U);
  for (std::size_t q = 0; q < 6; ++q) {
    // 0.16 in all, of which 0.01 are common; a quarter of the rest is noise.
    EXPECT_NEAR(problem.noise[q], 0.25 * 0.15, 0.001);
    const Moments m = shown_by(problem, q);
    EXPECT_NEAR(m.mean, std::log(2), 0.02);
    EXPECT_NEAR(m.variance, 0.01 + 0.75 * 0.15, 0.01);
  }
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_TRUE(problem.pairs[p].may_be_measured);
    const double sum = std::exp(problem.shown[2 * p]) + std::exp(problem.shown[2 * p + 1]) - 2;
    EXPECT_NEAR(problem.cost[p], sum, 1e-12);
  }
}

TEST(PairDraws, AMeasuredPairIsKnownUpToTheNoise) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  MeasurementProblem problem = three_jobs();
  const std::vector<PairJob> jobs(3);
  const std::vector<MeasuredPair> measured{{0, 0.8, 0.4}, {0, 0.8, 0.4}, {1, 0.9, kNaN}};
  draw_pairs(MovesTogether{}, jobs, measured, {.draws = 4000}, problem);
  EXPECT_FALSE(problem.pairs[0].may_be_measured);
  EXPECT_TRUE(problem.pairs[1].may_be_measured);  // one direction is missing
  EXPECT_TRUE(problem.pairs[2].may_be_measured);
  EXPECT_NEAR(shown_by(problem, 0).mean, -std::log(0.8), 0.02);
  EXPECT_NEAR(shown_by(problem, 1).mean, -std::log(0.4), 0.02);
  EXPECT_NEAR(shown_by(problem, 0).variance, problem.noise[0] / 2, 0.002);
  EXPECT_NEAR(shown_by(problem, 2).mean, -std::log(0.9), 0.02);
  EXPECT_NEAR(shown_by(problem, 3).mean, std::log(2), 0.02);
}

TEST(PairDraws, TheSameBytesAtAnyNumberOfThreadsAndOthersForAnotherSeed) {
  const std::vector<PairJob> jobs(3);
  MeasurementProblem one = three_jobs();
  MeasurementProblem four = three_jobs();
  MeasurementProblem other = three_jobs();
  draw_pairs(MovesTogether{}, jobs, {}, {.threads = 1}, one);
  draw_pairs(MovesTogether{}, jobs, {}, {.threads = 4}, four);
  draw_pairs(MovesTogether{}, jobs, {}, {.seed = 2}, other);
  EXPECT_EQ(one.cost, four.cost);
  EXPECT_EQ(one.shown, four.shown);
  EXPECT_NE(one.cost, other.cost);
}

}  // namespace
}  // namespace corun::pair_draws_test
