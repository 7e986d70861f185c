#include "models/learners/regularised_regression.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::regularised_regression_test {
namespace {

struct Data {
  std::vector<double> x;
  std::vector<double> y;
  std::size_t columns = 0;

  MatrixView view() const { return {x, y.size(), columns}; }
};

/// `columns` normal attributes of which the first two matter: y = 5 + 4 x0 - 3 x1 + noise.
Data normal_data(std::size_t rows, std::size_t columns, double noise, std::uint64_t seed) {
  Rng rng(seed, Stream::kTest);
  Data d{{}, {}, columns};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) d.x.push_back(rng.normal());
    d.y.push_back(5 + 4 * d.x[r * columns] - 3 * d.x[r * columns + 1] + noise * rng.normal());
  }
  return d;
}

/// z_j'(y - Zw) for each column: minus half the derivative of the squared error.
std::vector<double> slopes(const Data& d, const LinearModel& m) {
  const std::vector<double> z = m.standardiser.apply(d.view());
  const std::vector<double> predicted = m.predict(d.view());
  std::vector<double> slope(d.columns, 0);
  for (std::size_t r = 0; r < d.y.size(); ++r) {
    for (std::size_t c = 0; c < d.columns; ++c) {
      slope[c] += z[r * d.columns + c] * (d.y[r] - predicted[r]);
    }
  }
  return slope;
}

void expect_lasso_conditions(const Data& d, const LinearModel& m, double penalty) {
  const auto n = static_cast<double>(d.y.size());
  const std::vector<double> slope = slopes(d, m);
  for (std::size_t c = 0; c < d.columns; ++c) {
    const double w = m.coefficients[c];
    if (w != 0) {
      EXPECT_NEAR(slope[c] / n, std::copysign(penalty, w), 1e-7) << "column " << c;
    } else {
      EXPECT_LE(std::abs(slope[c]) / n, penalty + 1e-7) << "column " << c;
    }
  }
}

TEST(RegularisedRegression, OneAttributeInClosedForm) {
  // z = -+1.2247, 0 and y - 20 = -10, 0, 10: z'y = 24.49, z'z = 3.
  const Data d{{1, 2, 3}, {10, 20, 30}, 1};
  const double zy = 20 * std::sqrt(1.5);
  EXPECT_NEAR(fit_linear(Penalty::kRidge, d.view(), d.y, 6).coefficients[0], zy / (3 + 6), 1e-12);
  EXPECT_NEAR(fit_linear(Penalty::kLasso, d.view(), d.y, 2).coefficients[0], zy / 3 - 2, 1e-12);
  const LinearModel none = fit_linear(Penalty::kLasso, d.view(), d.y, zy / 3 + 1e-9);
  EXPECT_EQ(none.coefficients[0], 0);
  EXPECT_DOUBLE_EQ(none.intercept, 20);
  const LinearModel nearly = fit_linear(Penalty::kRidge, d.view(), d.y, 1e-9);
  const std::vector<double> beyond{5};
  EXPECT_NEAR(nearly.predict({beyond, 1, 1})[0], 50, 1e-6);
}

TEST(RegularisedRegression, RidgeMeetsTheNormalEquations) {
  const Data d = normal_data(30, 40, 1, 1);  // more attributes than rows
  for (const double penalty : kPenaltyGrid) {
    const LinearModel m = fit_linear(Penalty::kRidge, d.view(), d.y, penalty);
    const std::vector<double> slope = slopes(d, m);
    for (std::size_t c = 0; c < d.columns; ++c) {
      EXPECT_NEAR(slope[c], penalty * m.coefficients[c], 1e-8) << penalty;
    }
  }
}

TEST(RegularisedRegression, LassoMeetsItsOptimalityConditions) {
  for (const std::size_t columns : {5u, 25u, 60u}) {
    const Data d = normal_data(30, columns, 1, 2);
    const auto path = fit_path(Penalty::kLasso, d.view(), d.y, kPenaltyGrid);
    ASSERT_EQ(path.size(), kPenaltyGrid.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
      expect_lasso_conditions(d, path[i], kPenaltyGrid[i]);
    }
  }
}

TEST(RegularisedRegression, LassoMeetsThemWhereAttributesDependOnEachOther) {
  // Copies, sums, mirror images, near copies and a constant, as among monitored attributes.
  Data d = normal_data(20, 12, 0.5, 3);
  Rng rng(3, Stream::kTest, 1);
  for (std::size_t r = 0; r < d.y.size(); ++r) {
    double* row = &d.x[r * d.columns];
    row[2] = row[0];
    row[3] = row[0] + row[1];
    row[4] = -row[1];
    row[5] = row[1] + 1e-5 * rng.normal();
    row[6] = 0.1;
    row[7] = 2 * row[8] + 1e4;
  }
  for (const LinearModel& m : {fit_linear(Penalty::kLasso, d.view(), d.y, 1e-3),
                               fit_linear(Penalty::kRidge, d.view(), d.y, 1e-3)}) {
    EXPECT_EQ(m.coefficients[6], 0);
    for (const double w : m.coefficients) EXPECT_TRUE(std::isfinite(w));
  }
  for (const double penalty : {1e-6, 1e-3, 0.1, 1.0}) {
    expect_lasso_conditions(d, fit_linear(Penalty::kLasso, d.view(), d.y, penalty), penalty);
  }
}

