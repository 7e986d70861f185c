#include "models/interference/factors/product.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "sim/rng.hpp"

namespace corun::product_test {
namespace {

using Eigen::MatrixXd;

MatrixXd normal_matrix(Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  MatrixXd m(rows, columns);
  for (double& x : m.reshaped()) x = rng.normal();
  return m;
}

TEST(Product, GivesTheBitsOfEigen) {
  Rng rng(1, Stream::kTest);
  for (const Eigen::Index rows : {1, 3, 4, 5, 7, 8, 9, 15, 18, 31, 57, 64, 102, 250}) {
    for (const Eigen::Index terms : {1, 2, 7, 9, 18, 40, 61, 200, 240, 241, 700}) {
      for (const Eigen::Index columns : {1, 2, 3, 5, 6, 9, 18, 22}) {
        const MatrixXd a = normal_matrix(rng, rows, terms);
        const MatrixXd b = normal_matrix(rng, terms, columns);
        const MatrixXd expected = a * b;
        ASSERT_EQ(factors::product(a, b), expected) << rows << " " << terms << " " << columns;
        if (rows == 1 || columns == 1 || rows + terms + columns < 20) continue;
        // Of an expression that is transposed, too.
        const MatrixXd at = a.transpose();
        ASSERT_EQ(MatrixXd(at.transpose() * b), expected) << rows << " " << terms << " " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace corun::product_test
