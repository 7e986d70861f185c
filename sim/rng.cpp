#include "sim/rng.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "sim/base/math.hpp"
#include "sim/base/vector_clones.hpp"

namespace corun::inline sim {

namespace {

constexpr int kPhiloxRounds = 10;
constexpr std::uint64_t kPhiloxMultiplier0 = 0xD2511F53U;
constexpr std::uint64_t kPhiloxMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9U;
constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85U;

/// Uniform in [0, 1), 53 bits, from 64 bits.
double uniform_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
#pragma GCC unroll 10
  for (int round = 0; round < kPhiloxRounds; ++round) {
    if (round > 0) {
      key[0] += kPhiloxWeyl0;
      key[1] += kPhiloxWeyl1;
    }
    const std::uint64_t p0 = kPhiloxMultiplier0 * counter[0];
    const std::uint64_t p1 = kPhiloxMultiplier1 * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
  }
  return counter;
}

std::uint64_t hash_entity(std::span<const std::uint32_t> values) {
  // FNV-1a over the words, then a finaliser so that similar sets get unrelated digests.
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const std::uint32_t v : values) h = (h ^ v) * 0x100000001b3ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

Rng::Rng(std::uint64_t seed, Stream stream, std::uint64_t entity)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(entity),
               static_cast<std::uint32_t>(entity >> 32)} {}

std::uint32_t Rng::next() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double Rng::uniform() {
  const std::uint64_t high = next();
  const std::uint64_t low = next();
  return uniform_of((high << 32) | low);
}

std::uint32_t Rng::below(std::uint32_t n) {
  // Lemire's multiply-and-reject: unbiased, nearly always one draw.
  std::uint64_t product = static_cast<std::uint64_t>(next()) * n;
  if (static_cast<std::uint32_t>(product) < n) {
    const std::uint32_t threshold = -n % n;
    while (static_cast<std::uint32_t>(product) < threshold) {
      product = static_cast<std::uint64_t>(next()) * n;
    }
  }
  return static_cast<std::uint32_t>(product >> 32);
}

namespace {

template <std::size_t N>
double polynomial(const std::array<double, N>& c, double x) {
  double y = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) y = y * x + c[i];
  return y;
}

// The standard normal by its distribution function p: Wichura (1988), Algorithm AS 241, routine
// PPND16, relative error about 1e-16. q = p - 0.5.

constexpr double kCentral = 0.425;  ///< |q| up to which normal_near() holds

constexpr std::array kNearAbove = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                   1.9715909503065514427e3, 1.3731693765509461125e4,
                                   4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array kNearBelow = {1.0,
                                   4.2313330701600911252e1,
                                   6.8718700749205790830e2,
                                   5.3941960214247511077e3,
                                   2.1213794301586595867e4,
                                   3.9307895800092710610e4,
                                   2.8729085735721942674e4,
                                   5.2264952788528545610e3};

double normal_near(double q) {
  const double r = 0.180625 - q * q;
  return q * polynomial(kNearAbove, r) / polynomial(kNearBelow, r);
}

constexpr double kTailBegins = 1.6;
constexpr double kTailEnds =
    5;  ///< sqrt(-log(probability)) up to which kTailAbove and kTailBelow hold

constexpr std::array kTailAbove = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array kTailBelow = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};

double normal_far(double p, double q) {
  double r = std::sqrt(-math::log(std::min(p, 1 - p)));
  double value;
  if (r <= kTailEnds) {
    r -= kTailBegins;
    value = polynomial(kTailAbove, r) / polynomial(kTailBelow, r);
  } else {
    r -= kTailEnds;
    value = polynomial<8>(
                {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                 2.71155556874348757815e-5, 2.01033439929228813265e-7},
                r) /
            polynomial<8>(
                {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                 1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                 1.42151175831644588870e-7, 2.04426310338993978564e-15},
                r);
  }
  return std::copysign(value, q);
}

/// A uniform number, never 0 or 1.
double inside(double uniform) { return std::min(uniform + 0x1.0p-54, 1 - 0x1.0p-53); }

}  // namespace

double Rng::normal() {
  const double p = inside(uniform());
  const double q = p - 0.5;
  return std::fabs(q) <= kCentral ? normal_near(q) : normal_far(p, q);
}

