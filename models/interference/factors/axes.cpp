#include "models/interference/factors/axes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/interference/factors/signs.hpp"

namespace corun::inline models::factors {

namespace {

using Matrix = Eigen::MatrixXd;

/// Shorter axes are left out. As a share of the largest square: the jobs hardly differ along them.
constexpr double kLeastSquare = 1e-8;
/// As a share of the squares of all features: there is nothing but rounding of their mean.
constexpr double kRounding = 1e-20;

}  // namespace

Axes::Axes(const Matrix& basis) : mean(basis.rightCols(basis.cols() - 1).colwise().mean()) {
  const Eigen::Index jobs = basis.rows();
  const Eigen::Index features = basis.cols() - 1;
  const Matrix centred = basis.rightCols(features).rowwise() - mean;
  Eigen::Index sloping = 0;
  Eigen::VectorXd found;
  if (features > 0) {
    const Eigen::SelfAdjointEigenSolver<Matrix> eigen(centred.transpose() * centred);
    if (eigen.info() != Eigen::Success) throw std::logic_error("factor model: no axes");
    // The solver has them ascending.
    found = eigen.eigenvalues().reverse();
    loadings = eigen.eigenvectors().rowwise().reverse();
    for (Eigen::Index a = 0; a < features; ++a) loadings.col(a) *= sign_of(loadings.col(a));
    const double least =
        std::max(kLeastSquare * found(0), kRounding * basis.rightCols(features).squaredNorm());
    while (sloping < features && found(sloping) > least) ++sloping;
  }
  squares.resize(1 + sloping);
  scores.resize(jobs, 1 + sloping);
  squares(0) = static_cast<double>(jobs);
  scores.col(0).setConstant(1 / std::sqrt(squares(0)));
  if (sloping > 0) {
    squares.tail(sloping) = found.head(sloping);
    scores.rightCols(sloping) = centred * loadings.leftCols(sloping) *
                                found.head(sloping).cwiseSqrt().cwiseInverse().asDiagonal();
  }
}

Matrix Axes::beta_of(const Matrix& of_axes, const Matrix& of_others) const {
  const Eigen::Index sloping = squares.size() - 1;
  Matrix beta(1 + loadings.rows(), of_axes.cols());
  Matrix along(loadings.cols(), of_axes.cols());
  along.topRows(sloping) =
      squares.tail(sloping).cwiseSqrt().cwiseInverse().asDiagonal() * of_axes.bottomRows(sloping);
  along.bottomRows(others()) = of_others;
  beta.bottomRows(loadings.rows()) = loadings * along;
  beta.row(0) = of_axes.row(0) / std::sqrt(squares(0)) - mean * beta.bottomRows(loadings.rows());
  return beta;
}

}  // namespace corun::inline models::factors
