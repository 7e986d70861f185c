#include "models/interference/fits/gibbs_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace corun::gibbs_chain_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd normal_matrix(Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  MatrixXd m(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) m(r, c) = rng.normal();
  }
  return m;
}

TEST(GibbsChain, WishartHasItsMeanAndVariance) {
  MatrixXd scale(3, 3);
  scale << 2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 0.5;
  constexpr double kFreedom = 6.5;
  constexpr int kDraws = 40000;
  Rng rng(1, Stream::kTest);
  MatrixXd sum = MatrixXd::Zero(3, 3);
  MatrixXd square = MatrixXd::Zero(3, 3);
  for (int i = 0; i < kDraws; ++i) {
    const MatrixXd off = draw_wishart(rng, kFreedom, scale.inverse()) - kFreedom * scale;
    sum += off;
    square += off.cwiseProduct(off);
  }
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = 0; j < 3; ++j) {
      const double variance = kFreedom * (scale(i, j) * scale(i, j) + scale(i, i) * scale(j, j));
      EXPECT_NEAR(sum(i, j) / kDraws, 0, 5 * std::sqrt(variance / kDraws));
      EXPECT_NEAR(square(i, j) / kDraws, variance, 0.1 * variance);
    }
  }
}

/// Compares the sampler with the priors of the header (Geweke, "Getting it right", JASA 2004). Parameters are
/// drawn from the prior and data from the parameters; then each sweep is followed by new data from the new
/// parameters. If each draw is from its conditional distribution, the parameters keep the distribution of the
/// prior.
class JointDistribution {
 public:
  explicit JointDistribution(const MatrixXd& basis)
      : axes_(basis),
        // A job beside itself, both directions of a pair, one direction only, and one direction twice.
        chain_(axes_,
               {{0, 1, 0},
                {1, 0, 0},
                {0, 0, 0},
                {2, 3, 0},
                {3, 1, 0},
                {0, 2, 0},
                {1, 1, 0},
                {2, 3, 0}},
               kChain, options_, 0) {}

  void draw_prior(Rng& rng) {
    auto& p = chain_.parameters;
    const Eigen::Index d = 2 * (kChain.rank + 1);
    const double freedom = static_cast<double>(d) + 2;
    p.precision =
        draw_wishart(rng, freedom, MatrixXd::Identity(d, d) * (kChain.spread * freedom / 2));
    p.strength = rng.gamma(0.5) / 0.5;
    p.tau = rng.gamma(1) / 0.05;
    const MatrixXd covariance = p.precision.inverse();
    const MatrixXd root = covariance.llt().matrixL();
    VectorXd ridge = VectorXd::Constant(axes_.squares.size(), p.strength);
    ridge(0) = 0.1;
    const VectorXd deviation = axes_.squares.cwiseQuotient(ridge).cwiseSqrt();
    p.beta = deviation.asDiagonal() * normal_matrix(rng, deviation.size(), d) * root.transpose();
    const MatrixXd w = axes_.scores * p.beta + normal_matrix(rng, 4, d) * root.transpose();
    p.own = w.leftCols(d / 2);
    p.co_runner = w.rightCols(d / 2);
    for (GibbsChain::Observation& o : chain_.observations) {
      o.weight = rng.gamma(options_.freedom / 2) / (options_.freedom / 2);
    }
    draw_data(rng);
  }

  void sweep(Rng& rng) {
    chain_.sweep();
    draw_data(rng);
  }

  /// Statistics that are sensitive to errors of the sampler.
  std::vector<double> look() const {
    const auto& p = chain_.parameters;
    const auto& l = p.precision;
    std::vector<double> out{std::log(p.tau),
                            std::log(p.strength),
                            std::log(l.determinant()),
                            l(0, 2) / std::sqrt(l(0, 0) * l(2, 2)),
                            l(1, 3) / std::sqrt(l(1, 1) * l(3, 3)),
                            p.own(0, 0) * p.co_runner(0, 0),
                            p.own(0, 1) * p.co_runner(0, 1),
                            p.own(2, 1) * p.co_runner(3, 1),
                            std::log(chain_.observations[2].weight),
                            std::log(std::fabs(chain_.observations[0].target)),
                            std::log(std::fabs(chain_.observations[2].target))};
    for (Eigen::Index i = 0; i < 4; ++i) out.push_back(std::log(l(i, i)));
    for (const MatrixXd* m : {&p.beta, &p.own, &p.co_runner}) {
      for (Eigen::Index i = 0; i < m->size(); ++i) out.push_back((*m)(i));
    }
    // The distance of the factors from their expectation, in the metric of Lambda.
    MatrixXd w(4, 4);
    w << p.own, p.co_runner;
    const MatrixXd rest = w - axes_.scores * p.beta;
    out.push_back(std::log((rest * l).cwiseProduct(rest).sum()));
    return out;
  }

 private:
  void draw_data(Rng& rng) {
    for (GibbsChain::Observation& o : chain_.observations) {
      o.target = chain_.fitted(o) + rng.normal() / std::sqrt(chain_.parameters.tau * o.weight);
    }
  }

  static constexpr FactorChain kChain{1, 0.5};
  FactorOptions options_;
  factors::Axes axes_;
  GibbsChain chain_;
};

void expect_joint_distribution_stays(const MatrixXd& basis, std::size_t draws) {
  constexpr int kSweeps = 6;
  JointDistribution joint(basis);
  Rng rng(2, Stream::kTest);
  std::vector<std::vector<double>> before;
  std::vector<std::vector<double>> after;
  for (std::size_t i = 0; i < draws; ++i) {
    joint.draw_prior(rng);
    const auto numbers = joint.look();
    before.resize(numbers.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) before[n].push_back(numbers[n]);
  }
  for (std::size_t i = 0; i < draws; ++i) {
    joint.draw_prior(rng);
    for (int s = 0; s < kSweeps; ++s) joint.sweep(rng);
    const auto numbers = joint.look();
    after.resize(numbers.size());
    for (std::size_t n = 0; n < numbers.size(); ++n) after[n].push_back(numbers[n]);
  }
  for (std::size_t n = 0; n < before.size(); ++n) {
    std::sort(before[n].begin(), before[n].end());
    std::sort(after[n].begin(), after[n].end());
    double distance = 0;
    for (std::size_t i = 0; i < draws; ++i) {
      const auto below = std::lower_bound(before[n].begin(), before[n].end(), after[n][i]);
      distance = std::max(distance, std::fabs(static_cast<double>(below - before[n].begin()) -
                                              static_cast<double>(i)));
    }
    // The Kolmogorov-Smirnov statistic of two samples: above 2.4 with probability 2e-5.
    EXPECT_LT(distance / static_cast<double>(draws) * std::sqrt(static_cast<double>(draws) / 2),
              2.4)
        << "number " << n;
  }
}

TEST(GibbsChain, LeavesTheJointDistributionAsItIs) {
  expect_joint_distribution_stays(
      (MatrixXd(4, 3) << 1, 0.5, -1, 1, -0.8, 0.3, 1, 1.2, 0.7, 1, -0.4, -0.9).finished(), 30000);
}

TEST(GibbsChain, DoesSoWithAsManyAxesAsJobs) {
  expect_joint_distribution_stays((MatrixXd(4, 4) << 1, 0.5, -1, 0.2, 1, -0.8, 0.3, 0.6,  //
                                   1, 1.2, 0.7, -0.5, 1, -0.4, -0.9, -1.1)
                                      .finished(),
                                  15000);
}

}  // namespace
}  // namespace corun::gibbs_chain_test
