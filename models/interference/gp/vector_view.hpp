#pragma once

#include <cstddef>

#include <Eigen/Dense>

/// An array as a vector of Eigen, without a copy. For source files only: headers do not include Eigen.
namespace corun::inline models::gp {

inline Eigen::Map<Eigen::VectorXd> view(double* from, std::size_t count) {
  return {from, static_cast<Eigen::Index>(count)};
}
inline Eigen::Map<const Eigen::VectorXd> view(const double* from, std::size_t count) {
  return {from, static_cast<Eigen::Index>(count)};
}

}  // namespace corun::inline models::gp
