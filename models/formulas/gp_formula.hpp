#pragma once

#include <cstddef>
#include <cstdint>

#include "models/formulas/log_slowdown.hpp"
#include "sim/base/math.hpp"

/// The posterior of the Gaussian process over pairs (gp_model.hpp, which has the source), compiled for every
/// device.
///
/// The covariance of job i beside job j with row a of the data, which is job o beside job p, is
///
///   k_a = alone_o(i) + smooth_o(i) B_jp + identity_o(i) [j is p] + w2 phi_ij . phi_a
///
/// The posterior needs mean = k' weights and explained = k' P k, with P = inv(K). For one slowed job i these
/// are a linear and a quadratic form of
///
///   v = (B_jp of all jobs p that were a co-runner in a row, 1, phi_ij, zeros up to a multiple of 8)
///
/// and of one more entry, 1, if j is a known co-runner: a co-runner of a row. Both forms are computed once
/// per slowed job, O(rows^2), and serve all its co-runners; a pair then takes O(co-runners^2).
///
/// Rows are sorted by the column of their co-runner. Each sum is a chain of math::fma by ascending index from
/// 0. Vector units, threads and GPUs divide the work by jobs and by entries of a form, never within a sum, so
/// they give the same bits.

namespace corun::inline models::gp {

inline constexpr std::size_t kPressureCount = 5;
/// Rows of the quadratic form that are adjacent in memory.
inline constexpr std::size_t kPanel = 8;
/// Column of a job that has no row of the data in this role (slowed job or co-runner).
inline constexpr std::int32_t kNew = -1;

/// GPU utilisation, memory time and memory allocated of a job (gp_model.hpp), fractions in [0, 1].
struct Load {
  double u = 0, t = 0, m = 0;
};

/// A fitted model. Targets are standardised, so variances have no unit. The arrays lie in the memory of the
/// device that reads them.
struct Model {
  // Variances and ratios of the equation in gp_model.hpp: a1, a2, b1, b2; p, r1, r2, c, w2.
  double own = 0, own_identity = 0, co_runner = 0, co_runner_identity = 0;
  double product = 0, product_own = 0, product_co_runner = 0, constant = 0, pressures = 0;
  double prior = 0;  ///< prior variance of t without the term of the pressures
  double noise = 0;  ///< variance of a single co-run around its expectation
  double pressure_mean[kPressureCount] = {};
  double pressure_deviation[kPressureCount] = {};  ///< 0: the pressure is constant and left out
  double farthest = 0;  ///< bound of the modulus of a standardised pressure
  double target_mean = 0, target_deviation = 1;  ///< of t = -log(speed)
  double share[3] = {}, factor[3] = {};  ///< factor of the deviation by the share of variance left

  std::uint32_t rows = 0, owns = 0, co_runners = 0, features = 0;
  const double* own_places = nullptr;        ///< owns x features: x of the slowed jobs in the rows
  const double* co_runner_places = nullptr;  ///< co-runners x features: x of the co-runners
  const double* own_rates = nullptr;         ///< 1 / length of each feature, kernel A
  const double* co_runner_rates = nullptr;   ///< likewise, kernel B
  // Arrays over the rows, sorted by co-runner.
  const std::uint32_t* first = nullptr;   ///< co-runners + 1: where the rows of each begin
  const std::uint32_t* own_of = nullptr;  ///< by row: position of the slowed job among `owns`
  const double* weights = nullptr;        ///< by row: P y
  /// The lower triangle of P, row by row, with elements off the diagonal doubled: k'Pk is the sum over a and
  /// b <= a of k_a k_b times this.
  const double* precision = nullptr;
  const double* weighted_pressures = nullptr;    ///< kPressureCount x rows, row-major: 2 w2 P phi
  double pressure_weights[kPressureCount] = {};  ///< w2 phi' weights
  double pressure_form[kPressureCount][kPressureCount] =
      {};  ///< lower triangle of w2^2 phi' P phi, doubled off the diagonal

