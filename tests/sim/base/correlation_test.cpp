#include "sim/base/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::correlation_test {
namespace {

using List = std::vector<double>;

TEST(Correlation, ClosedForms) {
  const List x{1, 2, 3, 4, 5};
  const List line{3, 5, 7, 9, 11};
  List down = line;
  std::ranges::reverse(down);
  for (const auto coefficient : {pearson, spearman, kendall}) {
    EXPECT_DOUBLE_EQ(coefficient(x, line), 1);
    EXPECT_DOUBLE_EQ(coefficient(x, down), -1);
    EXPECT_DOUBLE_EQ(coefficient(x, List{2, 1, 5, 1, 2}), 0);  // symmetric about the middle
  }
  // Monotone but bent: the ranks agree, the values do not lie on a line.
  const List cubes{1, 8, 27, 64, 125};
  EXPECT_DOUBLE_EQ(spearman(x, cubes), 1);
  EXPECT_DOUBLE_EQ(kendall(x, cubes), 1);
  // About the means the products sum to 304, the squares to 10 and 20515 - 5 * 45^2.
  EXPECT_NEAR(pearson(x, cubes), 304 / std::sqrt(10 * 10390.0), 1e-15);
  // One exchange of neighbours: 1 - 6*2/(5*24) and (9 - 1)/10.
  const List exchanged{1, 2, 4, 3, 5};
  EXPECT_NEAR(spearman(x, exchanged), 0.9, 1e-15);
  EXPECT_NEAR(kendall(x, exchanged), 0.8, 1e-15);
}

TEST(Correlation, Ties) {
  EXPECT_EQ(midranks(List{7, 3, 7, 1, 7}), (List{4, 2, 4, 1, 4}));
  EXPECT_EQ(midranks(List{5, 5}), (List{1.5, 1.5}));
  EXPECT_TRUE(midranks(List{}).empty());
  // Pairs of (1,1) (1,2) (2,2) (3,2): three concordant, none discordant; one tied in x, three in y.
  const List x{1, 1, 2, 3};
  const List y{1, 2, 2, 2};
  EXPECT_NEAR(kendall(x, y), 2 / std::sqrt(5.0 * 3.0), 1e-15);
  // Midranks 1.5 1.5 3 4 and 1 3 3 3: covariance 3, squares 4.5 and 3.
  EXPECT_NEAR(spearman(x, y), 2 / std::sqrt(4.5 * 3), 1e-15);
}

// The example of SciPy's documentation of stats.kendalltau, which gives -0.4714045. By hand: of ten pairs
// of rows (1,5) and (4,5) are concordant and six discordant; (1,4) is tied in both lists and (2,5) in x
// alone, so that eight pairs are untied in x and nine in y: (2 - 6) / sqrt(8 * 9) = -sqrt(2) / 3.
TEST(Correlation, KendallOfAPublishedExampleWithTies) {
  const List x{12, 2, 1, 12, 2};
  const List y{1, 4, 7, 1, 0};
  EXPECT_NEAR(kendall(x, y), -0.4714045, 5e-8);
  EXPECT_NEAR(kendall(x, y), -std::sqrt(2.0) / 3, 1e-15);
}

TEST(Correlation, AgreesWithTheDefinitionOnTiedRandomData) {
  Rng rng(1, Stream::kTest);
  for (int trial = 0; trial < 50; ++trial) {
    List x(20);
    List y(20);
    for (double& v : x) v = rng.below(6);
    for (double& v : y) v = rng.below(9);
    if (std::isnan(pearson(x, y))) continue;
    double concordant = 0;
    double discordant = 0;
    double only_x = 0;
    double only_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double product = (x[i] - x[j]) * (y[i] - y[j]);
        concordant += product > 0;
        discordant += product < 0;
        only_x += x[i] == x[j] && y[i] != y[j];
        only_y += y[i] == y[j] && x[i] != x[j];
      }
    }
    const double untied = concordant + discordant;
    EXPECT_NEAR(kendall(x, y),
                (concordant - discordant) / std::sqrt((untied + only_x) * (untied + only_y)),
                1e-14);
    // Invariances: symmetric; unmoved by scale and origin; odd in either argument.
    for (const auto coefficient : {pearson, spearman, kendall}) {
      EXPECT_NEAR(coefficient(x, y), coefficient(y, x), 1e-14);
      List moved(x);
      for (double& v : moved) v = 1e6 - 3 * v;
      EXPECT_NEAR(coefficient(moved, y), -coefficient(x, y), 1e-9);
    }
  }
}

TEST(Correlation, RefusesAndLeavesUndefined) {
  const List x{1, 2, 3};
  const List same{4, 4, 4};
  for (const auto coefficient : {pearson, spearman, kendall}) {
    EXPECT_TRUE(std::isnan(coefficient(x, same)));
    EXPECT_TRUE(std::isnan(coefficient(same, x)));
    EXPECT_THROW(coefficient(List{1, 2}, List{1, 2}), std::invalid_argument);
    EXPECT_THROW(coefficient(x, List{1, 2, 3, 4}), std::invalid_argument);
    EXPECT_THROW(coefficient(x, List{1, NAN, 3}), std::invalid_argument);
    EXPECT_THROW(coefficient(List{1, 2, std::numeric_limits<double>::infinity()}, x),
                 std::invalid_argument);
    // Values whose squares overflow or vanish.
    EXPECT_NEAR(coefficient(List{1e-150, 2e-150, 3e-150}, List{1e150, 2e150, 3e150}), 1, 1e-12);
  }
}

}  // namespace
}  // namespace corun::correlation_test
