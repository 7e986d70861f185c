// The Gaussian process (gp_formula.hpp) on a vector unit. Part of kernels.inl, whose rules hold here.

namespace corun::inline models::CORUN_SET {

namespace {

/// A register of doubles.
struct Pack {
#if defined(__AVX512F__)
  static constexpr std::size_t kSize = 8;
  __m512d x;
  CORUN_INLINE explicit Pack(double all) : x(_mm512_set1_pd(all)) {}
  CORUN_INLINE explicit Pack(__m512d packed) : x(packed) {}
  CORUN_INLINE void load(const double* from) { x = _mm512_loadu_pd(from); }
  CORUN_INLINE void store(double* to) const { _mm512_storeu_pd(to, x); }
  friend CORUN_INLINE Pack fma(Pack a, Pack b, Pack c) {
    return Pack(_mm512_fmadd_pd(a.x, b.x, c.x));
  }
  friend CORUN_INLINE Pack operator+(Pack a, Pack b) { return Pack(_mm512_add_pd(a.x, b.x)); }
#elif defined(__AVX2__)
  static constexpr std::size_t kSize = 4;
  __m256d x;
  CORUN_INLINE explicit Pack(double all) : x(_mm256_set1_pd(all)) {}
  CORUN_INLINE explicit Pack(__m256d packed) : x(packed) {}
  CORUN_INLINE void load(const double* from) { x = _mm256_loadu_pd(from); }
  CORUN_INLINE void store(double* to) const { _mm256_storeu_pd(to, x); }
  friend CORUN_INLINE Pack fma(Pack a, Pack b, Pack c) {
    return Pack(_mm256_fmadd_pd(a.x, b.x, c.x));
  }
  friend CORUN_INLINE Pack operator+(Pack a, Pack b) { return Pack(_mm256_add_pd(a.x, b.x)); }
#else
  static constexpr std::size_t kSize = 1;
  double x;
  CORUN_INLINE explicit Pack(double all) : x(all) {}
  CORUN_INLINE void load(const double* from) { x = *from; }
  CORUN_INLINE void store(double* to) const { *to = x; }
  friend CORUN_INLINE Pack fma(Pack a, Pack b, Pack c) { return Pack(math::fma(a.x, b.x, c.x)); }
  friend CORUN_INLINE Pack operator+(Pack a, Pack b) { return Pack(a.x + b.x); }
#endif
  Pack() = default;
};
CORUN_INLINE void load_number(const double* from, Pack& to) { to.load(from); }

/// kRows rows of the form times kPacks packs of co-runners are independent chains of fma, which hide each
/// other's latency.
#if defined(__AVX512F__)
constexpr std::size_t kRows = 4, kPacks = 4;
#else
constexpr std::size_t kRows = 4, kPacks = 2;
#endif
constexpr std::size_t kTile = kPacks * Pack::kSize;  ///< co-runners at a time

void gp_describe(const gp::Problem& problem, std::size_t from, std::size_t to) {
  constexpr std::size_t kPadding = gp::Kernels::kPadding;
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  const std::size_t end = (to + kPadding - 1) / kPadding;
  for (std::size_t tile = from / kPadding; tile < end; ++tile) {
    const std::size_t first = tile * kPadding;
    for (std::size_t p = 0; p < model.co_runners; ++p) {
      for (std::size_t l = 0; l < kPadding; ++l) {
        gp::describe_co_runner(model, jobs, first + l, p);
      }
    }
    for (std::size_t o = 0; o < model.owns; ++o) {
      for (std::size_t l = 0; l < kPadding; ++l) {
        gp::describe_own(model, jobs, first + l, o);
      }
    }
  }
}

/// Writes one number of the pack into the state of each slowed job. `size`: of a state.
CORUN_INLINE void scatter(Pack pack, double* states, std::size_t size, std::size_t jobs) {
  double numbers[Pack::kSize];
  pack.store(numbers);
  for (std::size_t l = 0; l < Pack::kSize; ++l) {
    if (l < jobs) states[l * size] = numbers[l];
  }
}

/// The sums of one sweep over the rows of the precision, for a pack of slowed jobs. The results are those of
/// form_entry() and line_entry(), by the same chains of fma.
struct Sweep {
  Pack *smooth, *alone, *identity;  ///< owns each
  Pack* precision_alone;            ///< rows: precision_alone_row()
  Pack* later;                      ///< co-runners: against_later()
  Pack* row;                        ///< co-runners: entries of one row of the form
  // The identity rows (gp::Layout) of up to kLines known co-runners.
  const std::int32_t* known_of;  ///< co-runners: number among these, or kNew
  Pack* identity_form;           ///< kLines x co-runners: coefficients of v
  Pack *identity_later, *identity_smooth, *identity_square;  ///< kLines each: their other terms
};

/// Adds rows a .. a + Rows - 1, all of co-runner c.
template <bool kWithKnown, std::size_t Rows>
CORUN_INLINE void sweep_rows(const gp::Model& model, std::size_t a, std::size_t c,
                             const Sweep& sum) {
  const double* precision[Rows];
  std::uint32_t slowed[Rows];
  Pack precision_alone[Rows];
  CORUN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    precision[r] = model.precision + gp::Model::row_start(a + r);
    slowed[r] = model.own_of[a + r];
    precision_alone[r] = Pack(0.0);
  }
  const std::int32_t known_c = kWithKnown ? sum.known_of[c] : gp::kNew;
  for (std::size_t b = 0; b <= c; ++b) {
    Pack inner[Rows];
    Pack known[Rows];
    CORUN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) inner[r] = known[r] = Pack(0.0);
    const std::int32_t known_b = kWithKnown ? sum.known_of[b] : gp::kNew;
    const std::size_t to = b < c ? model.first[b + 1] : a + 1;
    for (std::size_t a2 = model.first[b]; a2 < to; ++a2) {
      const std::uint32_t o = model.own_of[a2];
      CORUN_UNROLL
      for (std::size_t r = 0; r < Rows; ++r) {
        const Pack p(precision[r][a2]);
        inner[r] = fma(p, sum.smooth[o], inner[r]);
        precision_alone[r] = fma(p, sum.alone[o], precision_alone[r]);
        if (kWithKnown) known[r] = fma(p, sum.identity[o], known[r]);
      }
    }
    if (b == c) {
      CORUN_UNROLL
      for (std::size_t r = 1; r < Rows; ++r) {
        CORUN_UNROLL
        for (std::size_t r2 = 1; r2 <= r; ++r2) {
          const Pack p(precision[r][a + r2]);
          inner[r] = fma(p, sum.smooth[slowed[r2]], inner[r]);
          precision_alone[r] = fma(p, sum.alone[slowed[r2]], precision_alone[r]);
          if (kWithKnown) known[r] = fma(p, sum.identity[slowed[r2]], known[r]);
        }
      }
    }
    CORUN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      sum.row[b] = fma(sum.smooth[slowed[r]], inner[r], sum.row[b]);
      sum.later[b] = fma(sum.alone[slowed[r]], inner[r], sum.later[b]);
      if (known_c != gp::kNew) {
        Pack& entry = sum.identity_form[static_cast<std::size_t>(known_c) * model.co_runners + b];
        entry = fma(sum.identity[slowed[r]], inner[r], entry);
      }
      if (known_b == gp::kNew) continue;
      const auto k = static_cast<std::size_t>(known_b);
      sum.identity_later[k] = fma(sum.alone[slowed[r]], known[r], sum.identity_later[k]);
      Pack& entry = b == c ? sum.identity_smooth[k] : sum.identity_form[k * model.co_runners + c];
      entry = fma(sum.smooth[slowed[r]], known[r], entry);
      if (b == c)
        sum.identity_square[k] = fma(sum.identity[slowed[r]], known[r], sum.identity_square[k]);
    }
  }
  CORUN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) sum.precision_alone[a + r] = precision_alone[r];
}

