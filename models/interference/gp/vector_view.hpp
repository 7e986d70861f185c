#pragma once

#include <cstddef>

#include <Eigen/Dense>

/// Numbers in a row as a vector of Eigen's, without a copy. For sources only: headers do not need Eigen.
namespace corun::gp {

inline Eigen::Map<Eigen::VectorXd> view(double* from, std::size_t count) {
  return {from, static_cast<Eigen::Index>(count)};
}
inline Eigen::Map<const Eigen::VectorXd> view(const double* from, std::size_t count) {
  return {from, static_cast<Eigen::Index>(count)};
}

}  // namespace corun::gp
