#pragma once

#include <Eigen/Dense>

/// Products of matrices for the Gibbs sampler of the factor model.
namespace corun::inline models::factors {

/// a b, with the bits of Eigen 3.4 for vectors of two numbers, on the widest vector unit that the processor has. Each sum is
/// taken in the order of its terms, but for some of the last rows. Of more than kMostTerms terms, Eigen splits the sums by the
/// size of the cache, and makes the product.
Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

inline constexpr Eigen::Index kMostTerms = 240;

}  // namespace corun::inline models::factors
