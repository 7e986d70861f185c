#include "models/interference/gp/inverse_root.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::inverse_root_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// A covariance matrix of points on a line, with noise.
MatrixXd covariance_of(std::size_t size) {
  Rng rng(1, Stream::kTest, size);
  std::vector<double> at(size);
  for (double& x : at) x = 3 * rng.normal();
  const auto n = static_cast<Index>(size);
  MatrixXd out(n, n);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double apart = at[i] - at[j];
      out(static_cast<Index>(i), static_cast<Index>(j)) =
          std::exp(-apart * apart / 2) + (i == j ? 0.1 : 0);
    }
  }
  return out;
}

gp::Panels panels_of(const MatrixXd& matrix) {
  const auto size = static_cast<std::size_t>(matrix.rows());
  gp::Panels out(size, size);
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t c = r; c < size; ++c) {
      out.at(r, c) = matrix(static_cast<Index>(r), static_cast<Index>(c));
    }
  }
  return out;
}

TEST(InverseRoot, BlocksGiveTheBitsOfSingleRows) {
  for (const std::size_t size : {1, 5, 8, 63, 64, 65, 200}) {
    const MatrixXd covariance = covariance_of(size);
    const gp::InverseRoot blocks(gp::inverse_root_of(panels_of(covariance), size), size);
    gp::InverseRoot rows;
    for (std::size_t r = 0; r < size; ++r) {
      std::vector<double> before;
      for (std::size_t c = 0; c < r; ++c) {
        before.push_back(covariance(static_cast<Index>(c), static_cast<Index>(r)));
      }
      rows.append(before.data(), covariance(static_cast<Index>(r), static_cast<Index>(r)));
    }
    ASSERT_EQ(blocks.size(), size);
    ASSERT_EQ(rows.size(), size);
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t c = 0; c <= r; ++c) EXPECT_EQ(blocks.row(r)[c], rows.row(r)[c]);
    }
  }
}

TEST(InverseRoot, PrecisionIsTheInverse) {
  for (const std::size_t size : {1, 9, 130}) {
    const MatrixXd covariance = covariance_of(size);
    const MatrixXd inverse = covariance.inverse();
    const gp::Panels precision =
        gp::precision_of(gp::inverse_root_of(panels_of(covariance), size), size);
    for (std::size_t r = 0; r < size; ++r) {
      for (std::size_t c = 0; c <= r; ++c) {
        EXPECT_NEAR(precision.at(r, c), inverse(static_cast<Index>(r), static_cast<Index>(c)),
                    1e-9 * inverse.cwiseAbs().maxCoeff());
      }
    }
  }
}

}  // namespace
}  // namespace corun::inverse_root_test
