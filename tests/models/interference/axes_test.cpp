#include "models/interference/factors/axes.hpp"

#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::axes_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using factors::Axes;

/// `jobs` rows of 1 and `features` random numbers, which are far from 0.
MatrixXd random_basis(Eigen::Index jobs, Eigen::Index features) {
  Rng rng(1, Stream::kTest, static_cast<std::uint64_t>(jobs * 100 + features));
  MatrixXd basis = MatrixXd::Ones(jobs, 1 + features);
  for (Eigen::Index r = 0; r < jobs; ++r) {
    for (Eigen::Index c = 1; c <= features; ++c) basis(r, c) = 2 + rng.normal();
  }
  return basis;
}

/// The fit of a ridge regression of w on the basis less its means has the same beta by both ways.
void expect_same_regression(const MatrixXd& basis) {
  constexpr double kRidge = 0.7;
  constexpr double kIntercept = 0.1;
  const Axes axes(basis);
  const MatrixXd w = random_basis(basis.rows(), 3);
  MatrixXd centred = basis;
  const Eigen::RowVectorXd mean = basis.colwise().mean();
  centred.rightCols(basis.cols() - 1).rowwise() -= mean.tail(basis.cols() - 1);
  VectorXd ridge = VectorXd::Constant(basis.cols(), kRidge);
  ridge(0) = kIntercept;
  const MatrixXd precision = centred.transpose() * centred + MatrixXd(ridge.asDiagonal());
  MatrixXd expected = precision.llt().solve(centred.transpose() * w);
  expected.row(0) -= mean.tail(basis.cols() - 1) * expected.bottomRows(basis.cols() - 1);

  const MatrixXd along = axes.scores.transpose() * w;
  VectorXd of_axes = VectorXd::Constant(axes.squares.size(), kRidge);
  of_axes(0) = kIntercept;
  const VectorXd share = axes.squares.cwiseQuotient(axes.squares + of_axes);
  const MatrixXd found =
      axes.beta_of(share.asDiagonal() * along, MatrixXd::Zero(axes.others(), w.cols()));
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((axes.scores.transpose() * axes.scores -
             MatrixXd::Identity(axes.squares.size(), axes.squares.size()))
                .cwiseAbs()
                .maxCoeff(),
            1e-7);
}

TEST(Axes, ARidgeRegressionIsTheSame) {
  expect_same_regression(random_basis(30, 5));
  expect_same_regression(random_basis(6, 5));
  expect_same_regression(random_basis(4, 9));
  expect_same_regression(MatrixXd::Ones(3, 1));
}

TEST(Axes, JobsDoNotDifferAlongTheOthers) {
  MatrixXd basis = random_basis(8, 4);
  basis.col(3) = basis.col(1) + basis.col(2);
  const Axes axes(basis);
  EXPECT_EQ(axes.squares.size(), 4);
  ASSERT_EQ(axes.others(), 1);
  const MatrixXd beta = axes.beta_of(MatrixXd::Zero(4, 2), MatrixXd::Constant(1, 2, 1));
  EXPECT_GT(beta.cwiseAbs().maxCoeff(), 0.5);
  EXPECT_LT((basis * beta).cwiseAbs().maxCoeff(), 1e-9);
  expect_same_regression(basis);
}

TEST(Axes, OfOneJobOrOfEqualJobsThereIsOnlyTheConstant) {
  EXPECT_EQ(Axes(random_basis(1, 3)).squares.size(), 1);
  for (Eigen::Index jobs = 2; jobs < 40; ++jobs) {  // their mean is rounded in various ways
    const MatrixXd equal = MatrixXd::Ones(jobs, 1) * random_basis(1, 3);
    const Axes axes(equal);
    EXPECT_EQ(axes.squares.size(), 1) << jobs;
    EXPECT_EQ(axes.others(), 3) << jobs;
  }
}

}  // namespace
}  // namespace corun::axes_test