/// Adds all rows, co-runner by co-runner. done(c) is called when row c of the form is complete.
template <bool kWithKnown, class Done>
void sweep(const gp::Model& model, const Sweep& sum, std::size_t known_count, const Done& done) {
  constexpr std::size_t kGroup = kWithKnown ? 2 : 4;
  for (std::size_t b = 0; b < model.co_runners; ++b) sum.later[b] = Pack(0.0);
  for (std::size_t k = 0; k < known_count; ++k) {
    sum.identity_later[k] = sum.identity_smooth[k] = sum.identity_square[k] = Pack(0.0);
    for (std::size_t b = 0; b < model.co_runners; ++b)
      sum.identity_form[k * model.co_runners + b] = Pack(0.0);
  }
  for (std::size_t c = 0; c < model.co_runners; ++c) {
    for (std::size_t b = 0; b <= c; ++b) sum.row[b] = Pack(0.0);
    std::size_t a = model.first[c];
    for (; a + kGroup <= model.first[c + 1]; a += kGroup) {
      sweep_rows<kWithKnown, kGroup>(model, a, c, sum);
    }
    for (; a < model.first[c + 1]; ++a) sweep_rows<kWithKnown, 1>(model, a, c, sum);
    done(c);
  }
}

void gp_prepare(const gp::Problem& problem, const gp::SlowedJobs& wanted, double* states,
                double* scratch) {
  constexpr std::size_t kLines = gp::Kernels::kLines;
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  const gp::Layout& layout = problem.layout;
  const std::uint32_t* const known = wanted.known;
  const std::size_t count = wanted.count;
  const std::size_t size = layout.size();
  for (std::size_t i = 0; i < count * size; ++i) states[i] = 0;
  double* next = scratch;
  while (reinterpret_cast<std::uintptr_t>(next) % sizeof(Pack) != 0) ++next;
  const auto take = [&next](std::size_t numbers) {
    double* const taken = next;
    next += numbers * Pack::kSize;
    return reinterpret_cast<Pack*>(taken);
  };
  Sweep sum;
  sum.smooth = take(model.owns);
  sum.alone = take(model.owns);
  sum.identity = take(model.owns);
  sum.precision_alone = take(model.rows);
  sum.later = take(model.co_runners);
  sum.row = take(model.co_runners);
  const std::size_t known_count = layout.known < kLines ? layout.known : kLines;
  sum.identity_form = take(known_count * model.co_runners);
  sum.identity_later = take(kLines);
  sum.identity_smooth = take(kLines);
  sum.identity_square = take(kLines);
  auto* const known_of = reinterpret_cast<std::int32_t*>(next);
  sum.known_of = known_of;

  const std::size_t constant = model.co_runners;
  for (std::size_t i = 0; i < count; i += Pack::kSize) {
    const std::size_t some = count - i < Pack::kSize ? count - i : Pack::kSize;
    double* const state = states + i * size;
    for (std::size_t o = 0; o < model.owns; ++o) {
      const std::size_t at = o * jobs.stride + wanted.first + i;
      sum.smooth[o].load(jobs.smooth + at);
      sum.alone[o].load(jobs.alone + at);
      sum.identity[o].load(jobs.identity + at);
    }
    const auto numbers = [](const Pack* packs) { return reinterpret_cast<const double*>(packs); };
    const gp::Slowed slowed{numbers(sum.smooth),          numbers(sum.alone),
                            numbers(sum.identity),        Pack::kSize,
                            numbers(sum.precision_alone), Pack::kSize};
    const auto of_form = [&](std::size_t c) {
      for (std::size_t b = 0; b <= c; ++b) {
        scatter(sum.row[b], state + gp::Layout::entry(c, b), size, some);
      }
    };
    const auto nothing = [](std::size_t) {};
    if (layout.known == 0) sweep<false>(model, sum, 0, of_form);
    for (std::size_t from = 0; from < layout.known; from += kLines) {
      const std::size_t to = from + kLines < layout.known ? from + kLines : layout.known;
      for (std::size_t b = 0; b < model.co_runners; ++b) known_of[b] = gp::kNew;
      for (std::size_t k = from; k < to; ++k)
        known_of[known[k]] = static_cast<std::int32_t>(k - from);
      if (from == 0) {
        sweep<true>(model, sum, to - from, of_form);
      } else {
        sweep<true>(model, sum, to - from, nothing);
      }
      for (std::size_t k = from; k < to; ++k) {
        double* const identity_row = state + layout.line(k);
        const std::size_t n = k - from;
        Pack* const entries = sum.identity_form + n * model.co_runners;
        entries[known[k]] = entries[known[k]] + sum.identity_smooth[n];
        for (std::size_t b = 0; b < constant; ++b)
          scatter(entries[b], identity_row + b, size, some);
        scatter(gp::against_earlier<Pack>(model, known[k], slowed.identity, slowed) +
                    sum.identity_later[n],
                identity_row + constant, size, some);
        for (std::size_t b = constant + 1; b < layout.width; ++b) {
          scatter(gp::line_entry<Pack>(model, known[k], b, slowed), identity_row + b, size, some);
        }
        scatter(sum.identity_square[n], identity_row + layout.width, size, some);
        scatter(gp::line_entry<Pack>(model, known[k], layout.width + 1, slowed),
                identity_row + layout.width + 1, size, some);
      }
    }
    for (std::size_t b = 0; b < constant; ++b) {
      scatter(gp::against_earlier<Pack>(model, b, slowed.smooth, slowed) + sum.later[b],
              state + gp::Layout::entry(constant, b), size, some);
    }
    for (std::size_t c = constant; c <= constant + gp::kPressureCount; ++c) {
      for (std::size_t b = c == constant ? constant : 0; b <= c; ++b) {
        scatter(gp::form_entry<Pack>(model, c, b, slowed), state + gp::Layout::entry(c, b), size,
                some);
      }
    }
    for (std::size_t b = 0; b < layout.width; ++b) {
      scatter(gp::mean_entry<Pack>(model, b, slowed), state + layout.mean() + b, size, some);
    }
  }
}

