#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sim/base/host_device.hpp"

/// Arithmetic of the formulas. It is compiled for the processor, for each of its vector units and for the
/// GPU, and gives the same bits on all of them.
///
/// The rules: IEEE double operations in the order written (-ffp-contract=off, nvcc -fmad=false); math::fma
/// where a product and a sum share one rounding; exp and log from this file, never from a library, because
/// the last bits of libraries differ between versions and devices. Branches are only such that a compiler
/// turns into selections, so that loops over these functions are vectorised. Such functions are marked
/// CORUN_HOST_DEVICE_INLINE.
namespace corun::inline sim {

/// Before a loop over a short array: CORUN_UNROLL keeps the array in registers, CORUN_ROLLED keeps the loop.
#if defined(__CUDACC__) || defined(__clang__)
#define CORUN_UNROLL _Pragma("unroll")
#define CORUN_ROLLED _Pragma("unroll 1")
#else
#define CORUN_UNROLL _Pragma("GCC unroll 64")
#define CORUN_ROLLED _Pragma("GCC unroll 1")
#endif

namespace math {

/// a * b + c, rounded once. One instruction on the GPU, AVX2 and AVX-512; elsewhere a call of the C library,
/// with the same bits.
CORUN_HOST_DEVICE_INLINE double fma(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return ::fma(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

/// As std::min and std::max: `a` if both are equal or one is NaN.
CORUN_HOST_DEVICE_INLINE double min(double a, double b) { return b < a ? b : a; }
CORUN_HOST_DEVICE_INLINE double max(double a, double b) { return a < b ? b : a; }

CORUN_HOST_DEVICE_INLINE double sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return ::sqrt(x);  // correctly rounded: --use_fast_math is never set
#else
  return __builtin_sqrt(x);
#endif
}

CORUN_HOST_DEVICE_INLINE std::uint64_t bits_of(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return __builtin_bit_cast(std::uint64_t, x);
#endif
}
CORUN_HOST_DEVICE_INLINE double from_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return __builtin_bit_cast(double, bits);
#endif
}

/// 1 / b, correctly rounded, for b = 1 / a, correctly rounded, and a within 2^-900 .. 2^900 or NaN. With fma
/// (CORUN_DIVIDE_BY_FMA, the GPU) it takes no division, which wide vector units do slowly: a is so close to
/// the result that one Newton step rounds it correctly (Markstein, "Computation of elementary functions on
/// the IBM RISC System/6000 processor", 1990). The exception named there, a number whose 52 fraction bits are
/// all ones, is not the reciprocal of a number. tests/models/scoring/scoring_math_test.cpp compares with `/`.
CORUN_HOST_DEVICE_INLINE double inverse(double b, [[maybe_unused]] double a) {
#if defined(CORUN_DIVIDE_BY_FMA) || defined(__CUDA_ARCH__)
  return fma(a, fma(-b, a, 1.0), a);
#else
  return 1 / b;
#endif
}

/// e^x, within 1 unit of the last place, including subnormal results; 0 and infinity beyond the range.
///
/// x = n ln 2 + r, |r| <= ln 2 / 2 = 0.3466. ln 2 has two parts, the first of 42 bits, so that its product
/// with n is exact for |n| < 2^11. e^r is a Taylor series; the first term left out is below 0.3466^14 / 14! =
/// 4.2e-18. No fma, because it is a function call on processors without the instruction.
CORUN_HOST_DEVICE_INLINE double exp(double x) {
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 0x1.62e42fefa3800p-1;
  constexpr double kLn2Low = 0x1.ef35793c76730p-45;
  constexpr double kShift = 0x1.8p52;  // a number plus this has the nearest integer in its low bits
  x = x < -746 ? -746 : x;             // beyond these bounds e^x is 0 or infinity; NaN stays
  x = x > 710 ? 710 : x;
  const double n = (x * kLog2E + kShift) - kShift;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double p = 1.0 / 6227020800.0;  // 1 / 13!
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * r) * r + r;
  p = p + 1.0;
  // 2^n as two factors, because 2^n alone may be subnormal or infinite: only the last product rounds.
  const double half = n * 0.5 + kShift;
  const double rest = (n - (half - kShift)) + kShift;
  const double scale_half = from_bits((bits_of(half) + 1023) << 52);
  const double scale_rest = from_bits((bits_of(rest) + 1023) << 52);
  return (p * scale_half) * scale_rest;
}

/// Natural logarithm, within 1 unit of the last place (2 near 1 / sqrt(2) and sqrt(2)), including subnormal
/// numbers. log(0) is -infinity; below 0 it is NaN.
///
/// x = 2^k m, m within sqrt(1/2) .. sqrt(2); log m = 2 atanh(s) = f - s (f - R), f = m - 1,
/// s = f / (2 + f), R = 2 s^2 (1/3 + s^2/5 + s^4/7 + ...) up to s^20 / 23. The terms left out are below
/// 0.0295^11 / 25 of the result.
CORUN_HOST_DEVICE_INLINE double log(double x) {
  constexpr double kLn2High = 0x1.62e42fefa3800p-1;
  constexpr double kLn2Low = 0x1.ef35793c76730p-45;
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;  // sqrt(1/2)
  constexpr double kInfinity = __builtin_huge_val();
  const bool tiny = x < 0x1p-1022;
  const std::uint64_t scaled = bits_of(tiny ? x * 0x1p54 : x);
  // Bits relative to sqrt(1/2), with 1024 added to the exponent so that it is never negative.
  const std::uint64_t above = scaled - kRootHalf + (1024ULL << 52);
  const double k =
      (from_bits(0x4330000000000000ULL | (above >> 52)) - 0x1p52) - (tiny ? 1078 : 1024);
  const double f = from_bits((above & 0x000fffffffffffffULL) + kRootHalf) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 1.0 / 23;
  p = p * z + 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  const double rest = 2.0 * z * p;
  // log(1 + f) = f - f^2/2 + s (f^2/2 + R): the leading term is exact.
  const double half_square = 0.5 * f * f;
  const double small = half_square - (s * (half_square + rest) + k * kLn2Low);
  const double result = k * kLn2High - (small - f);
  const double below = x == 0 ? -kInfinity : __builtin_nan("");
  return x > 0 ? (bits_of(x) == 0x7ff0000000000000ULL ? kInfinity : result) : below;
}

/// log(1 + x), within 4 units of the last place, also near 0: the factor repairs the rounding of 1 + x
/// (Kahan). x is finite.
CORUN_HOST_DEVICE_INLINE double log1p(double x) {
  const double above = 1.0 + x;
  return above == 1.0 ? x : log(above) * (x / (above - 1.0));
}

/// e^x - 1, within 4 units of the last place, also near 0, by the inverse of that repair.
CORUN_HOST_DEVICE_INLINE double expm1(double x) {
  const double power = exp(x);
  const double plain = power - 1.0;
  const double repaired = power == 1.0 ? x : plain * (x / log(power));
  return x > -0.5 && x < 0.5 ? repaired : plain;
}

}  // namespace math

}  // namespace corun::inline sim