  /// Length of v, a multiple of kPanel.
  CORUN_HOST_DEVICE_INLINE std::size_t width() const {
    return (co_runners + 1 + kPressureCount + kPanel - 1) / kPanel * kPanel;
  }
  CORUN_HOST_DEVICE_INLINE static std::size_t row_start(std::size_t a) { return a * (a + 1) / 2; }
};

// ---- the state of a slowed job ------------------------------------------------------------------

/// Where the parts of a slowed job's state are:
///   1. the quadratic form, `width` x `width`, in panels of kPanel rows; each panel column by column, up to
///      the column of its last row. Elements above the diagonal are 0, below it doubled;
///   2. the linear form, `width` numbers;
///   3. an identity row of width + 2 numbers for each of `known` co-runners: what the entry 1 of a known
///      co-runner adds to the forms. `width` coefficients of v and a constant, for explained; a constant for
///      the mean.
struct Layout {
  std::size_t width = 0;
  std::size_t known = 0;

  CORUN_HOST_DEVICE_INLINE static std::size_t panel(std::size_t s) {
    return s * (s + 1) / 2 * kPanel * kPanel;
  }
  CORUN_HOST_DEVICE_INLINE static std::size_t entry(std::size_t c, std::size_t b) {
    return panel(c / kPanel) + b * kPanel + c % kPanel;
  }
  CORUN_HOST_DEVICE_INLINE std::size_t mean() const { return panel(width / kPanel); }
  /// Where the identity row of known co-runner k begins.
  CORUN_HOST_DEVICE_INLINE std::size_t line(std::size_t k) const {
    return mean() + width + k * (width + 2);
  }
  CORUN_HOST_DEVICE_INLINE std::size_t size() const { return line(known); }
};

/// Many jobs, as arrays in the memory of the device that reads them. Matrices are row-major, with rows of
/// `stride` numbers, one per job, zeros after the last.
struct Jobs {
  std::size_t count = 0;
  std::size_t stride = 0;
  // Given.
  const double* x = nullptr;  ///< Model::features rows: standardised features
  const double* u = nullptr;
  const double* t = nullptr;
  const double* m = nullptr;
  const std::int32_t* own = nullptr;   ///< position of the job among Model::owns, or kNew
  const std::int32_t* line = nullptr;  ///< number of its identity row (Layout::line()), or kNew
  // Computed by describe().
  double* co_runner = nullptr;  ///< Model::co_runners rows: B with each
  double* smooth = nullptr;     ///< Model::owns rows: smooth_o
  double* alone = nullptr;      ///< Model::owns rows: alone_o
  double* identity = nullptr;   ///< Model::owns rows: identity_o