namespace {

/// Normals that are made at a time, and the most of which the far ones are made together.
constexpr std::size_t kTogether = 8;
constexpr std::size_t kMostTogether = 64;
/// Uniforms that are made at a time: a round waits for the one before, so two vectors of blocks take little longer than one.
constexpr std::size_t kUniforms = 32;

/// uniform_of() of the bits `high`, `low`; each step is exact.
[[gnu::always_inline]] inline double uniform_of_words(std::uint32_t high, std::uint32_t low) {
  return (static_cast<double>(high) * 0x1.0p21 + static_cast<double>(low >> 11)) * 0x1.0p-53;
}

/// 2 kBlocks uniforms: two of each of the blocks that begin at `counter`.
template <std::size_t kBlocks>
[[gnu::always_inline]] inline void uniforms_from(const std::array<std::uint32_t, 4>& counter,
                                                 std::array<std::uint32_t, 2> key, double* out) {
  std::array<std::uint32_t, kBlocks> a, b, c, d;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    a[i] = counter[0] + static_cast<std::uint32_t>(i);
    b[i] = counter[1];
    c[i] = counter[2];
    d[i] = counter[3];
  }
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      const std::uint64_t p0 = kPhiloxMultiplier0 * a[i];
      const std::uint64_t p1 = kPhiloxMultiplier1 * c[i];
      a[i] = static_cast<std::uint32_t>(p1 >> 32) ^ b[i] ^ key[0];
      b[i] = static_cast<std::uint32_t>(p1);
      c[i] = static_cast<std::uint32_t>(p0 >> 32) ^ d[i] ^ key[1];
      d[i] = static_cast<std::uint32_t>(p0);
    }
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  for (std::size_t i = 0; i < kBlocks; ++i) {
    out[2 * i] = uniform_of_words(a[i], b[i]);
    out[2 * i + 1] = uniform_of_words(c[i], d[i]);
  }
}

/// The `count` uniforms, at most kUniforms, of the blocks that begin at `counter`. `out` has room for kUniforms.
CORUN_VECTOR_CLONES void uniforms_of(const std::array<std::uint32_t, 4>& counter,
                                     const std::array<std::uint32_t, 2>& key, std::size_t count,
                                     double* out) {
  if (count > kUniforms / 2) {
    uniforms_from<kUniforms / 2>(counter, key, out);
  } else {
    uniforms_from<kUniforms / 4>(counter, key, out);
  }
}

/// polynomial() of each x.
template <std::size_t N>
[[gnu::always_inline]] inline void polynomials(const std::array<double, N>& c,
                                               const std::array<double, kTogether>& x,
                                               std::array<double, kTogether>& y) {
  for (std::size_t i = 0; i < kTogether; ++i) y[i] = c.back();
  for (std::size_t k = N - 1; k-- > 0;) {
    for (std::size_t i = 0; i < kTogether; ++i) y[i] = y[i] * x[i] + c[k];
  }
}

/// normal_near() of kTogether p.
[[gnu::always_inline]] inline void normals_near(const double* p, double* out) {
  std::array<double, kTogether> q, r, above, below;
  for (std::size_t i = 0; i < kTogether; ++i) q[i] = p[i] - 0.5;
  for (std::size_t i = 0; i < kTogether; ++i) r[i] = 0.180625 - q[i] * q[i];
  polynomials(kNearAbove, r, above);
  polynomials(kNearBelow, r, below);
  for (std::size_t i = 0; i < kTogether; ++i) out[i] = q[i] * above[i] / below[i];
}

/// normal_far() of kTogether p.
[[gnu::always_inline]] inline void normals_far(const std::array<double, kTogether>& p,
                                               std::array<double, kTogether>& out) {
  std::array<double, kTogether> logs, r, above, below;
  for (std::size_t i = 0; i < kTogether; ++i) logs[i] = -math::log(math::min(p[i], 1 - p[i]));
  for (std::size_t i = 0; i < kTogether; ++i) logs[i] = std::sqrt(logs[i]);
  for (std::size_t i = 0; i < kTogether; ++i) r[i] = logs[i] - kTailBegins;
  polynomials(kTailAbove, r, above);
  polynomials(kTailBelow, r, below);
  for (std::size_t i = 0; i < kTogether; ++i) {
    out[i] = std::copysign(above[i] / below[i], p[i] - 0.5);
  }
  for (std::size_t i = 0; i < kTogether; ++i) {
    if (logs[i] > kTailEnds) out[i] = normal_far(p[i], p[i] - 0.5);
  }
}

/// Normals of `count` uniforms `p`, at most kMostTogether, none 0 or 1. `p` and `out` have room for kMostTogether, and what
/// follows in `out` is overwritten. All at first by the formula for the centre, which most of them need.
CORUN_VECTOR_CLONES void normals_of(const double* p, std::size_t count, double* out) {
  for (std::size_t i = 0; i < count; i += kTogether) normals_near(p + i, out + i);
  std::array<std::uint8_t, kMostTogether + 1> far;
  std::size_t others = 0;
  for (std::size_t i = 0; i < count; ++i) {
    far[others] = static_cast<std::uint8_t>(i);
    others += std::fabs(p[i] - 0.5) > kCentral ? 1 : 0;
  }
  for (std::size_t begin = 0; begin < others; begin += kTogether) {
    const std::size_t end = std::min(others, begin + kTogether);
    std::array<double, kTogether> of, z;
    of.fill(0.01);
    for (std::size_t i = begin; i < end; ++i) of[i - begin] = p[far[i]];
    normals_far(of, z);
    for (std::size_t i = begin; i < end; ++i) out[far[i]] = z[i - begin];
  }
}

}  // namespace

