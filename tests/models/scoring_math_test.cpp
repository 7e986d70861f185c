// Division by fma, whatever this file's own instruction set: the C library's fma gives the same bits.
#define CORUN_DIVIDE_BY_FMA

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "models/scoring/math.hpp"
#include "sim/rng.hpp"

namespace corun {
namespace {

/// Numbers with digits that are random, all but ones or all but zeros: where rounding is decided late.
double awkward(Rng& rng, int largest_exponent) {
  auto digits = static_cast<std::uint64_t>(std::ldexp(rng.uniform(), 52));
  switch (rng.below(4)) {
    case 0:
      digits = 0x000fffffffffffffULL - rng.below(4);
      break;
    case 1:
      digits = rng.below(4);
      break;
    default:
      break;
  }
  const int exponent =
      static_cast<int>(rng.below(2 * static_cast<std::uint32_t>(largest_exponent) + 1)) -
      largest_exponent;
  return std::ldexp(1 + std::ldexp(static_cast<double>(digits), -52), exponent);
}

TEST(ScoringMath, ReciprocalsAndQuotientsByFmaAreThoseOfTheDivider) {
  Rng rng(1, Stream::kTest);
  for (int i = 0; i < 300000; ++i) {
    const double b = awkward(rng, i % 2 == 0 ? 2 : 400);
    const double a = awkward(rng, i % 2 == 0 ? 2 : 400);
    ASSERT_EQ(math::quotient(a, b, 1 / b), a / b) << std::hexfloat << a << " / " << b;
    if (math::is_all_ones(b)) continue;
    double near = 1 / b;
    for (std::uint32_t step = rng.below(3); step > 0; --step) {
      near = std::nextafter(near, i % 3 == 0 ? 0 : std::numeric_limits<double>::infinity());
    }
    ASSERT_EQ(math::divide(a, b, near), a / b) << std::hexfloat << a << " / " << b;
  }
  // Why a divisor of ones alone must go by the divider.
  const double ones = std::nextafter(1.0, 0);
  EXPECT_TRUE(math::is_all_ones(ones));
  EXPECT_NE(math::divide(64, ones, 1), 64 / ones);
  EXPECT_EQ(math::quotient(64, ones, 1 / ones), 64 / ones);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(math::divide(kNaN, 2, 0.5)));
  EXPECT_TRUE(std::isnan(math::divide(2, kNaN, kNaN)));
  EXPECT_EQ(math::divide(0, 3, 1 / 3.0), 0);
}

}  // namespace
}  // namespace corun