  CORUN_HOST_DEVICE_INLINE Load load(std::size_t j) const { return {u[j], t[j], m[j]}; }
};

/// A model and the jobs to predict. All pointers are to memory of the device that reads them.
struct Problem {
  Model model;
  Jobs jobs;
  Layout layout;
};
/// Slowed jobs whose states are computed: `count` jobs from `first`. known[k]: the co-runner column of
/// identity row k.
struct SlowedJobs {
  std::size_t first = 0, count = 0;
  const std::uint32_t* known = nullptr;
};

/// Co-runners of one slowed job: `count` positions of jobs.
struct CoRunners {
  const std::uint32_t* jobs = nullptr;
  std::size_t count = 0;
};

/// A or B between a job and a job of the data: exp(-squared distance / 2). `x`: the job's features, `stride`
/// apart.
CORUN_HOST_DEVICE_INLINE double kernel(const double* x, std::size_t stride, const double* place,
                                       const double* rates, std::size_t features) {
  double sum = 0;
  for (std::size_t f = 0; f < features; ++f) {
    const double d = (x[f * stride] - place[f]) * rates[f];
    sum = math::fma(d, d, sum);
  }
  return math::exp(-sum / 2);
}

/// smooth_o, alone_o and identity_o of a slowed job: its covariance with the rows in which job o is slowed.
struct OwnTerms {
  double smooth, alone, identity;
};
/// `kernel`: A between both jobs; `same`: both are the same job.
CORUN_HOST_DEVICE_INLINE OwnTerms own_terms(const Model& model, double kernel, bool same) {
  const double product = model.product * (same ? kernel + model.product_own : kernel);
  const double alone = math::fma(model.own, kernel, model.constant);
  return {model.co_runner + product, same ? alone + model.own_identity : alone,
          math::fma(model.product_co_runner, product, model.co_runner_identity)};
}

/// The five pressures phi (models/interference/gp/features.hpp) on the slowed job, not standardised.
CORUN_HOST_DEVICE_INLINE void raw_pressures_of(const Load& slowed, const Load& co_runner,
                                               double (&out)[kPressureCount]) {
  out[0] = (1 - slowed.m) * slowed.u * (1 - co_runner.m) * co_runner.u;
  out[1] = slowed.t * co_runner.u;
  out[2] = math::max(0.0, 1 - slowed.u / 0.1) * co_runner.u;
  out[3] = math::max(0.0, slowed.t + co_runner.t - 0.5);
  out[4] = math::max(0.0, slowed.u + co_runner.u - 1);
}
/// The same, standardised.
CORUN_HOST_DEVICE_INLINE void pressures_of(const Model& model, const Load& slowed,
                                           const Load& co_runner, double (&out)[kPressureCount]) {
  raw_pressures_of(slowed, co_runner, out);
  CORUN_UNROLL
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    const double x = (out[p] - model.pressure_mean[p]) / model.pressure_deviation[p];
    const double inside = math::min(math::max(x, -model.farthest), model.farthest);
    out[p] = model.pressure_deviation[p] == 0 ? 0 : inside;
  }
}

/// Fills in Jobs::co_runner of job j, row p.
CORUN_HOST_DEVICE_INLINE void describe_co_runner(const Model& model, const Jobs& jobs,
                                                 std::size_t j, std::size_t p) {
  jobs.co_runner[p * jobs.stride + j] =
      kernel(jobs.x + j, jobs.stride, model.co_runner_places + p * model.features,
             model.co_runner_rates, model.features);
}
/// Fills in Jobs::smooth, alone and identity of job j, row o.
CORUN_HOST_DEVICE_INLINE void describe_own(const Model& model, const Jobs& jobs, std::size_t j,
                                           std::size_t o) {
  const double near = kernel(jobs.x + j, jobs.stride, model.own_places + o * model.features,
                             model.own_rates, model.features);
  const OwnTerms terms = own_terms(model, near, jobs.own[j] == static_cast<std::int32_t>(o));
  jobs.smooth[o * jobs.stride + j] = terms.smooth;
  jobs.alone[o * jobs.stride + j] = terms.alone;
  jobs.identity[o * jobs.stride + j] = terms.identity;
}

/// The terms of one or several adjacent slowed jobs, from which the entries of their forms are computed.
/// `Number` below is a double, or a register of a vector unit for as many jobs from the first.
struct Slowed {
  const double* smooth = nullptr;  ///< rows of Jobs, at the first of these jobs
  const double* alone = nullptr;
  const double* identity = nullptr;
  std::size_t stride = 0;
  const double* precision_alone = nullptr;  ///< precision_alone_row() of all rows
  std::size_t precision_alone_stride = 0;   ///< between two rows

  static CORUN_HOST_DEVICE_INLINE Slowed of(const Jobs& jobs, std::size_t first,
                                            const double* precision_alone,
                                            std::size_t precision_alone_stride) {
    return {jobs.smooth + first, jobs.alone + first, jobs.identity + first,
            jobs.stride,         precision_alone,    precision_alone_stride};
  }
};

CORUN_HOST_DEVICE_INLINE void load_number(const double* from, double& to) { to = *from; }
CORUN_HOST_DEVICE_INLINE void store_number(const double& from, double* to) { *to = from; }

template <class Number>
CORUN_HOST_DEVICE_INLINE Number number_at(const double* from) {
  Number out;
  load_number(from, out);
  return out;
}