/// v of up to kTile co-runners, and the loads from which the pressures in v follow for each slowed job.
struct Tile {
  double* v;  ///< width x kTile
  double u[kTile], t[kTile], m[kTile];
  std::int32_t line[kTile];
  std::size_t count;
};

/// Fills the tile with jobs who_is(0) .. who_is(count - 1); the first fills the rest of the tile.
template <class WhoIs>
CORUN_INLINE void fill(const gp::Problem& problem, const WhoIs& who_is, std::size_t count,
                       Tile& tile) {
  const gp::Model& model = problem.model;
  const gp::Jobs& jobs = problem.jobs;
  std::size_t who[kTile];
  tile.count = count;
  for (std::size_t l = 0; l < kTile; ++l) {
    who[l] = who_is(l < count ? l : 0);
    tile.u[l] = jobs.u[who[l]];
    tile.t[l] = jobs.t[who[l]];
    tile.m[l] = jobs.m[who[l]];
    tile.line[l] = jobs.line[who[l]];
  }
  for (std::size_t b = 0; b < model.co_runners; ++b) {
    const double* const from = jobs.co_runner + b * jobs.stride;
    for (std::size_t l = 0; l < kTile; ++l) tile.v[b * kTile + l] = from[who[l]];
  }
  for (std::size_t l = 0; l < kTile; ++l) tile.v[model.co_runners * kTile + l] = 1;
  for (std::size_t b = model.co_runners + 1; b < problem.layout.width; ++b) {
    for (std::size_t l = 0; l < kTile; ++l) tile.v[b * kTile + l] = 0;
  }
}