TEST(RegularisedRegression, ChosenLassoDropsWhatDoesNotMatter) {
  const Data d = normal_data(60, 20, 0.1, 4);
  const PenaltyChoice lasso = choose_penalty(Penalty::kLasso, d.view(), d.y, kPenaltyGrid, {});
  EXPECT_NEAR(lasso.model.coefficients[0], 4, 0.8);
  EXPECT_NEAR(lasso.model.coefficients[1], -3, 0.8);
  EXPECT_LT(lasso.error, 0.05);
  const LinearModel strict = fit_linear(Penalty::kLasso, d.view(), d.y, 1);
  for (std::size_t c = 2; c < d.columns; ++c) EXPECT_EQ(strict.coefficients[c], 0) << c;
  EXPECT_GT(strict.coefficients[0], 2);
  EXPECT_LT(strict.coefficients[1], -1.5);
}

TEST(RegularisedRegression, ChoiceIsTheBestOfTheGridAndRepeats) {
  const Data d = normal_data(40, 15, 2, 5);
  for (const Penalty kind : {Penalty::kRidge, Penalty::kLasso}) {
    const PenaltyChoice a = choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {5, 1});
    EXPECT_EQ(a.error, *std::ranges::min_element(a.errors));
    EXPECT_EQ(a.model.coefficients, fit_linear(kind, d.view(), d.y, a.penalty).coefficients);
    const PenaltyChoice b = choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {5, 1});
    EXPECT_EQ(a.errors, b.errors);
    EXPECT_EQ(a.model.coefficients, b.model.coefficients);
    EXPECT_NE(a.errors, choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {5, 2}).errors);
    // With a constant target all penalties give the same errors, so the largest is chosen.
    const std::vector<double> flat(d.y.size(), 7);
    EXPECT_EQ(choose_penalty(kind, d.view(), flat, kPenaltyGrid, {}).penalty, 1000);
  }
}

TEST(RegularisedRegression, AttributeConstantWithinAFold) {
  // Only one row differs: in the fold that holds it out, the attribute is constant.
  Data d = normal_data(12, 3, 0.1, 6);
  for (std::size_t r = 0; r < d.y.size(); ++r) d.x[r * 3 + 2] = r == 4 ? 1 : 0;
  for (const Penalty kind : {Penalty::kRidge, Penalty::kLasso}) {
    const PenaltyChoice c = choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {12, 0});
    EXPECT_TRUE(std::isfinite(c.error));
  }
}

TEST(RegularisedRegression, Refuses) {
  const Data d = normal_data(10, 2, 1, 7);
  const auto refuses = [](const auto& call) { EXPECT_THROW(call(), std::invalid_argument); };
  for (const Penalty kind : {Penalty::kRidge, Penalty::kLasso}) {
    for (const double penalty : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
      refuses([&] { fit_linear(kind, d.view(), d.y, penalty); });
    }
    Data bad = d;
    bad.x[3] = NAN;
    refuses([&] { fit_linear(kind, bad.view(), bad.y, 1); });
    bad = d;
    bad.y[3] = NAN;
    refuses([&] { fit_linear(kind, bad.view(), bad.y, 1); });
    refuses([&] { fit_linear(kind, {d.x, 5, 3}, std::vector<double>(5), 1); });
    refuses([&] { fit_linear(kind, d.view(), std::vector<double>(9), 1); });
    refuses([&] { fit_linear(kind, {}, {}, 1); });
    refuses([&] { choose_penalty(kind, d.view(), d.y, {}, {}); });
    refuses([&] { choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {11, 0}); });
    refuses([&] { choose_penalty(kind, d.view(), d.y, kPenaltyGrid, {1, 0}); });
    refuses([&] { fit_linear(kind, d.view(), d.y, 1).predict({d.x, 4, 5}); });
  }
}

TEST(CrossValidation, FoldsAreBalancedAndKeyed) {
  const std::vector<int> folds = assign_folds(49, {5, 3});
  std::vector<int> sizes(5);
  for (const int f : folds) ++sizes[static_cast<std::size_t>(f)];
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<int>{9, 10, 10, 10, 10}));
  EXPECT_EQ(folds, assign_folds(49, {5, 3}));
  EXPECT_NE(folds, assign_folds(49, {5, 4}));

  const Data d = normal_data(11, 3, 1, 8);
  std::size_t held_out = 0;
  for (const Split& s : split(d.view(), d.y, {4, 0})) {
    EXPECT_EQ(s.train_target.size() + s.test_target.size(), 11u);
    EXPECT_EQ(s.train.size(), 3 * s.train_target.size());
    held_out += s.test_target.size();
    for (std::size_t r = 0; r < s.test_target.size(); ++r) {
      EXPECT_EQ(std::ranges::count(d.y, s.test_target[r]), 1);
      EXPECT_EQ(std::ranges::count(s.train_target, s.test_target[r]), 0);
    }
  }
  EXPECT_EQ(held_out, 11u);
}

TEST(Standardiser, MeanZeroDeviationOne) {
  const std::vector<double> x{1, 0.1, 2, 0.1, 6, 0.1};
  const Standardiser s = Standardiser::of({x, 3, 2});
  EXPECT_DOUBLE_EQ(s.mean[0], 3);
  EXPECT_DOUBLE_EQ(s.deviation[0], std::sqrt(14.0 / 3));
  EXPECT_EQ(s.mean[1], 0.1);
  EXPECT_EQ(s.deviation[1], 0);
  const std::vector<double> other{3, 5};
  EXPECT_EQ(s.apply({other, 1, 2}), (std::vector<double>{0, 0}));
  EXPECT_NEAR(s.apply({x, 3, 2})[4], 3 / std::sqrt(14.0 / 3), 1e-15);
}

}  // namespace
}  // namespace corun::regularised_regression_test
