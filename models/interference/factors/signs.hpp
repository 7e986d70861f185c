#pragma once

#include <Eigen/Dense>

namespace corun::inline models::factors {

/// 1 or -1: an eigenvector times it has a positive element of the largest modulus. The sign of an eigenvector is the solver's
/// choice; this rule keeps it out of the draws.
inline double sign_of(const Eigen::Ref<const Eigen::VectorXd>& eigenvector) {
  Eigen::Index largest = 0;
  eigenvector.cwiseAbs().maxCoeff(&largest);
  return eigenvector(largest) < 0 ? -1 : 1;
}

}  // namespace corun::inline models::factors
