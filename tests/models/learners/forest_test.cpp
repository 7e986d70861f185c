#include "models/learners/forest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "models/learners/forest_search.hpp"
#include "sim/rng.hpp"

namespace corun::forest_test {
namespace {

struct Data {
  std::vector<double> x;
  std::vector<double> y;
  std::size_t columns = 0;

  MatrixView view() const { return {x, y.size(), columns}; }
};

/// Noise, except column `told`, of which the target is a non-linear function.
Data one_in_noise(std::size_t rows, std::size_t columns, std::size_t told) {
  Rng rng(1, Stream::kTest);
  Data d{{}, {}, columns};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) d.x.push_back(rng.normal());
    const double v = d.x[r * columns + told];
    d.y.push_back(50 + 10 * std::tanh(2 * v) + 0.5 * rng.normal());
  }
  return d;
}

TEST(Forest, OneFullTreeOfAllRowsLearnsThemByHeart) {
  const Data d = one_in_noise(40, 3, 0);
  RegressionForest forest(d.view(), d.y, {.depth = 30, .features = 3, .subsample = 1});
  forest.grow(1);
  const std::vector<double> predicted = forest.predict(d.view());
  // The library makes no split that gains less than 1e-6 of the target's variance.
  for (std::size_t r = 0; r < d.y.size(); ++r) EXPECT_NEAR(predicted[r], d.y[r], 0.02);
}

TEST(Forest, OneSplitInClosedForm) {
  // The best split is between 3 and 10; each side then predicts its mean.
  const std::vector<double> x{1, 7, 2, 7, 3, 7, 10, 7, 11, 7, 12, 7};
  const std::vector<double> y{0, 1, 2, 100, 101, 102};
  RegressionForest forest({x, 6, 2}, y, {.depth = 1, .features = 2, .subsample = 1});
  forest.grow(3);
  EXPECT_EQ(forest.trees(), 3);
  const std::vector<double> asked{-5, 7, 6, 7, 7, 7, 99, 7};
  const std::vector<double> predicted = forest.predict({asked, 4, 2});
  EXPECT_NEAR(predicted[0], 1, 1e-4);
  EXPECT_NEAR(predicted[1], 1, 1e-4);  // the split is half-way, at 6.5
  EXPECT_NEAR(predicted[2], 101, 1e-4);
  EXPECT_NEAR(predicted[3], 101, 1e-4);
  EXPECT_EQ(forest.importance(), (std::vector<double>{1, 0}));
}

TEST(Forest, FindsTheOneAttributeThatTells) {
  const Data d = one_in_noise(49, 20, 13);
  RegressionForest forest(d.view(), d.y, {.depth = 6, .features = 6});
  forest.grow(50);
  const std::vector<double> importance = forest.importance();
  EXPECT_NEAR(std::accumulate(importance.begin(), importance.end(), 0.0), 1, 1e-12);
  for (std::size_t c = 0; c < importance.size(); ++c) {
    if (c != 13) {
      EXPECT_GT(importance[13], 4 * importance[c]) << c;
    }
  }
}

TEST(Forest, CandidatesAreAsManyAsAsked) {
  // Trees of one split, with only column 0 informative: every tree that draws it splits on it, a share of
  // features / columns. The floor of 3 / 45 in single precision would give 2 candidates.
  const Data d = one_in_noise(49, 45, 0);
  for (const int features : {3, 9, 44, 45, 60}) {
    RegressionForest forest(d.view(), d.y, {.depth = 1, .features = features, .subsample = 1});
    forest.grow(2000);
    // Trees that drew it move the prediction for the largest value; the others hardly do.
    std::vector<double> low(45, 0.0);
    std::vector<double> high(45, 0.0);
    low[0] = -3;
    high[0] = 3;
    const double moved = forest.predict({high, 1, 45})[0] - forest.predict({low, 1, 45})[0];
    RegressionForest always(d.view(), d.y, {.depth = 1, .features = 45, .subsample = 1});
    always.grow(1);
    const double full = always.predict({high, 1, 45})[0] - always.predict({low, 1, 45})[0];
    const double share = std::min(1.0, features / 45.0);
    // Four standard deviations of a share of 2000 draws.
    EXPECT_NEAR(moved / full, share, 4 * std::sqrt(share * (1 - share) / 2000) + 1e-4) << features;
  }
}

TEST(Forest, LargeCountersKeepTheirDifferences) {
  // Values differ by 1 at 3e9, where a float has steps of 256.
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(3e9 + i);
    y.push_back(i < 13 ? 1 : 5);
  }
  RegressionForest forest({x, 20, 1}, y, {.depth = 1, .features = 1, .subsample = 1});
  forest.grow(1);
  EXPECT_NEAR(forest.predict({x, 20, 1})[12], 1, 1e-4);
  EXPECT_NEAR(forest.predict({x, 20, 1})[13], 5, 1e-4);
}