/// One slowed job beside a tile of co-runners.
CORUN_INLINE void beside(const gp::Problem& problem, const gp::Load& slowed, const double* state,
                         Tile& tile, double (&t)[kTile], double (&sd)[kTile]) {
  const gp::Model& model = problem.model;
  const gp::Layout& layout = problem.layout;
  double* const constant = tile.v + model.co_runners * kTile;
  for (std::size_t l = 0; l < kTile; ++l) {
    double pressures[gp::kPressureCount];
    gp::pressures_of(model, slowed, {tile.u[l], tile.t[l], tile.m[l]}, pressures);
    CORUN_UNROLL
    for (std::size_t p = 0; p < gp::kPressureCount; ++p)
      constant[(p + 1) * kTile + l] = pressures[p];
  }
  double mean[kTile];
  double explained[kTile];
  {
    Pack mean_packs[kPacks];
    Pack explained_packs[kPacks];
    for (std::size_t n = 0; n < kPacks; ++n) mean_packs[n] = explained_packs[n] = Pack(0.0);
    const double* const v = tile.v;
    const auto at = [v](std::size_t b, std::size_t n) __attribute__((always_inline)) {
      Pack out;
      out.load(v + b * kTile + n * Pack::kSize);
      return out;
    };
    for (std::size_t c = 0; c < layout.width; c += kRows) {
      gp::add_rows<kRows>(state, layout, c, at, mean_packs, explained_packs);
    }
    for (std::size_t n = 0; n < kPacks; ++n) {
      mean_packs[n].store(mean + n * Pack::kSize);
      explained_packs[n].store(explained + n * Pack::kSize);
    }
  }
  for (std::size_t l = 0; l < tile.count; ++l) {
    if (tile.line[l] == gp::kNew) continue;
    const double* const v = tile.v + l;
    gp::add_line(
        state + layout.line(static_cast<std::size_t>(tile.line[l])),
        layout.width, [v](std::size_t b) __attribute__((always_inline)) { return v[b * kTile]; },
        mean[l], explained[l]);
  }
  for (std::size_t l = 0; l < kTile; ++l) {
    double pressures[gp::kPressureCount];
    CORUN_UNROLL
    for (std::size_t p = 0; p < gp::kPressureCount; ++p)
      pressures[p] = constant[(p + 1) * kTile + l];
    const LogSlowdown log_slowdown = gp::log_slowdown(model, pressures, mean[l], explained[l]);
    t[l] = log_slowdown.t;
    sd[l] = log_slowdown.sd;
  }
}

