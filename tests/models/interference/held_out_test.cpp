#include "models/interference/held_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/rng.hpp"

namespace corun::held_out_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Jobs with profiles; all their pairs. `isd(of, beside)` from two jobs' utilisation, memory and time in memory.
template <typename Isd>
SpeedTable table_of(std::uint32_t jobs, const Isd& isd) {
  SpeedTable table;
  table.features = profile_features();
  Rng rng(3, Stream::kTest);
  for (std::uint32_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(j);
    table.values.push_back(10 + 85 * rng.uniform());
    table.values.push_back(5 + 40 * rng.uniform());
    table.values.push_back(5 + 50 * rng.uniform());
  }
  for (std::uint32_t a = 0; a < jobs; ++a) {
    for (std::uint32_t b = a + 1; b < jobs; ++b) {
      table.rows.push_back({a, b, 1 / (1 + isd(table, a, b)), 1 / (1 + isd(table, b, a))});
    }
  }
  return table;
}

double by_units(const SpeedTable& table, std::uint32_t of, std::uint32_t beside) {
  const double* a = table.of(of);
  const double* b = table.of(beside);
  return (1 - a[1] / 100) * a[0] / 100 * (1 - b[1] / 100) * b[0] / 100;
}

const InterferenceModelEntry& contention() { return *find_interference_model("contention"); }

TEST(HeldOutError, AModelThatKnowsTheLawBeatsTheMean) {
  const auto error = held_out_error(contention(), table_of(10, by_units), {});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->pairs, 45U);
  EXPECT_LT(error->model, 0.01) << "its own equation, without noise";
  EXPECT_GT(error->mean, 0.05);
  EXPECT_FALSE(error->lost());
}

TEST(HeldOutError, OnNoiseTheMeanWins) {
  Rng rng(11, Stream::kTest);
  const auto noise = [&](const SpeedTable&, std::uint32_t, std::uint32_t) {
    return 0.1 + 0.4 * rng.uniform();
  };
  const auto error = held_out_error(contention(), table_of(10, noise), {});
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->lost()) << error->model << " " << error->mean;
  EXPECT_NEAR(error->mean, 0.1, 0.015)
      << "mean distance of a uniform number from its middle: a quarter of 0.4";
}

/// Every pair is predicted once and by a fit without it: the mean of the others is never its own cost.
TEST(HeldOutError, RowsOfAPairAreInOneFold) {
  const auto own = [](const SpeedTable&, std::uint32_t of, std::uint32_t beside) {
    return of + beside == 1 ? 9.0 : 0.0;  // one pair costs 9, the others nothing
  };
  SpeedTable table = table_of(5, own);
  table.rows.push_back({1, 0, 0.1, 0.1});  // measured again, in the other order
  table.rows.push_back({2, 3, kNaN, 1});
  const auto error = held_out_error(contention(), table, {});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->pairs, 10U);
  // In its fold: the mean of the others is 0, four directions of 9; one more pair of two or three directions costs
  // nothing. In the four other folds eight pairs get 36 over the directions known there, 19 or 18.
  const double lowest = (4 * 9.0 + 16 * 36 / 19.0) / 23;
  const double highest = (4 * 9.0 + 17 * 36 / 18.0) / 23;
  EXPECT_GE(error->mean, lowest - 1e-9);
  EXPECT_LE(error->mean, highest + 1e-9);
}

TEST(HeldOutError, FewPairsAndTablesThatCannotBeFittedHaveNone) {
  EXPECT_FALSE(held_out_error(contention(), table_of(4, by_units), {})) << "six pairs";
  SpeedTable blind = table_of(10, by_units);
  std::ranges::fill(blind.values, kNaN);
  EXPECT_FALSE(held_out_error(contention(), blind, {})) << "no utilisation";
}

TEST(HeldOutError, IsTheSameWhateverTheOrderOfRows) {
  SpeedTable table = table_of(8, by_units);
  const auto one = held_out_error(*find_interference_model("cluster-mean"), table, {});
  std::ranges::reverse(table.rows);
  const auto two = held_out_error(*find_interference_model("cluster-mean"), table, {});
  ASSERT_TRUE(one && two);
  EXPECT_NEAR(one->model, two->model, 1e-9);
  EXPECT_NEAR(one->mean, two->mean, 1e-12);
}

}  // namespace
}  // namespace corun::held_out_test