/// Sum over rows a2 = from .. to - 1 of the stored P[a][a2] times `right` of the job slowed in row a2. Here
/// and below, `left` and `right` are one of smooth, alone and identity.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number part_of_row(const Model& model, std::size_t a, std::size_t from,
                                            std::size_t to, const double* right,
                                            std::size_t stride) {
  using math::fma;
  const double* const precision = model.precision + Model::row_start(a);
  Number sum(0.0);
  for (std::size_t a2 = from; a2 < to; ++a2) {
    sum = fma(Number(precision[a2]), number_at<Number>(right + model.own_of[a2] * stride), sum);
  }
  return sum;
}

/// Sum over the rows a of co-runner b and the rows a2 <= a of co-runner c <= b of left_a P[a][a2] right_a2.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number block(const Model& model, std::size_t b, std::size_t c,
                                      const double* left, const double* right, std::size_t stride) {
  using math::fma;
  const std::size_t from = model.first[c];
  Number sum(0.0);
  for (std::size_t a = model.first[b]; a < model.first[b + 1]; ++a) {
    const std::size_t to = b == c ? a + 1 : model.first[c + 1];
    const Number inner = part_of_row<Number>(model, a, from, to, right, stride);
    sum = fma(number_at<Number>(left + model.own_of[a] * stride), inner, sum);
  }
  return sum;
}

/// Row a of the stored triangle of P times `alone`.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number precision_alone_row(const Model& model, std::size_t a,
                                                    const double* alone, std::size_t stride) {
  return part_of_row<Number>(model, a, 0, a + 1, alone, stride);
}

/// Sum over the rows a = from .. to - 1 of left_a times of_row[a].
template <class Number>
CORUN_HOST_DEVICE_INLINE Number against_rows(const Model& model, std::size_t from, std::size_t to,
                                             const double* left, std::size_t stride,
                                             const double* of_row) {
  using math::fma;
  Number sum(0.0);
  for (std::size_t a = from; a < to; ++a) {
    sum = fma(Number(of_row[a]), number_at<Number>(left + model.own_of[a] * stride), sum);
  }
  return sum;
}

/// Both sum left_a P[a][a2] alone_a2 over the rows a of co-runner b: against_earlier() with the rows a2 <= a,
/// against_later() with the rows a2 >= a.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number against_earlier(const Model& model, std::size_t b,
                                                const double* left, const Slowed& jobs) {
  using math::fma;
  Number sum(0.0);
  for (std::size_t a = model.first[b]; a < model.first[b + 1]; ++a) {
    sum = fma(number_at<Number>(left + model.own_of[a] * jobs.stride),
              number_at<Number>(jobs.precision_alone + a * jobs.precision_alone_stride), sum);
  }
  return sum;
}
template <class Number>
CORUN_HOST_DEVICE_INLINE Number against_later(const Model& model, std::size_t b, const double* left,
                                              const Slowed& jobs) {
  using math::fma;
  const std::size_t from = model.first[b];
  const std::size_t to = model.first[b + 1];
  Number sum(0.0);
  for (std::size_t a = from; a < model.rows; ++a) {
    const std::size_t end = a + 1 < to ? a + 1 : to;
    const Number inner = part_of_row<Number>(model, a, from, end, left, jobs.stride);
    sum = fma(number_at<Number>(jobs.alone + model.own_of[a] * jobs.stride), inner, sum);
  }
  return sum;
}
template <class Number>
CORUN_HOST_DEVICE_INLINE Number against_constant(const Model& model, std::size_t b,
                                                 const double* left, const Slowed& jobs) {
  return against_earlier<Number>(model, b, left, jobs) +
         against_later<Number>(model, b, left, jobs);
}