void gp_log_slowdown(const gp::Problem& problem, std::size_t slowed, const double* state,
                     const gp::CoRunners& co_runners, double* scratch, LogSlowdown* out) {
  Tile tile;
  tile.v = scratch;
  double t[kTile];
  double sd[kTile];
  const std::size_t count = co_runners.count;
  for (std::size_t from = 0; from < count; from += kTile) {
    const std::size_t some = count - from < kTile ? count - from : kTile;
    const std::uint32_t* const here = co_runners.jobs + from;
    fill(
        problem, [here](std::size_t n) __attribute__((always_inline)) { return here[n]; }, some,
        tile);
    beside(problem, problem.jobs.load(slowed), state, tile, t, sd);
    for (std::size_t l = 0; l < some; ++l) out[from + l] = {t[l], sd[l]};
  }
}

void gp_speeds(const gp::Problem& problem, const PairTile& pairs, const double* states,
               double* scratch, const TileSpeeds& out) {
  Tile tile;
  tile.v = scratch;
  double t[kTile];
  double spread[kTile];
  double fast[kTile];
  const std::size_t size = problem.layout.size();
  for (std::size_t from = 0; from < pairs.columns(); from += kTile) {
    const std::size_t left = pairs.columns() - from;
    const std::size_t some = left < kTile ? left : kTile;
    const std::size_t first = pairs.j0 + from;
    fill(
        problem, [first](std::size_t n) __attribute__((always_inline)) { return first + n; }, some,
        tile);
    for (std::size_t i = 0; i < pairs.rows(); ++i) {
      beside(problem, problem.jobs.load(pairs.i0 + i), states + i * size, tile, t, spread);
      for (std::size_t l = 0; l < kTile; ++l) {
        fast[l] = speed_of_log_slowdown(t[l]);
        spread[l] = fast[l] * spread[l];
      }
      for (std::size_t l = 0; l < some; ++l) {
        const std::size_t at = i * out.row_stride + (from + l) * out.column_stride;
        out.speed[at] = fast[l];
        out.sd[at] = spread[l];
      }
    }
  }
}

constexpr gp::Kernels of_formula(const GpBatch*) {
  return {gp_describe, gp_prepare, gp_log_slowdown, gp_speeds};
}

}  // namespace

}  // namespace corun::inline models::CORUN_SET
