// Reciprocals by fma, on any instruction set: the fma of the C library gives the same bits.
#define CORUN_DIVIDE_BY_FMA

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::scoring_math_test {
namespace {

/// Numbers whose bits are random, nearly all ones or nearly all zeros: rounding is then decided by the last
/// bits.
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

TEST(ScoringMath, InversesByFmaAreThoseOfTheDivider) {
  Rng rng(1, Stream::kTest);
  for (int i = 0; i < 1000000; ++i) {
    const double a = awkward(rng, i % 2 == 0 ? 2 : 400);
    const double b = 1 / a;
    ASSERT_EQ(math::inverse(b, a), 1 / b) << std::hexfloat << a;
  }
  // b must be a reciprocal of a number; a number of ones only is none.
  const double ones = std::nextafter(1.0, 0);
  EXPECT_NE(1 / std::nextafter(1.0, 2), ones);
  EXPECT_NE(math::inverse(ones, 1), 1 / ones);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(math::inverse(kNaN, kNaN)));
}

// Near 0, where 1 + x and e^x lose digits, and far from it.
TEST(ScoringMath, Log1pAndExpm1KeepTheirDigits) {
  constexpr double kFew = 4 * std::numeric_limits<double>::epsilon();
  Rng rng(2, Stream::kTest);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(rng.uniform(), -static_cast<int>(rng.below(60)));
    for (const double at : {x, -x / 2, 300 * x}) {
      ASSERT_NEAR(math::log1p(at) / std::log1p(at), 1, kFew) << std::hexfloat << at;
      ASSERT_NEAR(math::expm1(at) / std::expm1(at), 1, kFew) << std::hexfloat << at;
    }
  }
  EXPECT_EQ(math::log1p(0), 0);
  EXPECT_EQ(math::expm1(0), 0);
  EXPECT_EQ(math::expm1(1000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(math::expm1(-1000), -1);
}

}  // namespace
}  // namespace corun::scoring_math_test
