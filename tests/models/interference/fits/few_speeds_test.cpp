#include "models/interference/fits/few_speeds.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/half_width.hpp"
#include "sim/rng.hpp"

namespace corun::few_speeds_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Pairs of jobs that occur once each, with these t = -log(speed), two per pair.
SpeedTable pairs_of(const std::vector<double>& t) {
  SpeedTable table;
  for (std::uint32_t j = 0; j < t.size(); ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(10 + j));
    if (j % 2 == 1) table.rows.push_back({j - 1, j, std::exp(-t[j - 1]), std::exp(-t[j])});
  }
  return table;
}

/// 20 values with this deviation (of n - 1).
std::vector<double> spread_by(double deviation) {
  std::vector<double> t;
  for (int j = 0; j < 20; ++j) {
    t.push_back(1 + (j % 2 == 0 ? 1 : -1) * deviation * std::sqrt(19.0 / 20));
  }
  return t;
}

// 1.729133: the 95 % quantile of Student's t with 19 degrees of freedom.
TEST(FewSpeeds, AConstantIsAStudentsT) {
  EXPECT_NEAR(constant_deviation_of_few(pairs_of(spread_by(0.3))),
              0.3 * std::sqrt(1 + 1.0 / 20) * 1.729133 / kHalfWidth90, 1e-6)
      << "the prior agrees";
  const double narrow = constant_deviation_of_few(pairs_of(spread_by(0.04)));
  EXPECT_GT(narrow, 0.04);
  EXPECT_LT(narrow, 0.06);
  const double wide = constant_deviation_of_few(pairs_of(spread_by(2)));
  EXPECT_LT(wide, 2 * std::sqrt(1 + 1.0 / 20) * 1.729133 / kHalfWidth90);
  EXPECT_GT(wide, 1.7);
}

TEST(FewSpeeds, EqualSpeedsDoNotMakeItSure) {
  const double of_two = constant_deviation_of_few(pairs_of({0.1, 0.1}));
  const double of_ten = constant_deviation_of_few(pairs_of(std::vector<double>(10, 0.1)));
  EXPECT_GT(of_two, of_ten);
  EXPECT_GT(of_ten, 0.01);
}

TEST(FewSpeeds, OfManyOrOfOneJobThereIsNone) {
  SpeedTable table = pairs_of(spread_by(0.3));
  const std::vector<SpeedTable::Row> rows = table.rows;
  const auto is_bounded = [](const SpeedTable& of) {
    return std::isfinite(constant_deviation_of_few(of));
  };
  // Twenty jobs have forty effects.
  table.rows.insert(table.rows.end(), rows.begin(), rows.end() - 1);
  EXPECT_TRUE(is_bounded(table)) << "38 speeds";
  table.rows.push_back(rows.back());
  EXPECT_FALSE(is_bounded(table)) << "40 speeds";
  table.rows.back().speed_a = kNaN;
  EXPECT_TRUE(is_bounded(table)) << "39 speeds";
  table.rows = {{0, 0, 0.5, kNaN}};
  EXPECT_FALSE(is_bounded(table));
  table.rows.clear();
  EXPECT_FALSE(is_bounded(table));
}

// What it is for: 90 % of new values lie within, whatever the level and the spread.
TEST(FewSpeeds, NinetyPerCentLieWithin) {
  Rng rng(3, Stream::kTest);
  for (const double deviation : {0.05, 0.2, 0.6}) {
    double within = 0;
    double count = 0;
    for (int draw = 0; draw < 400; ++draw) {
      std::vector<double> t;
      double mean = 0;
      for (int j = 0; j < 12; ++j) {
        t.push_back(0.4 + deviation * rng.normal());
        mean += t.back() / 12;
      }
      const double half_width = kHalfWidth90 * constant_deviation_of_few(pairs_of(t));
      for (int test = 0; test < 20; ++test) {
        within += std::fabs(0.4 + deviation * rng.normal() - mean) < half_width ? 1 : 0;
        count += 1;
      }
    }
    EXPECT_GT(within / count, 0.86) << deviation;
    EXPECT_LT(within / count, 0.97) << deviation;
  }
}

}  // namespace
}  // namespace corun::few_speeds_test
