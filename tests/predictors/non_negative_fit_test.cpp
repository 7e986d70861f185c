#include "predictors/non_negative_fit.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::non_negative_fit_test {
namespace {

TEST(NonNegativeFit, FindsExactCoefficients) {
  const std::vector<double> terms{1, 2, 0, 1, 5, 3, 1, 1, 9, 1, 7, 2};
  std::vector<double> target;
  for (std::size_t r = 0; r < 4; ++r) target.push_back(3 * terms[3 * r] + 0.5 * terms[3 * r + 2]);
  const std::vector<double> c = fit_non_negative({terms, 4, 3}, target);
  EXPECT_NEAR(c[0], 3, 1e-9);
  EXPECT_NEAR(c[1], 0, 1e-9);
  EXPECT_NEAR(c[2], 0.5, 1e-9);
}

// y = 10 and 20 for x = 1 and 2, and a constant: errors are relative, so a line through both has none. Without the
// line, the constant minimises (1 - c/10)^2 + (1 - c/20)^2: c = 12.
TEST(NonNegativeFit, ErrorsAreRelative) {
  EXPECT_NEAR(fit_non_negative({std::vector<double>{1, 1}, 2, 1}, std::vector<double>{10, 20})[0],
              12, 1e-9);
}

// At the optimum the slope is 0 along each positive coefficient, and does not fall along one of 0 (Karush, Kuhn and
// Tucker).
TEST(NonNegativeFit, IsOptimal) {
  Rng rng(11, Stream::kTest);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rows = 5 + rng.below(30), columns = 1 + rng.below(8);
    std::vector<double> terms(rows * columns), target(rows);
    for (double& x : terms) x = rng.below(4) == 0 ? 0 : std::exp(3 * rng.normal());
    for (double& y : target) y = std::exp(rng.normal());
    const std::vector<double> c = fit_non_negative({terms, rows, columns}, target);
    for (std::size_t k = 0; k < columns; ++k) {
      EXPECT_GE(c[k], 0);
      double slope = 0, length = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        double sum = 0;
        for (std::size_t j = 0; j < columns; ++j) sum += c[j] * terms[r * columns + j];
        const double term = terms[r * columns + k] / target[r];
        slope += (1 - sum / target[r]) * term;
        length += term * term;
      }
      const double tolerance = 1e-7 * std::sqrt(length * static_cast<double>(rows)) + 1e-12;
      if (c[k] > 0) EXPECT_NEAR(slope, 0, tolerance) << trial;
      EXPECT_LE(slope, tolerance) << trial;
    }
  }
}

TEST(NonNegativeFit, RefusesWhatIsNegative) {
  const std::vector<double> one{1}, minus{-1}, none{0};
  EXPECT_THROW(fit_non_negative({minus, 1, 1}, one), std::invalid_argument);
  EXPECT_THROW(fit_non_negative({one, 1, 1}, none), std::invalid_argument);
  EXPECT_EQ(fit_non_negative({none, 1, 1}, one), none) << "a column of zeros";
}

}  // namespace
}  // namespace corun::non_negative_fit_test
