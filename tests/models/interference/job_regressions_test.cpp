#include "models/interference/factors/job_regressions.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::job_regressions_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd normal_vector(Rng& rng, Eigen::Index size) {
  VectorXd v(size);
  for (double& x : v) x = rng.normal();
  return v;
}

/// The same computation by Eigen.
VectorXd drawn_by_eigen(const MatrixXd& h, const VectorXd& g, const VectorXd& z) {
  const Eigen::LLT<MatrixXd> root(h);
  return root.solve(g) + root.matrixU().solve(z);
}

/// A positive definite matrix.
MatrixXd precision_of(Rng& rng, Eigen::Index size) {
  MatrixXd m(size, size);
  for (Eigen::Index c = 0; c < size; ++c) m.col(c) = normal_vector(rng, size);
  return m * m.transpose() + MatrixXd::Identity(size, size);
}

TEST(JobRegressions, GiveTheBitsOfEigen) {
  for (const Eigen::Index size : {1, 2, 3, 4, 7, 8, 9, 10, 12, 16, 17, 25, 31}) {
    const auto k = static_cast<std::size_t>(size);
    Rng rng(1, Stream::kTest, k);
    const MatrixXd precision = precision_of(rng, size);
    factors::JobRegressions regressions(k);
    for (const std::size_t lanes : {factors::JobRegressions::kTogether, std::size_t{3}}) {
      std::vector<VectorXd> expected;
      std::vector<double> z;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const VectorXd mean = normal_vector(rng, size);
        MatrixXd h = precision;
        VectorXd g(size);
        g.noalias() = precision * mean;
        std::vector<VectorXd> xs;
        std::vector<factors::JobRegressions::Row> rows;
        for (std::size_t o = 0; o < lane; ++o) {
          const VectorXd& x = xs.emplace_back(normal_vector(rng, size));
          const double weight = rng.gamma(2);
          const double y = rng.normal();
          h.selfadjointView<Eigen::Lower>().rankUpdate(x, weight);
          g += weight * y * x;
          rows.push_back({x.data(), weight, y});
        }
        regressions.set(lane, precision.data(), {mean.data(), k}, rows);
        const VectorXd deviation = normal_vector(rng, size);
        z.insert(z.end(), deviation.begin(), deviation.end());
        expected.push_back(drawn_by_eigen(h, g, deviation));
      }
      regressions.draw(lanes, z);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        for (std::size_t c = 0; c < k; ++c) {
          ASSERT_EQ(regressions.drawn(lane, c), expected[lane](static_cast<Eigen::Index>(c)))
              << size << " " << lane << " " << c;
        }
      }
    }
  }
}

TEST(JobRegressions, HelpAMatrixThatRoundingMadeIndefinite) {
  // Rank 1, and 1e-13 too small in the second element.
  const std::vector<double> indefinite = {1, 1, 1, 1 - 1e-13};
  const std::vector<double> definite = {2, 0, 0, 4};
  factors::JobRegressions regressions(2);
  regressions.set(0, indefinite.data(), std::vector<double>{0, 0}, {});
  regressions.set(1, definite.data(), std::vector<double>{3, 5}, {});
  regressions.draw(2, std::vector<double>{0, 0, 0, 0});
  EXPECT_EQ(regressions.drawn(0, 0), 0);
  EXPECT_NEAR(regressions.drawn(1, 0), 3, 1e-12);
  EXPECT_NEAR(regressions.drawn(1, 1), 5, 1e-12);
  const std::vector<double> negative = {-1, 0, 0, -1};
  regressions.set(0, negative.data(), std::vector<double>{0, 0}, {});
  EXPECT_THROW(regressions.draw(1, std::vector<double>{0, 0}), std::logic_error);
}

}  // namespace
}  // namespace corun::job_regressions_test