void Rng::uniforms(std::span<double> out) {
  if (used_ == 2 && !out.empty()) {  // half a block is left
    out.front() = uniform();
    out = out.subspan(1);
  }
  std::array<double, kUniforms> made;
  while (out.size() >= 2 && used_ == 4) {
    const std::size_t count = std::min(kUniforms, out.size() / 2 * 2);
    uniforms_of(counter_, key_, count, made.data());
    counter_[0] += static_cast<std::uint32_t>(count / 2);
    std::copy_n(made.begin(), count, out.begin());
    out = out.subspan(count);
  }
  for (double& u : out) u = uniform();
}

void Rng::normals(std::span<double> out) {
  std::array<double, kMostTogether> p, z;
  while (!out.empty()) {
    const std::size_t count = std::min(kMostTogether, out.size());
    p.fill(0.5);
    uniforms({p.data(), count});
    for (std::size_t i = 0; i < count; ++i) p[i] = inside(p[i]);
    normals_of(p.data(), count, z.data());
    std::copy_n(z.begin(), count, out.begin());
    out = out.subspan(count);
  }
}

/// The next draws are the last `count` uniforms again. Only where whole uniforms were drawn.
void Rng::take_back(std::size_t count) {
  const std::size_t unread = count + (4 - used_) / 2;
  counter_[0] -= static_cast<std::uint32_t>((unread + 1) / 2);
  used_ = 4;
  if (unread % 2 == 1) uniform();
}

double Rng::exponential(double mean) { return -mean * math::log1p(-uniform()); }

namespace {

/// Gamma with a shape of at least 1 from a normal and a uniform number: Marsaglia and Tsang 2000.
struct GammaTrial {
  explicit GammaTrial(double shape) : d(shape - 1.0 / 3), c(1 / std::sqrt(9 * d)) {}

  double root(double normal) const { return 1 + c * normal; }
  /// For root > 0: its cube if the trial succeeds; the draw is d times it.
  std::optional<double> cube(double root, double normal, double uniform) const {
    const double v = root * root * root;
    const double u = 1 - uniform;
    const double square = normal * normal;
    // Implies the exact condition below, which takes two logarithms.
    if (u < 1 - 0.0331 * square * square) return v;
    if (math::log(u) < 0.5 * normal * normal + d - d * v + d * math::log(v)) return v;
    return std::nullopt;
  }

  double d, c;
};

}  // namespace

double Rng::gamma(double shape) {
  // For shape < 1: Gamma(shape) = Gamma(shape + 1) U^(1 / shape).
  if (shape < 1) {
    const double above = gamma(shape + 1);  // drawn first, with every compiler
    return above * math::exp(math::log(1 - uniform()) / shape);
  }
  const GammaTrial trial(shape);
  for (;;) {
    const double x = normal();
    const double root = trial.root(x);
    if (root <= 0) continue;
    if (const auto v = trial.cube(root, x, uniform())) return trial.d * *v;
  }
}

void Rng::gammas(double shape, std::span<double> out) {
  if (shape < 1 || used_ % 2 == 1) {
    for (double& x : out) x = gamma(shape);
    return;
  }
  constexpr std::size_t kTrials = kMostTogether / 2;
  const GammaTrial trial(shape);
  std::array<double, 2 * kTrials> drawn;  // for each trial a normal's uniform, then another one
  std::array<double, kMostTogether> p, x;
  while (!out.empty()) {
    const std::size_t trials = std::min(kTrials, out.size());
    uniforms({drawn.data(), 2 * trials});
    p.fill(0.5);
    for (std::size_t i = 0; i < trials; ++i) p[i] = inside(drawn[2 * i]);
    normals_of(p.data(), trials, x.data());
    std::size_t made = 0;
    for (std::size_t i = 0; i < trials; ++i) {
      const double root = trial.root(x[i]);
      if (root <= 0) {  // the trial ends with its normal
        take_back(2 * (trials - i) - 1);
        break;
      }
      if (const auto v = trial.cube(root, x[i], drawn[2 * i + 1])) out[made++] = trial.d * *v;
    }
    out = out.subspan(made);
  }
}

}  // namespace corun::inline sim