/// Entry (c, b), b <= c, of the quadratic form, doubled off the diagonal.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number form_entry(const Model& model, std::size_t c, std::size_t b,
                                           const Slowed& jobs) {
  using math::fma;
  const std::size_t constant = model.co_runners;
  if (c > constant + kPressureCount) return Number(0.0);
  if (c < constant) return block<Number>(model, c, b, jobs.smooth, jobs.smooth, jobs.stride);
  if (c > constant) {
    const std::size_t p = c - constant - 1;
    if (b > constant) return Number(model.pressure_form[p][b - constant - 1]);
    const double* const weighted_pressures = model.weighted_pressures + p * model.rows;
    if (b == constant) {
      return against_rows<Number>(model, 0, model.rows, jobs.alone, jobs.stride,
                                  weighted_pressures);
    }
    return against_rows<Number>(model, model.first[b], model.first[b + 1], jobs.smooth, jobs.stride,
                                weighted_pressures);
  }
  if (b < constant) return against_constant<Number>(model, b, jobs.smooth, jobs);
  Number sum(0.0);
  for (std::size_t a = 0; a < model.rows; ++a) {
    sum = fma(number_at<Number>(jobs.alone + model.own_of[a] * jobs.stride),
              number_at<Number>(jobs.precision_alone + a * jobs.precision_alone_stride), sum);
  }
  return sum;
}

/// Entry b of the linear form.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number mean_entry(const Model& model, std::size_t b, const Slowed& jobs) {
  const std::size_t constant = model.co_runners;
  if (b > constant + kPressureCount) return Number(0.0);
  if (b > constant) return Number(model.pressure_weights[b - constant - 1]);
  if (b == constant) {
    return against_rows<Number>(model, 0, model.rows, jobs.alone, jobs.stride, model.weights);
  }
  return against_rows<Number>(model, model.first[b], model.first[b + 1], jobs.smooth, jobs.stride,
                              model.weights);
}

/// Entry b of the identity row (Layout) of the known co-runner in column k.
template <class Number>
CORUN_HOST_DEVICE_INLINE Number line_entry(const Model& model, std::size_t k, std::size_t b,
                                           const Slowed& jobs) {
  const std::size_t constant = model.co_runners;
  const std::size_t from = model.first[k];
  const std::size_t to = model.first[k + 1];
  const double* const identity = jobs.identity;
  if (b < k) return block<Number>(model, k, b, identity, jobs.smooth, jobs.stride);
  if (b == k) {
    return block<Number>(model, k, k, identity, jobs.smooth, jobs.stride) +
           block<Number>(model, k, k, jobs.smooth, identity, jobs.stride);
  }
  if (b < constant) return block<Number>(model, b, k, jobs.smooth, identity, jobs.stride);
  if (b == constant) return against_constant<Number>(model, k, identity, jobs);
  if (b <= constant + kPressureCount) {
    const double* const weighted_pressures =
        model.weighted_pressures + (b - constant - 1) * model.rows;
    return against_rows<Number>(model, from, to, identity, jobs.stride, weighted_pressures);
  }
  if (b < model.width()) return Number(0.0);
  if (b == model.width()) return block<Number>(model, k, k, identity, identity, jobs.stride);
  return against_rows<Number>(model, from, to, identity, jobs.stride, model.weights);
}

// ---- pairs --------------------------------------------------------------------------------------

/// Adjacent rows of a panel times the columns from .. to - 1 of v: sum += form x v. `Count` numbers at once,
/// each a double or a register: `v(b, n)` is v_b of the n-th. `form`: at column `from` of the first row.
template <std::size_t Rows, std::size_t Count, class Number, class V>
CORUN_HOST_DEVICE_INLINE void add_columns(const double* form, std::size_t from, std::size_t to,
                                          const V& v, Number (&sum)[Rows][Count]) {
  using math::fma;
  CORUN_ROLLED
  for (std::size_t b = from; b < to; ++b) {
    Number x[Count];
    CORUN_UNROLL
    for (std::size_t n = 0; n < Count; ++n) x[n] = v(b, n);
    CORUN_UNROLL
    for (std::size_t r = 0; r < Rows; ++r) {
      const Number f(form[(b - from) * kPanel + r]);
      CORUN_UNROLL
      for (std::size_t n = 0; n < Count; ++n) sum[r][n] = fma(f, x[n], sum[r][n]);
    }
  }
}

