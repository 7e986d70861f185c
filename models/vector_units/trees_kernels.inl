// Boosted trees (trees_formula.hpp) on a vector unit. Part of kernels.inl, whose rules hold here.

namespace corun::inline models::CORUN_SET {

namespace {

/// Pairs that walk down the trees at a time. `values` has two rows of kWalkers numbers for each feature,
/// which differ for NaN: below all thresholds in the first, above all in the second. A node's test is the row
/// to read.
constexpr std::size_t kWalkers = 16;

void walked_sums(const trees::Ensemble& ensemble, const trees::Jobs& jobs, const PairList& pairs,
                 float* scratch, double* out) {
  constexpr float kInfinity = __builtin_huge_valf();
  const std::size_t inner = ensemble.inner();
  float* const values = scratch;
  for (std::size_t from = 0; from < pairs.count; from += kWalkers) {
    const std::size_t some = pairs.count - from < kWalkers ? pairs.count - from : kWalkers;
    for (std::size_t r = 0; r < kWalkers; ++r) {
      const std::size_t i = pairs.of[from + (r < some ? r : 0)];
      const std::size_t j = pairs.beside[from + (r < some ? r : 0)];
      trees::pair_row(
          jobs.shape, jobs.features(i), jobs.features(j), jobs.effects(i), jobs.effects(j),
          [ values, r ](std::size_t column, float x) __attribute__((always_inline)) {
            values[2 * column * kWalkers + r] = x == x ? x : -kInfinity;
            values[(2 * column + 1) * kWalkers + r] = x == x ? x : kInfinity;
          });
    }
    double sum[kWalkers] = {};
    for (std::size_t t = 0; t < ensemble.trees; ++t) {
      const std::int32_t* const test = ensemble.test + t * inner;
      const float* const threshold = ensemble.threshold + t * inner;
      const float* const leaf = ensemble.leaf + t * (inner + 1);
      std::uint32_t node[kWalkers] = {};
      for (std::uint32_t level = 0; level < ensemble.depth; ++level) {
        for (std::size_t r = 0; r < kWalkers; ++r) {
          const std::uint32_t n = node[r];
          const float x = values[static_cast<std::uint32_t>(test[n]) * kWalkers + r];
          node[r] = 2 * n + 1 + (x >= threshold[n] ? 1U : 0U);
        }
      }
      for (std::size_t r = 0; r < kWalkers; ++r) {
        sum[r] += static_cast<double>(leaf[node[r] - inner]);
      }
    }
    for (std::size_t r = 0; r < some; ++r) out[from + r] = sum[r];
  }
}

#if !defined(CORUN_ONE_AT_A_TIME)

/// A register of ranks.
#if defined(__AVX512BW__)
using Ranks = std::int16_t __attribute__((vector_size(64), may_alias));
#elif defined(__AVX2__)
using Ranks = std::int16_t __attribute__((vector_size(32), may_alias));
#else
using Ranks = std::int16_t __attribute__((vector_size(16), may_alias));
#endif
constexpr std::size_t kInRegister = sizeof(Ranks) / sizeof(std::int16_t);
/// Registers at a time, which share the loads of a node.
constexpr std::size_t kAbreast = kInRegister < 32 ? 2 : 1;
constexpr std::size_t kRanked = trees::Kernels::kRanked;

/// Computes `ranks`, lines x kRanked pairs, by binary search in the thresholds of each line. `values`:
/// features x kRanked.
void rank(const trees::Ranked& trees, const float* values, std::int16_t* ranks) {
  constexpr float kInfinity = __builtin_huge_valf();
  constexpr std::size_t kTogether = 8;  // searches that hide each other's latency
  for (std::size_t l = 0; l < trees.lines; ++l) {
    const float* const threshold = trees.threshold + trees.first[l];
    const std::uint32_t size = trees.first[l + 1] - trees.first[l];
    const float beyond = (trees.test[l] & 1) != 0 ? kInfinity : -kInfinity;
    const float* const tested = values + static_cast<std::uint32_t>(trees.test[l]) / 2 * kRanked;
    for (std::size_t r = 0; r < kRanked; r += kTogether) {
      float x[kTogether];
      std::uint32_t below[kTogether] = {};
      for (std::size_t n = 0; n < kTogether; ++n)
        x[n] = tested[r + n] == tested[r + n] ? tested[r + n] : beyond;
      for (std::uint32_t half = size / 2 + 1; half > 0; half /= 2) {
        for (std::size_t n = 0; n < kTogether; ++n) {
          below[n] += threshold[below[n] + half - 1] <= x[n] ? half : 0;
        }
      }
      for (std::size_t n = 0; n < kTogether; ++n) {
        ranks[l * kRanked + r + n] = static_cast<std::int16_t>(below[n]);
      }
    }
  }
}

/// Computes -1 times the number that has one bit for each level from node N down, set where the pair goes
/// left.
template <unsigned N, int kBit>
CORUN_INLINE void less_lefts(const std::uint16_t* line, const std::int16_t* rank,
                             const std::int16_t* ranks, Ranks (&out)[kAbreast]) {
  const Ranks limit = Ranks{} + rank[N];
  const auto* const tested = reinterpret_cast<const Ranks*>(ranks + line[N] * kRanked);
  if constexpr (kBit == 1) {
    for (std::size_t n = 0; n < kAbreast; ++n) out[n] = limit > tested[n];
  } else {
    Ranks left[kAbreast], right[kAbreast];
    less_lefts<2 * N + 1, kBit / 2>(line, rank, ranks, left);
    less_lefts<2 * N + 2, kBit / 2>(line, rank, ranks, right);
    for (std::size_t n = 0; n < kAbreast; ++n) {
      out[n] = limit > tested[n] ? left[n] - static_cast<std::int16_t>(kBit) : right[n];
    }
  }
}

/// Adds to `sums` the leaves that these pairs reach.
CORUN_INLINE void add_leaves(const float* leaf, Ranks less_lefts, double* sums) {
#if defined(__AVX512BW__)
  const __m512 low = _mm512_loadu_ps(leaf);
  const __m512 high = _mm512_loadu_ps(leaf + 16);
  const Ranks index = less_lefts - static_cast<std::int16_t>(1);  // of 32, by its last five bits
  const auto add = [sums](auto reached, std::size_t from) __attribute__((always_inline)) {
    const Pack sum(__builtin_convertvector(reached, __m512d));
    Pack before;
    before.load(sums + from);
    (before + sum).store(sums + from);
  };
  const auto half = [&](auto half_index, std::size_t from) __attribute__((always_inline)) {
    using Ints = std::int32_t __attribute__((vector_size(64)));
    const auto at = reinterpret_cast<__m512i>(__builtin_convertvector(half_index, Ints));
    const __m512 reached = _mm512_permutex2var_ps(low, at, high);
    add(__builtin_shufflevector(reached, reached, 0, 1, 2, 3, 4, 5, 6, 7), from);
    add(__builtin_shufflevector(reached, reached, 8, 9, 10, 11, 12, 13, 14, 15), from + 8);
  };
  half(__builtin_shufflevector(index, index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
       0);
  half(__builtin_shufflevector(index, index, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
                               30, 31),
       16);
#elif defined(__AVX2__)
  const auto index = reinterpret_cast<__m256i>(less_lefts - static_cast<std::int16_t>(1));
  for (std::size_t half = 0; half < 2; ++half) {
    const __m256i at = _mm256_cvtepi16_epi32(half == 0 ? _mm256_castsi256_si128(index)
                                                       : _mm256_extracti128_si256(index, 1));
    // A table lookup selects one of eight leaves; the two higher bits, moved to the sign bit, select one of
    // the four tables.
    const __m256 bit_3 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    const __m256 bit_4 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
    const auto of = [ leaf, at ](std::size_t table) __attribute__((always_inline)) {
      return _mm256_permutevar8x32_ps(_mm256_loadu_ps(leaf + 8 * table), at);
    };
    const __m256 reached = _mm256_blendv_ps(_mm256_blendv_ps(of(0), of(1), bit_3),
                                            _mm256_blendv_ps(of(2), of(3), bit_3), bit_4);
    double* const sum = sums + 8 * half;
    _mm256_storeu_pd(
        sum, _mm256_add_pd(_mm256_loadu_pd(sum), _mm256_cvtps_pd(_mm256_castps256_ps128(reached))));
    _mm256_storeu_pd(sum + 4, _mm256_add_pd(_mm256_loadu_pd(sum + 4),
                                            _mm256_cvtps_pd(_mm256_extractf128_ps(reached, 1))));
  }
#else
  for (std::size_t n = 0; n < kInRegister; ++n) {
    sums[n] += static_cast<double>(leaf[static_cast<int>(trees::Ranked::kInner) + less_lefts[n]]);
  }
#endif
}

void ranked_sums(const trees::Ranked& trees, const trees::Jobs& jobs, const PairList& pairs,
                 float* scratch, double* out) {
  using trees::Ranked;
  float* next = scratch;
  while (reinterpret_cast<std::uintptr_t>(next) % sizeof(Ranks) != 0) ++next;
  auto* const ranks = reinterpret_cast<std::int16_t*>(next);
  float* const values = next + kRanked * trees.columns;
  alignas(64) double sums[kRanked];
  for (std::size_t from = 0; from < pairs.count; from += kRanked) {
    const std::size_t some = pairs.count - from < kRanked ? pairs.count - from : kRanked;
    for (std::size_t r = 0; r < kRanked; ++r) {
      const std::size_t i = pairs.of[from + (r < some ? r : 0)];
      const std::size_t j = pairs.beside[from + (r < some ? r : 0)];
      trees::pair_row(
          jobs.shape, jobs.features(i), jobs.features(j), jobs.effects(i), jobs.effects(j),
          [ values, r ](std::size_t column, float x)
              __attribute__((always_inline)) { values[column * kRanked + r] = x; });
    }
    rank(trees, values, ranks);
    for (std::size_t r = 0; r < kRanked; ++r) sums[r] = 0;
    for (std::size_t t = 0; t < trees.trees; ++t) {
      const std::uint16_t* const line = trees.line + t * Ranked::kInner;
      const std::int16_t* const rank = trees.rank + t * Ranked::kInner;
      const float* const leaf = trees.leaf + t * Ranked::kLeaves;
      for (std::size_t r = 0; r < some; r += kAbreast * kInRegister) {
        Ranks less[kAbreast];
        less_lefts<0, 1 << (Ranked::kDepth - 1)>(line, rank, ranks + r, less);
        for (std::size_t n = 0; n < kAbreast; ++n) {
          add_leaves(leaf, less[n], sums + r + n * kInRegister);
        }
      }
    }
    for (std::size_t r = 0; r < some; ++r) out[from + r] = sums[r];
  }
}

#endif

void trees_sums(const trees::Ensemble& ensemble, [[maybe_unused]] const trees::Ranked& ranked,
                const trees::Jobs& jobs, const PairList& pairs, float* scratch, double* out) {
#if !defined(CORUN_ONE_AT_A_TIME)
  if (ranked.trees > 0) return ranked_sums(ranked, jobs, pairs, scratch, out);
#endif
  walked_sums(ensemble, jobs, pairs, scratch, out);
}

constexpr trees::Kernels of_formula(const TreesBatch*) { return {trees_sums}; }

}  // namespace

}  // namespace corun::inline models::CORUN_SET