TEST(Forest, RepeatsToTheBitOnAnyThread) {
  const Data d = one_in_noise(49, 20, 4);
  const auto fitted = [&](std::uint64_t seed) {
    RegressionForest forest(d.view(), d.y, {.depth = 8, .features = 4, .seed = seed});
    forest.grow(20);
    forest.grow(10);
    std::vector<double> all = forest.predict(d.view());
    const std::vector<double> importance = forest.importance();
    all.insert(all.end(), importance.begin(), importance.end());
    return all;
  };
  const std::vector<double> first = fitted(1);
  EXPECT_EQ(first, fitted(1));
  EXPECT_NE(first, fitted(2));
  // The library has a generator per thread.
  std::vector<double> elsewhere;
  std::jthread([&] { elsewhere = fitted(1); }).join();
  EXPECT_EQ(first, elsewhere);
}

TEST(Forest, SearchDoesNotDependOnThreads) {
  const Data d = one_in_noise(30, 8, 2);
  const ForestGrid grid{{2, 5}, {2, 8}, {20, 5}};
  const ForestChoice one = choose_forest(d.view(), d.y, grid, {3, 9}, 1);
  for (const int threads : {1, 2, 5}) {
    const ForestChoice other = choose_forest(d.view(), d.y, grid, {3, 9}, threads);
    EXPECT_EQ(one.errors, other.errors);
    EXPECT_EQ(one.importance, other.importance);
    EXPECT_EQ(one.depth, other.depth);
  }
  EXPECT_EQ(one.errors.size(), 8u);
  EXPECT_EQ(one.error, *std::ranges::min_element(one.errors));
  EXPECT_EQ(one.features, 8);  // one attribute is informative: more candidates are better
  EXPECT_EQ(std::ranges::max_element(one.importance) - one.importance.begin(), 2);
}

TEST(Forest, SearchJudgesTheForestItWouldGrow) {
  const Data d = one_in_noise(30, 4, 1);
  const CrossValidation folds{3, 2};
  const ForestChoice choice = choose_forest(d.view(), d.y, {{4}, {2}, {5, 15}}, folds, 1);
  std::vector<double> by_hand(2, 0.0);
  for (const Split& s : split(d.view(), d.y, folds)) {
    RegressionForest forest(s.train_view(), s.train_target,
                            {.depth = 4, .features = 2, .seed = folds.seed});
    forest.grow(5);
    by_hand[0] += squared_error(forest.predict(s.test_view()), s.test_target) / 30;
    forest.grow(10);
    by_hand[1] += squared_error(forest.predict(s.test_view()), s.test_target) / 30;
  }
  EXPECT_NEAR(choice.errors[0], by_hand[0], 1e-12);
  EXPECT_NEAR(choice.errors[1], by_hand[1], 1e-12);
}

TEST(Forest, Refuses) {
  const Data d = one_in_noise(10, 2, 0);
  const auto refuses = [](const auto& call) { EXPECT_THROW(call(), std::invalid_argument); };
  refuses([&] { RegressionForest(d.view(), d.y, {.depth = 0}); });
  refuses([&] { RegressionForest(d.view(), d.y, {.features = 0}); });
  refuses([&] { RegressionForest(d.view(), d.y, {.subsample = 0}); });
  refuses([&] { RegressionForest(d.view(), d.y, {.subsample = 1.5}); });
  refuses([&] { RegressionForest(d.view(), std::vector<double>(9), {}); });
  Data bad = d;
  bad.x[1] = NAN;
  refuses([&] { RegressionForest(bad.view(), bad.y, {}); });
  RegressionForest forest(d.view(), d.y, {});
  EXPECT_THROW(forest.predict(d.view()), std::logic_error);
  EXPECT_EQ(forest.importance(), (std::vector<double>{0, 0}));
  refuses([&] { forest.grow(0); });
  forest.grow(1);
  refuses([&] { forest.predict({d.x, 4, 5}); });
  const ForestGrid small{{2}, {1}, {3}};
  refuses([&] { choose_forest(d.view(), d.y, {{}, {1}, {3}}, {}, 1); });
  refuses([&] { choose_forest(d.view(), d.y, small, {}, 0); });
  refuses([&] { choose_forest(d.view(), d.y, small, {11, 0}, 1); });
  // Equal from a worker thread and from the caller's thread.
  refuses([&] { choose_forest(d.view(), d.y, {{2, 0}, {1}, {3}}, {}, 2); });
  refuses([&] { choose_forest(d.view(), d.y, {{2}, {1}, {0}}, {}, 1); });
}

TEST(Forest, ConstantTargetIsPredictedAndSplitsNothing) {
  const Data d = one_in_noise(10, 2, 0);
  const std::vector<double> flat(10, 42.0);
  RegressionForest forest(d.view(), flat, {});
  forest.grow(5);
  for (const double p : forest.predict(d.view())) EXPECT_NEAR(p, 42, 1e-6);
  EXPECT_EQ(forest.importance(), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace corun::forest_test