/// The columns `first` .. `first` + Rows - 1, up to the diagonal. Each row's sum is then complete and adds to
/// mean and explained. `first`: number of the first row; `form` and `linear`: both forms from there.
template <std::size_t Rows, std::size_t Count, class Number, class V>
CORUN_HOST_DEVICE_INLINE void end_rows(const double* form, const double* linear, std::size_t first,
                                       const V& v, Number (&sum)[Rows][Count],
                                       Number (&mean)[Count], Number (&explained)[Count]) {
  using math::fma;
  CORUN_UNROLL
  for (std::size_t b = 0; b < Rows; ++b) {
    Number x[Count];
    CORUN_UNROLL
    for (std::size_t n = 0; n < Count; ++n) x[n] = v(first + b, n);
    CORUN_UNROLL
    for (std::size_t r = b; r < Rows; ++r) {
      const Number f(form[b * kPanel + r]);
      CORUN_UNROLL
      for (std::size_t n = 0; n < Count; ++n) sum[r][n] = fma(f, x[n], sum[r][n]);
    }
    const Number m(linear[b]);
    CORUN_UNROLL
    for (std::size_t n = 0; n < Count; ++n) {
      mean[n] = fma(m, x[n], mean[n]);
      explained[n] = fma(x[n], sum[b][n], explained[n]);
    }
  }
}

/// add_columns() and end_rows() for rows first .. first + Rows - 1. Rows is a divisor of kPanel. Call it by
/// ascending `first`, from 0.
template <std::size_t Rows, std::size_t Count, class Number, class V>
CORUN_HOST_DEVICE_INLINE void add_rows(const double* state, const Layout& layout, std::size_t first,
                                       const V& v, Number (&mean)[Count],
                                       Number (&explained)[Count]) {
  const double* const form = state + Layout::entry(first, 0);
  Number sum[Rows][Count];
  CORUN_UNROLL
  for (std::size_t r = 0; r < Rows; ++r) {
    CORUN_UNROLL
    for (std::size_t n = 0; n < Count; ++n) sum[r][n] = Number(0.0);
  }
  add_columns(form, 0, first, v, sum);
  end_rows(form + first * kPanel, state + layout.mean() + first, first, v, sum, mean, explained);
}

/// Adds the terms of a known co-runner. `line`: its identity row; `v(b)`: v_b of the pair.
template <class V>
CORUN_HOST_DEVICE_INLINE void add_line(const double* line, std::size_t width, const V& v,
                                       double& mean, double& explained) {
  double sum = line[width];
  for (std::size_t b = 0; b < width; ++b) sum = math::fma(line[b], v(b), sum);
  explained += sum;
  mean += line[width + 1];
}

/// -log(speed) of a pair, with its deviation, from mean = k' weights and explained = k' P k. `pressures`:
/// standardised.
CORUN_HOST_DEVICE_INLINE LogSlowdown log_slowdown(const Model& model,
                                                  const double (&pressures)[kPressureCount],
                                                  double mean, double explained) {
  double square = 0;
  CORUN_UNROLL
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    square = math::fma(pressures[p], pressures[p], square);
  }
  const double prior = math::fma(model.pressures, square, model.prior);
  const double left = math::min(math::max(prior - explained, 0.0), prior);
  const double share = left / prior;
  // Linear between the three factors, constant beyond them.
  double factor = model.factor[2];
  CORUN_UNROLL
  for (std::size_t f = 2; f > 0; --f) {
    const double way = (share - model.share[f - 1]) / (model.share[f] - model.share[f - 1]);
    const double between = model.factor[f - 1] + way * (model.factor[f] - model.factor[f - 1]);
    factor = share < model.share[f] ? between : factor;
  }
  factor = share <= model.share[0] ? model.factor[0] : factor;
  return {model.target_mean + model.target_deviation * mean,
          model.target_deviation * factor * math::sqrt(left + model.noise)};
}

}  // namespace corun::inline models::gp
