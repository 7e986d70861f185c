#include "models/interference/gp_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <Eigen/Dense>

#include "models/interference/lbfgs.hpp"
#include "models/interference/model_state.hpp"
#include "models/interference/observations.hpp"
#include "models/scoring/cpu_kernels.hpp"
#include "models/scoring/pair_formula.hpp"
#include "sim/base/half_width.hpp"
#include "sim/rng.hpp"

namespace corun {

namespace {

/// Deviation of -log(speed) before any is seen, and how many speeds that counts for.
constexpr double kPriorDeviation = 0.3;
constexpr double kPriorCount = 2;
/// Standardised features and pressures further out than this count as this far.
constexpr double kFarthest = 10;
/// Numbers of a file beyond this are not possible.
constexpr double kLargestFeature = 1e100;
/// exp() of this and of its negative are normal numbers, whatever deviation they are multiplied by.
constexpr double kLargestExponent = 300;
/// Added to the noise: no covariance of observations is singular.
constexpr double kLeastNoise = 1e-4;
/// Log-parameters beyond this are out of all reason.
constexpr double kLargestParameter = 30;
/// So many scores of a well-behaved model stand beside those that factors are found from.
constexpr double kPriorScores = 20;
/// Jobs left out to find factors, at most, and how many kinds of jobs to think of: that share of
/// the jobs is left out to see what a job of an unknown kind does.
constexpr std::size_t kMostLeftOut = 26;
constexpr std::size_t kKinds = 8;
constexpr double kLeastFactor = 0.7;
constexpr double kLargestFactor = 3;

/// Of the draws of rows, far from those of samples.
constexpr std::uint64_t kHyperEntity = ~0ULL;
constexpr std::uint64_t kFittedEntity = ~0ULL - 1;

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

Vector view(double* from, std::size_t count) { return {from, static_cast<Eigen::Index>(count)}; }
ConstVector view(const double* from, std::size_t count) {
  return {from, static_cast<Eigen::Index>(count)};
}

constexpr const char* kName = "gp model";

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument(std::string(kName) + ": " + what);
}

bool possible(double speed) { return std::isnan(speed) || (speed > 0 && std::isfinite(speed)); }

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< 0: all the same, but for rounding, or none known
};

/// Of the numbers known.
Moments moments_of(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  double largest = 1;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    sum += x;
    count += 1;
    largest = std::max(largest, std::fabs(x));
  }
  if (count == 0) return {};
  Moments out{sum / count, 0};
  double squares = 0;
  for (const double x : values) {
    if (!std::isnan(x)) squares += (x - out.mean) * (x - out.mean);
  }
  constexpr double kSame = 1e-9;
  const double deviation = std::sqrt(squares / count);
  if (deviation > kSame * largest) out.deviation = deviation;
  return out;
}

double standardised(double x, double mean, double deviation) {
  if (std::isnan(x) || deviation == 0) return 0;
  return std::clamp((x - mean) / deviation, -kFarthest, kFarthest);
}

/// Log-normal priors: medians and log-deviations, of a target standardised.
struct Prior {
  double center, width;
};
Prior prior_of(std::size_t parameter) {
  static const std::array<Prior, GpModel::kLengths> kVariances{{
      {std::log(0.2), 1.5},   // own effect
      {std::log(0.1), 1.5},   // own identity
      {std::log(0.2), 1.5},   // partner effect
      {std::log(0.1), 1.5},   // partner identity
      {std::log(0.2), 1.5},   // product
      {std::log(0.3), 1.5},   // product, share of own identity
      {std::log(0.3), 1.5},   // product, share of partner identity
      {std::log(0.5), 1.5},   // constant
      {std::log(0.1), 1.5},   // pressures
      {std::log(0.05), 1.5},  // noise
  }};
  static const Prior kLength{std::log(3.0), 1};
  return parameter < kVariances.size() ? kVariances[parameter] : kLength;
}

/// exp of the parameters: variances and ratios as such, lengths inverted.
std::vector<double> scales_of(std::span<const double> parameters) {
  std::vector<double> out;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    out.push_back(std::exp(p < GpModel::kLengths ? parameters[p] : -parameters[p]));
  }
  return out;
}

double dot(const std::array<double, 5>& x, const std::array<double, 5>& y) {
  double sum = 0;
  for (std::size_t p = 0; p < x.size(); ++p) sum += x[p] * y[p];
  return sum;
}

/// Squared distance of two jobs in inverse lengths.
double distance(const std::vector<double>& x, const std::vector<double>& y, const double* rates) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f) {
    const double d = (x[f] - y[f]) * rates[f];
    sum += d * d;
  }
  return sum;
}

struct Kernel {
  double value;
  double slope;  ///< minus twice the derivative with respect to the squared distance
};
Kernel kernel(double distance) {
  const double k = std::exp(-distance / 2);
  return {k, k};
}

/// Covariance of two observations without the noise, from A and B between their jobs.
double covariance_of(const std::vector<double>& s, double own, bool same_own, double partner,
                     bool same_partner, double pressures) {
  double sum = s[GpModel::kConstant] + s[GpModel::kOwn] * own + s[GpModel::kPartner] * partner +
               s[GpModel::kPressures] * pressures;
  if (same_own) {
    sum += s[GpModel::kOwnIdentity];
    own += s[GpModel::kProductOwn];
  }
  if (same_partner) {
    sum += s[GpModel::kPartnerIdentity];
    partner += s[GpModel::kProductPartner];
  }
  return sum + s[GpModel::kProduct] * own * partner;
}

}  // namespace

// ---- the covariance's root ----------------------------------------------------------------------

void GpModel::InverseRoot::append(const double* covariance, double variance) {
  // Of the new row (l', d) of L: l = inv(L) k, d^2 = variance - l'l; and the new row of inv(L) is
  // (-l' inv(L), 1) / d.
  white_.resize(size_);
  for (std::size_t r = 0; r < size_; ++r) {
    white_[r] = view(row(r), r + 1).dot(view(covariance, r + 1));
  }
  // At least the noise is left, but for rounding.
  const double left =
      std::max(variance - view(white_.data(), size_).squaredNorm(), kLeastNoise / 2);
  const double scale = 1 / std::sqrt(left);
  packed_.resize(packed_.size() + size_ + 1, 0);
  double* const added = packed_.data() + packed_.size() - size_ - 1;
  for (std::size_t r = 0; r < size_; ++r) {
    view(added, r + 1) -= (white_[r] * scale) * view(row(r), r + 1);
  }
  added[size_] = scale;
  ++size_;
}

// ---- its inverse --------------------------------------------------------------------------------

GpModel::Precision::Precision(const InverseRoot& root, const std::vector<std::uint32_t>& order)
    : size_(root.size()) {
  // In the order of the root first: of each element, root by root.
  std::vector<double> unsorted(size_ * (size_ + 1) / 2, 0);
  for (std::size_t a = 0; a < size_; ++a) {
    double* const row = unsorted.data() + a * (a + 1) / 2;
    for (std::size_t r = a; r < size_; ++r) add(row, a, root.row(r));
  }
  packed_.reserve(unsorted.size());
  for (std::size_t a = 0; a < size_; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const auto [low, high] = std::minmax(order[a], order[b]);
      packed_.push_back(unsorted[std::size_t{high} * (high + 1) / 2 + low]);
    }
  }
}

void GpModel::Precision::add(double* row, std::size_t a, const double* line) {
  const double twice = 2 * line[a];
  view(row, a) += twice * view(line, a);
  row[a] += line[a] * line[a];
}

void GpModel::Precision::insert(std::size_t at, const std::vector<double>& line) {
  ++size_;
  packed_.resize(size_ * (size_ + 1) / 2);
  // From the last row: what moves goes up.
  for (std::size_t a = size_; a-- > 0;) {
    double* const row = packed_.data() + a * (a + 1) / 2;
    if (a > at) {
      const double* const was = row - a;
      std::copy(was + at, was + a, row + at + 1);
      row[at] = 0;
      std::copy(was, was + at, row);
    } else if (a == at) {
      std::fill(row, row + a + 1, 0);
    }
    add(row, a, line.data());
  }
}

// ---- what a job and a pair look like ------------------------------------------------------------

GpModel::Place GpModel::raw_place(std::span<const double> features) const {
  Place out;
  out.x = expand_features(features, features_, kName);
  const auto fraction = [&](const char* name) {
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (features_[f].name == name) return std::clamp(features[f] / 100, 0.0, 1.0);
    }
    return 0.0;
  };
  out.load = {fraction("gpu_util_pct"), fraction("mem_time_pct"), fraction("mem_alloc_pct")};
  return out;
}

GpModel::Place GpModel::standardise(Place place) const {
  for (std::size_t f = 0; f < place.x.size(); ++f) {
    place.x[f] = standardised(place.x[f], mean_[f], deviation_[f]);
  }
  if (std::isnan(place.load.u)) place.load.u = mean_load_.u;
  if (std::isnan(place.load.t)) place.load.t = mean_load_.t;
  if (std::isnan(place.load.m)) place.load.m = mean_load_.m;
  return place;
}

GpModel::Pressures GpModel::raw_pressures(const Load& own, const Load& partner) {
  double raw[kPressureCount];
  gp::raw_pressures_of(own, partner, raw);
  return std::to_array(raw);
}

GpModel::Pressures GpModel::pressures(const Load& own, const Load& partner) const {
  gp::Model formula;
  set_pressures(formula);
  double standard[kPressureCount];
  gp::pressures_of(formula, own, partner, standard);
  return std::to_array(standard);
}

void GpModel::set_pressures(gp::Model& formula) const {
  std::copy(pressure_mean_.begin(), pressure_mean_.end(), formula.pressure_mean);
  std::copy(pressure_deviation_.begin(), pressure_deviation_.end(), formula.pressure_deviation);
  formula.farthest = kFarthest;
}

// ---- evidence -----------------------------------------------------------------------------------

std::size_t GpModel::parameter_count(const std::vector<SpeedTable::Feature>& features) {
  return kLengths + 2 * expanded_width(features);
}

GpModel::Evidence GpModel::evidence_of(const Rows& rows, std::span<const double> parameters) {
  Evidence out;
  out.gradient.assign(parameters.size(), 0);
  for (const double p : parameters) {
    if (!(std::fabs(p) <= kLargestParameter)) {
      out.value = std::numeric_limits<double>::infinity();
      return out;
    }
  }
  const std::vector<double> s = scales_of(parameters);
  const std::size_t n = rows.places.size();
  const std::size_t count = rows.observations.size();
  const std::size_t width = (parameters.size() - kLengths) / 2;
  const double* const own_rates = s.data() + kLengths;
  const double* const partner_rates = own_rates + width;

  std::vector<Kernel> own(n * n);  // A and B between the jobs
  std::vector<Kernel> partner(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::vector<double>& x = rows.places[i].x;
      const std::vector<double>& y = rows.places[j].x;
      own[i * n + j] = own[j * n + i] = kernel(distance(x, y, own_rates));
      partner[i * n + j] = partner[j * n + i] = kernel(distance(x, y, partner_rates));
    }
  }

  InverseRoot root;
  std::vector<double> white;              // inv(L) y
  std::vector<double> weights(count, 0);  // inv(K) y
  std::vector<double> covariance(count);
  for (std::size_t a = 0; a < count; ++a) {
    const Observation& x = rows.observations[a];
    for (std::size_t b = 0; b <= a; ++b) {
      const Observation& y = rows.observations[b];
      covariance[b] = covariance_of(s, own[x.own * n + y.own].value, x.own == y.own,
                                    partner[x.partner * n + y.partner].value,
                                    x.partner == y.partner, dot(rows.phi[a], rows.phi[b]));
    }
    root.append(covariance.data(), covariance[a] + s[kNoise] + kLeastNoise);
    const double* const row = root.row(a);
    double sum = 0;
    for (std::size_t b = 0; b <= a; ++b) sum += row[b] * rows.observations[b].target;
    view(weights.data(), a + 1) += sum * view(row, a + 1);
    out.value += sum * sum / 2 - std::log(row[a]);
  }

  // W = (inv(K) - w w') / 2 is the derivative with respect to K; what concerns jobs only is summed
  // over the rows first.
  std::vector<double> inverse(count * (count + 1) / 2, 0);
  for (std::size_t r = 0; r < count; ++r) {
    const double* const row = root.row(r);
    for (std::size_t a = 0; a <= r; ++a) {
      view(inverse.data() + a * (a + 1) / 2, a + 1) += row[a] * view(row, a + 1);
    }
  }
  std::vector<double> of_own(n * n, 0);  // derivatives with respect to A and B
  std::vector<double> of_partner(n * n, 0);
  std::vector<double>& g = out.gradient;
  for (std::size_t a = 0; a < count; ++a) {
    const Observation& x = rows.observations[a];
    for (std::size_t b = 0; b <= a; ++b) {
      const Observation& y = rows.observations[b];
      const double once = (inverse[a * (a + 1) / 2 + b] - weights[a] * weights[b]) / 2;
      const double w = a == b ? once : 2 * once;
      const double k_own = own[x.own * n + y.own].value;
      const double k_partner = partner[x.partner * n + y.partner].value;
      const double same_own = x.own == y.own ? 1 : 0;
      const double same_partner = x.partner == y.partner ? 1 : 0;
      const double left = k_own + s[kProductOwn] * same_own;
      const double right = k_partner + s[kProductPartner] * same_partner;
      g[kOwn] += w * k_own;
      g[kOwnIdentity] += w * same_own;
      g[kPartner] += w * k_partner;
      g[kPartnerIdentity] += w * same_partner;
      g[kProduct] += w * left * right;
      g[kProductOwn] += w * same_own * right;
      g[kProductPartner] += w * same_partner * left;
      g[kConstant] += w;
      g[kPressures] += w * dot(rows.phi[a], rows.phi[b]);
      if (a == b) g[kNoise] += w;
      of_own[x.own * n + y.own] += w * (s[kOwn] + s[kProduct] * right);
      of_partner[x.partner * n + y.partner] += w * (s[kPartner] + s[kProduct] * left);
    }
  }
  g[kProductOwn] *= s[kProduct];
  g[kProductPartner] *= s[kProduct];
  for (std::size_t p = 0; p < kLengths; ++p) g[p] *= s[p];
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = i * n + j;
      const double by_own = of_own[at] * own[at].slope;
      const double by_partner = of_partner[at] * partner[at].slope;
      for (std::size_t f = 0; f < width; ++f) {
        const double d = rows.places[i].x[f] - rows.places[j].x[f];
        g[kLengths + f] += by_own * d * d * own_rates[f] * own_rates[f];
        g[kLengths + width + f] += by_partner * d * d * partner_rates[f] * partner_rates[f];
      }
    }
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Prior prior = prior_of(p);
    const double off = (parameters[p] - prior.center) / prior.width;
    out.value += off * off / 2;
    g[p] += off / prior.width;
  }
  return out;
}

GpModel::Evidence GpModel::evidence(const SpeedTable& table, std::span<const double> parameters) {
  const GpModel model = described(table, std::numeric_limits<std::size_t>::max(), 1);
  if (parameters.size() != parameter_count(table.features)) refuse("another number of parameters");
  return evidence_of(model.rows_, parameters);
}

// ---- fit ----------------------------------------------------------------------------------------

GpModel GpModel::described(const SpeedTable& table, std::size_t most, std::uint64_t seed) {
  if (table.features.size() > kMostFeatures) {
    refuse(std::to_string(table.features.size()) + " features, at most " +
           std::to_string(kMostFeatures) + " are possible");
  }
  GpModel model;
  model.features_ = table.features;
  const std::size_t given = table.features.size();
  std::vector<corun::Observation> speeds = observations_of(table, kName);
  if (speeds.size() > most) {
    Rng rng(seed, Stream::kGpRows, kFittedEntity);
    rng.shuffle(std::span(speeds));
    speeds.resize(most);
  }

  // The jobs seen: those with a speed of their own or of a partner.
  std::vector<std::uint32_t> number(table.jobs.size(), 0);  // from 1
  std::vector<Place> raw;
  const auto see = [&](std::uint32_t job) {
    if (number[job] == 0) {
      raw.push_back(model.raw_place({table.of(job), given}));
      model.keys_.push_back(table.jobs[job]);
      number[job] = static_cast<std::uint32_t>(raw.size());
    }
    return number[job] - 1;
  };
  std::vector<double> t;
  for (const corun::Observation& speed : speeds) {
    const std::uint32_t own = see(speed.of);
    model.rows_.observations.push_back({own, see(speed.beside), 0});
    t.push_back(speed.slowness);
  }

  std::vector<double> column(raw.size());
  const auto moments = [&](const auto& value) {
    std::transform(raw.begin(), raw.end(), column.begin(), value);
    return moments_of(column);
  };
  for (std::size_t f = 0; f < expanded_width(table.features); ++f) {
    const Moments of = moments([&](const Place& place) { return place.x[f]; });
    model.mean_.push_back(of.mean);
    model.deviation_.push_back(of.deviation);
  }
  model.mean_load_ = {moments([](const Place& place) { return place.load.u; }).mean,
                      moments([](const Place& place) { return place.load.t; }).mean,
                      moments([](const Place& place) { return place.load.m; }).mean};
  for (Place& place : raw) model.rows_.places.push_back(model.standardise(std::move(place)));

  const auto load = [&](std::uint32_t job) { return model.rows_.places[job].load; };
  column.resize(t.size());
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    for (std::size_t a = 0; a < t.size(); ++a) {
      const Observation& o = model.rows_.observations[a];
      column[a] = raw_pressures(load(o.own), load(o.partner))[p];
    }
    const Moments of = moments_of(column);
    model.pressure_mean_[p] = of.mean;
    model.pressure_deviation_[p] = of.deviation;
  }
  const auto size = static_cast<double>(t.size());
  model.target_mean_ = std::accumulate(t.begin(), t.end(), 0.0) / size;
  double squares = kPriorCount * kPriorDeviation * kPriorDeviation;
  for (const double one : t) squares += (one - model.target_mean_) * (one - model.target_mean_);
  model.target_deviation_ = std::sqrt(squares / (size + kPriorCount));
  for (std::size_t a = 0; a < t.size(); ++a) {
    Observation& o = model.rows_.observations[a];
    o.target = (t[a] - model.target_mean_) / model.target_deviation_;
    model.rows_.phi.push_back(model.pressures(load(o.own), load(o.partner)));
  }
  return model;
}

GpModel GpModel::fit(const SpeedTable& table, const FitOptions& options) {
  GpModel model = described(table, kMostFitted, options.seed);
  const Rows few = model.rows_.some(kHyperRows, options.seed);
  for (std::size_t p = 0; p < parameter_count(table.features); ++p) {
    model.parameters_.push_back(prior_of(p).center);
  }
  model.parameters_ = minimise(
      [&](const std::vector<double>& at, std::vector<double>& slope) {
        Evidence evidence = evidence_of(few, at);
        slope = std::move(evidence.gradient);
        return evidence.value;
      },
      std::move(model.parameters_));
  model.hold();
  model.calibrate();
  return model;
}

GpModel::Rows GpModel::Rows::some(std::size_t most, std::uint64_t seed) const {
  if (observations.size() <= most) return *this;
  std::vector<std::size_t> order(observations.size());
  std::iota(order.begin(), order.end(), 0);
  Rng rng(seed, Stream::kGpRows, kHyperEntity);
  rng.shuffle(std::span(order));
  order.resize(most);
  std::sort(order.begin(), order.end());
  Rows out;
  std::map<std::uint32_t, std::uint32_t> number;
  const auto see = [&](std::uint32_t job) {
    const auto [at, fresh] = number.emplace(job, static_cast<std::uint32_t>(out.places.size()));
    if (fresh) out.places.push_back(places[job]);
    return at->second;
  };
  for (const std::size_t a : order) {
    const std::uint32_t own = see(observations[a].own);
    out.observations.push_back({own, see(observations[a].partner), observations[a].target});
    out.phi.push_back(phi[a]);
  }
  return out;
}

/// What follows from the parameters and the rows: the covariance's root, row by row, so that a
/// model read from a file is the same as one that has learnt.
void GpModel::hold() {
  scales_ = scales_of(parameters_);
  for (std::uint32_t j = 0; j < keys_.size(); ++j) know(j);
  for (std::size_t a = 0; a < rows_.observations.size(); ++a) take_in(a);
  for (std::size_t a = 0; a < rows_.observations.size(); ++a) sort_in(a);
  precision_ = Precision(root_, order_);
}

void GpModel::know(std::uint32_t job) {
  if (keys_[job] != kUnknownWorkload && !position_.emplace(keys_[job], job).second) {
    refuse("a workload is listed twice");
  }
}

/// Between a job and all held; the inverse lengths are at `rates` among the scales.
std::vector<double> GpModel::kernels(const Place& place, std::size_t rates) const {
  std::vector<double> out;
  out.reserve(rows_.places.size());
  for (const Place& other : rows_.places) {
    out.push_back(kernel(distance(place.x, other.x, scales_.data() + rates)).value);
  }
  return out;
}

double GpModel::prior_variance(const Pressures& phi) const {
  return covariance_of(scales_, 1, true, 1, true, dot(phi, phi));
}

/// One more row of the covariance: of an observation, all before which are held.
void GpModel::take_in(std::size_t observation) {
  const std::size_t a = observation;
  const Observation& x = rows_.observations[a];
  const std::vector<double> own = kernels(rows_.places[x.own], kLengths);
  const std::vector<double> partner = kernels(rows_.places[x.partner], kLengths + mean_.size());
  std::vector<double> covariance(a + 1);
  for (std::size_t b = 0; b <= a; ++b) {
    const Observation& y = rows_.observations[b];
    covariance[b] = covariance_of(scales_, own[y.own], x.own == y.own, partner[y.partner],
                                  x.partner == y.partner, dot(rows_.phi[a], rows_.phi[b]));
  }
  root_.append(covariance.data(), covariance[a] + scales_[kNoise] + kLeastNoise);
  const double* const row = root_.row(a);
  double sum = 0;
  Pressures phi{};
  for (std::size_t b = 0; b <= a; ++b) {
    sum += row[b] * rows_.observations[b].target;
    for (std::size_t p = 0; p < kPressureCount; ++p) phi[p] += row[b] * rows_.phi[b][p];
  }
  weights_.push_back(0);
  view(weights_.data(), a + 1) += sum * view(row, a + 1);
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    pressed_[p].push_back(0);
    view(pressed_[p].data(), a + 1) += phi[p] * view(row, a + 1);
  }
}

/// The place of an observation in the order of predictions: the last of its partner's.
std::size_t GpModel::sort_in(std::size_t observation) {
  const Observation& x = rows_.observations[observation];
  const auto column = [&](std::vector<std::int32_t>& columns, std::vector<std::uint32_t>& jobs,
                          std::uint32_t job) {
    columns.resize(keys_.size(), gp::kNew);
    if (columns[job] == gp::kNew) {
      columns[job] = static_cast<std::int32_t>(jobs.size());
      jobs.push_back(job);
    }
    return static_cast<std::size_t>(columns[job]);
  };
  column(own_column_, owns_, x.own);
  const std::size_t partner = column(partner_column_, partners_, x.partner);
  first_.resize(partners_.size() + 1, static_cast<std::uint32_t>(order_.size()));
  const std::size_t at = first_[partner + 1];
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at),
                static_cast<std::uint32_t>(observation));
  for (std::size_t p = partner + 1; p < first_.size(); ++p) ++first_[p];
  return at;
}

/// The jobs closest to one, that one first, by both kernels.
std::vector<std::size_t> GpModel::neighbours(std::size_t job, std::size_t count) const {
  const std::vector<double> own = kernels(rows_.places[job], kLengths);
  const std::vector<double> partner = kernels(rows_.places[job], kLengths + mean_.size());
  std::vector<std::size_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order.front(), order[job]);
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t i, std::size_t j) {
    return own[i] * partner[i] > own[j] * partner[j];
  });
  order.resize(std::min(count, order.size()));
  return order;
}

/// Factors of the deviation: how far out are co-runs that the rest has to predict? Co-runs of jobs
/// that are known beside others; of jobs left out; and of jobs left out with those like them. What
/// one such kind does says little about the next, so there the kind predicted worst counts.
void GpModel::calibrate() {
  const std::vector<Observation>& rows = rows_.observations;
  const std::size_t count = rows.size();
  struct Scores {
    std::vector<double> off;  // in standard deviations
    double share = 0;         // of the prior variance that was left, summed

    double size() const { return static_cast<double>(off.size()); }
    /// By the 90th percentile, relative to a normal's.
    double factor() {
      if (off.empty()) return 1;
      const auto at = off.begin() + std::llround(0.9 * (size() - 1));
      std::nth_element(off.begin(), at, off.end());
      return *at / kHalfWidth90;
    }
  };
  const auto score = [&](Scores& scores, std::size_t a, double off, double variance) {
    const double noise = scales_[kNoise] + kLeastNoise;
    scores.off.push_back(std::fabs(off) / std::sqrt(variance));
    scores.share += std::clamp((variance - noise) / prior_variance(rows_.phi[a]), 0.0, 1.0);
  };

  // With P = inv(K): what is left of the targets of the rows S when all others predict them is
  // inv(P_SS) (P y)_S, of covariance inv(P_SS).
  std::vector<double> precision(count, 0);
  for (std::size_t r = 0; r < count; ++r) {
    const double* const row = root_.row(r);
    for (std::size_t a = 0; a <= r; ++a) precision[a] += row[a] * row[a];
  }
  Scores known;
  double error = 0;
  double level = 0;
  for (std::size_t a = 0; a < count; ++a) {
    const double variance = 1 / precision[a];
    const double off = weights_[a] * variance;
    score(known, a, off, variance);
    // The scatter of excesses around what was expected, as excess_scatter() has it.
    const double t = target_mean_ + target_deviation_ * rows[a].target;
    const double expected = std::clamp(t - target_deviation_ * off, 0.0, kLargestExponent);
    const double weight = std::min(1.0, std::exp(-t));
    const double excess = weight * std::expm1(expected);
    const double away = weight * std::expm1(t) - excess;
    error += away * away;
    level += excess * excess;
  }
  residual_sigma_ = level > 0 ? std::sqrt(std::log1p(error / level)) : 0;

  // Of a job, its co-runs when all co-runs of it and of some jobs near it are left out.
  const auto leave_out = [&](Scores& scores, std::size_t job, std::size_t jobs) {
    std::vector<bool> gone(keys_.size(), false);
    for (const std::size_t j : neighbours(job, jobs)) gone[j] = true;
    std::vector<std::size_t> left_out;
    for (std::size_t a = 0; a < count; ++a) {
      if (gone[rows[a].own] || gone[rows[a].partner]) left_out.push_back(a);
    }
    const std::size_t size = left_out.size();
    if (size == 0 || size == count) return;
    Eigen::MatrixXd block =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size));
    Eigen::VectorXd weights(size);
    Eigen::VectorXd part(size);
    for (std::size_t r = left_out.front(), used = 0; r < count; ++r) {
      const double* const row = root_.row(r);
      if (used < size && left_out[used] == r)
        weights[static_cast<Eigen::Index>(used++)] = weights_[r];
      const auto height = static_cast<Eigen::Index>(used);
      for (std::size_t s = 0; s < used; ++s) part[static_cast<Eigen::Index>(s)] = row[left_out[s]];
      for (Eigen::Index c = 0; c < height; ++c) {
        block.col(c).segment(c, height - c) += part[c] * part.segment(c, height - c);
      }
    }
    const Eigen::LLT<Eigen::MatrixXd> solver(block);
    if (solver.info() != Eigen::Success) return;
    const Eigen::VectorXd off = solver.solve(weights);
    for (std::size_t s = 0; s < size; ++s) {
      if (rows[left_out[s]].own != job && rows[left_out[s]].partner != job) continue;
      Eigen::VectorXd unit = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size));
      unit[static_cast<Eigen::Index>(s)] = 1;
      const double variance = solver.matrixL().solve(unit).squaredNorm();
      score(scores, left_out[s], off[static_cast<Eigen::Index>(s)], variance);
    }
  };
  Scores fresh, strange;
  double worst = 1;
  const std::size_t n = keys_.size();
  const std::size_t step = (n + kMostLeftOut - 1) / kMostLeftOut;
  const std::size_t kind = std::max<std::size_t>(2, (n + kKinds - 1) / kKinds);
  for (std::size_t j = 0; j < n; j += step) {
    leave_out(fresh, j, 1);
    Scores one;
    leave_out(one, j, kind);
    worst = std::max(worst, one.factor());
    strange.share += one.share;
    strange.off.insert(strange.off.end(), one.off.begin(), one.off.end());
  }

  double share = 0;
  const auto add = [&](Factor& to, double factor, double share_sum, double count_of) {
    // Held near a normal's by a few scores that behave; shares rise.
    if (count_of > 0) {
      factor = (factor * count_of + kPriorScores) / (count_of + kPriorScores);
      share = std::max(share, share_sum / count_of);
    }
    to = {share, std::clamp(factor, kLeastFactor, kLargestFactor)};
  };
  add(factors_[0], known.factor(), known.share, known.size());
  add(factors_[1], fresh.factor(), fresh.share, fresh.size());
  add(factors_[2], worst, strange.share, strange.size());
}

// ---- predictions --------------------------------------------------------------------------------

GpBatch GpModel::batch(std::span<const PairJob> jobs) const {
  const std::vector<double>& s = scales_;
  const std::size_t width = mean_.size();
  GpBatch out;
  gp::Model& formula = out.formula;
  formula.own = s[kOwn];
  formula.own_identity = s[kOwnIdentity];
  formula.partner = s[kPartner];
  formula.partner_identity = s[kPartnerIdentity];
  formula.product = s[kProduct];
  formula.product_own = s[kProductOwn];
  formula.product_partner = s[kProductPartner];
  formula.constant = s[kConstant];
  formula.pressures = s[kPressures];
  formula.prior = prior_variance({});
  formula.noise = s[kNoise] + kLeastNoise;
  set_pressures(formula);
  formula.target_mean = target_mean_;
  formula.target_deviation = target_deviation_;
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    formula.share[f] = factors_[f].share;
    formula.factor[f] = factors_[f].factor;
  }
  const std::size_t rows = order_.size();
  formula.rows = static_cast<std::uint32_t>(rows);
  formula.owns = static_cast<std::uint32_t>(owns_.size());
  formula.partners = static_cast<std::uint32_t>(partners_.size());
  formula.features = static_cast<std::uint32_t>(width);
  const auto append = [](std::vector<double>& to, const std::vector<double>& what) {
    to.insert(to.end(), what.begin(), what.end());
  };
  for (const std::uint32_t j : owns_) append(out.own_places, rows_.places[j].x);
  for (const std::uint32_t j : partners_) append(out.partner_places, rows_.places[j].x);
  const auto rates = s.begin() + kLengths;
  out.own_rates.assign(rates, rates + static_cast<std::ptrdiff_t>(width));
  out.partner_rates.assign(rates + static_cast<std::ptrdiff_t>(width), s.end());
  out.first = first_;
  for (const std::uint32_t a : order_) {
    out.own_of.push_back(static_cast<std::uint32_t>(own_column_[rows_.observations[a].own]));
    out.weights.push_back(weights_[a]);
  }
  out.precision = precision_.packed();
  const double w2 = s[kPressures];
  for (std::size_t p = 0; p < kPressureCount; ++p) {
    for (const std::uint32_t a : order_) out.pressed.push_back(2 * w2 * pressed_[p][a]);
    const auto sum = [&](const std::vector<double>& of_row) {
      double total = 0;
      for (std::size_t a = 0; a < rows; ++a) total += rows_.phi[a][p] * of_row[a];
      return total;
    };
    formula.pressure_weights[p] = w2 * sum(weights_);
    for (std::size_t q = 0; q <= p; ++q) {
      formula.pressure_form[p][q] = (p == q ? 1 : 2) * w2 * w2 * sum(pressed_[q]);
    }
  }

  out.count = jobs.size();
  const auto lines = [&](std::size_t count) { return std::vector<double>(count * out.stride, 0); };
  out.stride =
      (jobs.size() + CpuKernels::kPadding - 1) / CpuKernels::kPadding * CpuKernels::kPadding;
  out.x = lines(width);
  out.u = out.t = out.m = lines(1);
  out.own.assign(out.stride, gp::kNew);
  out.line = out.own;
  out.partner = lines(partners_.size());
  out.smooth = out.alone = out.identity = lines(owns_.size());
  std::vector<std::int32_t> line_of(partners_.size(), gp::kNew);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto at = position_.find(jobs[j].workload);
    const bool held = at != position_.end();
    const Place place = held ? rows_.places[at->second] : standardise(raw_place(jobs[j].features));
    for (std::size_t f = 0; f < width; ++f) out.x[f * out.stride + j] = place.x[f];
    out.u[j] = place.load.u;
    out.t[j] = place.load.t;
    out.m[j] = place.load.m;
    if (!held) continue;
    out.own[j] = own_column_[at->second];
    const std::int32_t column = partner_column_[at->second];
    if (column == gp::kNew) continue;
    std::int32_t& line = line_of[static_cast<std::size_t>(column)];
    if (line == gp::kNew) {
      line = static_cast<std::int32_t>(out.known.size());
      out.known.push_back(static_cast<std::uint32_t>(column));
    }
    out.line[j] = line;
  }
  return out;
}

std::shared_ptr<PairFormula> GpModel::formula(std::span<const PairJob> kinds,
                                              std::span<const std::uint32_t> kind_of) const {
  std::vector<PairJob> jobs;
  jobs.reserve(kind_of.size());
  for (const std::uint32_t kind : kind_of) jobs.push_back(kinds[kind]);
  GpBatch batch = this->batch(jobs);
  cpu_kernels().front().gp_describe(batch.model(), batch.jobs(), 0, batch.size());
  return std::make_shared<PairFormula>(PairFormula{std::move(batch)});
}

std::vector<SpeedPrediction> GpModel::predict(std::span<const PairJob> jobs,
                                              std::span<const PairQuery> pairs) const {
  constexpr std::size_t kStates = std::size_t{1} << 20U;  // numbers of slowed jobs at a time
  // Those that are slowed come first.
  constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> position(jobs.size(), kUnused);
  std::vector<PairJob> used;
  const auto use = [&](std::size_t job) {
    if (job >= jobs.size()) refuse("a pair is of a job that is not there");
    if (position[job] != kUnused) return;
    position[job] = used.size();
    used.push_back(jobs[job]);
  };
  for (const PairQuery& pair : pairs) use(pair.of);
  const std::size_t slowed = used.size();
  for (const PairQuery& pair : pairs) use(pair.beside);
  std::vector<std::vector<std::size_t>> of(slowed);  // pairs in which a job is slowed
  for (std::size_t q = 0; q < pairs.size(); ++q) of[position[pairs[q].of]].push_back(q);

  GpBatch batch = this->batch(used);
  const CpuKernels& kernels = cpu_kernels().front();
  const gp::Model model = batch.model();
  const gp::Jobs lines = batch.jobs();
  const gp::Layout layout = batch.layout();
  kernels.gp_describe(model, lines, 0, used.size());
  const std::size_t block =
      std::clamp<std::size_t>(kStates / layout.size(), 1, CpuKernels::kPadding);
  std::vector<double> states(std::min(block, slowed) * layout.size());
  std::vector<double> scratch(CpuKernels::gp_scratch(model, layout));
  std::vector<std::uint32_t> partners;
  std::vector<Slowness> slowness;
  std::vector<SpeedPrediction> out(pairs.size());
  for (std::size_t from = 0; from < slowed; from += block) {
    const std::size_t to = std::min(from + block, slowed);
    kernels.gp_prepare(model, lines, layout, batch.known.data(), from, to - from, states.data(),
                       scratch.data());
    for (std::size_t i = from; i < to; ++i) {
      partners.clear();
      for (const std::size_t q : of[i]) {
        partners.push_back(static_cast<std::uint32_t>(position[pairs[q].beside]));
      }
      slowness.resize(partners.size());
      kernels.gp_slowness(model, lines, layout, i, states.data() + (i - from) * layout.size(),
                          partners.data(), 0, partners.size(), scratch.data(), slowness.data());
      for (std::size_t n = 0; n < of[i].size(); ++n) {
        const auto [t, sd] = slowness[n];
        const double speed = math::speed_of(t);
        out[of[i][n]] = {speed, speed * sd, math::speed_of(t + kHalfWidth90 * sd),
                         math::speed_of(t - kHalfWidth90 * sd)};
      }
    }
  }
  return out;
}

// ---- learning, copies, files --------------------------------------------------------------------

std::unique_ptr<InterferenceModel> GpModel::clone() const {
  return std::make_unique<GpModel>(*this);
}

void GpModel::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  if (!possible(speed_a) || !possible(speed_b)) refuse("a speed is not above 0 and finite");
  // Whatever can fail comes first: a refusal changes nothing.
  const bool copies = a.workload == b.workload && a.workload != kUnknownWorkload;
  std::array<Place, 2> fresh;
  const std::array<const PairJob*, 2> jobs{&a, &b};
  for (std::size_t side = 0; side < 2; ++side) {
    if (!position_.contains(jobs[side]->workload)) {
      fresh[side] = standardise(raw_place(jobs[side]->features));
    }
  }
  if (rows_.observations.size() + 2 > kMostHeld) return;
  if (std::isnan(speed_a) && std::isnan(speed_b)) return;
  std::array<std::uint32_t, 2> at{};
  for (std::size_t side = 0; side < 2; ++side) {
    if (const auto known = position_.find(jobs[side]->workload); known != position_.end()) {
      at[side] = known->second;
      continue;
    }
    at[side] = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(jobs[side]->workload);
    rows_.places.push_back(std::move(fresh[side]));
    know(at[side]);
  }
  const auto add = [&](std::uint32_t own, std::uint32_t partner, double speed) {
    if (std::isnan(speed)) return;
    rows_.observations.push_back(
        {own, partner, (-std::log(speed) - target_mean_) / target_deviation_});
    rows_.phi.push_back(pressures(rows_.places[own].load, rows_.places[partner].load));
    take_in(rows_.observations.size() - 1);
    const std::size_t at_row = sort_in(rows_.observations.size() - 1);
    std::vector<double> line;
    const double* const root = root_.row(rows_.observations.size() - 1);
    for (const std::uint32_t row : order_) line.push_back(root[row]);
    precision_.insert(at_row, line);
  };
  if (copies && !std::isnan(speed_a) && !std::isnan(speed_b)) {
    add(at[0], at[1], speed_a / 2 + speed_b / 2);
  } else {
    add(at[0], at[1], speed_a);
    add(at[1], at[0], speed_b);
  }
}

nlohmann::json GpModel::save() const {
  using model_state::packed;
  std::vector<double> x, load, targets;
  for (const Place& place : rows_.places) {
    x.insert(x.end(), place.x.begin(), place.x.end());
    load.insert(load.end(), {place.load.u, place.load.t, place.load.m});
  }
  std::vector<std::int32_t> own, partner;
  for (const Observation& o : rows_.observations) {
    own.push_back(static_cast<std::int32_t>(o.own));
    partner.push_back(static_cast<std::int32_t>(o.partner));
    targets.push_back(o.target);
  }
  std::vector<double> pressure_moments(pressure_mean_.begin(), pressure_mean_.end());
  pressure_moments.insert(pressure_moments.end(), pressure_deviation_.begin(),
                          pressure_deviation_.end());
  std::vector<double> factors;
  for (const Factor& f : factors_) factors.insert(factors.end(), {f.share, f.factor});
  return {{"mean", packed(mean_)},
          {"deviation", packed(deviation_)},
          {"mean_load", packed(std::vector<double>{mean_load_.u, mean_load_.t, mean_load_.m})},
          {"pressures", packed(pressure_moments)},
          {"target", packed(std::vector<double>{target_mean_, target_deviation_})},
          {"parameters", packed(parameters_)},
          {"factors", packed(factors)},
          {"residual_sigma", packed(std::vector<double>{residual_sigma_})},
          {"x", packed(x)},
          {"load", packed(load)},
          {"own", packed(own)},
          {"partner", packed(partner)},
          {"targets", packed(targets)}};
}

GpModel GpModel::load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads) {
  using model_state::finite_doubles;
  const auto require = [](bool fine, const char* what) {
    if (!fine) refuse(what);
  };
  const auto within = [](const auto& values, double least, double most) {
    return std::all_of(values.begin(), values.end(),
                       [&](double v) { return v >= least && v <= most; });
  };
  model_state::map_of(state, 13, "state of a gp model");
  require(features.size() <= kMostFeatures, "too many features");
  require(workloads.size() <= 2 * kMostHeld, "too many jobs");
  const std::size_t width = expanded_width(features);
  const std::size_t n = workloads.size();
  GpModel m;
  m.features_ = std::move(features);
  m.keys_ = std::move(workloads);

  m.mean_ = finite_doubles(state, "mean", width);
  m.deviation_ = finite_doubles(state, "deviation", width);
  require(within(m.mean_, -kLargestFeature, kLargestFeature) &&
              within(m.deviation_, 0, kLargestFeature),
          "a mean or deviation of a feature is not possible");
  const auto mean_load = finite_doubles(state, "mean_load", 3);
  const auto load = finite_doubles(state, "load", 3 * n);
  require(within(mean_load, 0, 1) && within(load, 0, 1), "a job's load is not possible");
  m.mean_load_ = {mean_load[0], mean_load[1], mean_load[2]};
  const auto pressures = finite_doubles(state, "pressures", 2 * kPressureCount);
  require(within(pressures, 0, 2), "moments of the pressures are not possible");
  std::copy_n(pressures.begin(), kPressureCount, m.pressure_mean_.begin());
  std::copy_n(pressures.begin() + kPressureCount, kPressureCount, m.pressure_deviation_.begin());
  const auto target = finite_doubles(state, "target", 2);
  require(std::fabs(target[0]) <= 1e3 && target[1] > 0 && target[1] <= 1e3,
          "the mean or deviation of the speeds is not possible");
  m.target_mean_ = target[0];
  m.target_deviation_ = target[1];
  m.parameters_ = finite_doubles(state, "parameters", kLengths + 2 * width);
  require(within(m.parameters_, -kLargestParameter, kLargestParameter),
          "a parameter is not possible");
  const auto factors = finite_doubles(state, "factors", 2 * m.factors_.size());
  for (std::size_t f = 0; f < m.factors_.size(); ++f) {
    m.factors_[f] = {factors[2 * f], factors[2 * f + 1]};
    require(m.factors_[f].share >= (f > 0 ? m.factors_[f - 1].share : 0) &&
                m.factors_[f].share <= 1 && m.factors_[f].factor >= kLeastFactor &&
                m.factors_[f].factor <= kLargestFactor,
            "a factor of the deviation is not possible");
  }
  m.residual_sigma_ = finite_doubles(state, "residual_sigma", 1)[0];
  require(m.residual_sigma_ >= 0, "the residual sigma is below 0");

  const auto x = finite_doubles(state, "x", n * width);
  require(within(x, -kFarthest, kFarthest), "a feature of a job is not possible");
  for (std::size_t j = 0; j < n; ++j) {
    const auto from = x.begin() + static_cast<std::ptrdiff_t>(j * width);
    m.rows_.places.push_back({{from, from + static_cast<std::ptrdiff_t>(width)},
                              {load[3 * j], load[3 * j + 1], load[3 * j + 2]}});
  }
  const auto own = model_state::integers(state, "own");
  const auto partner = model_state::integers(state, "partner");
  require(!own.empty() && own.size() <= kMostHeld && partner.size() == own.size(),
          "sizes of the rows do not fit each other");
  const auto there = [&](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < n; };
  require(std::all_of(own.begin(), own.end(), there) &&
              std::all_of(partner.begin(), partner.end(), there),
          "a row is of a job that is not there");
  const auto targets = finite_doubles(state, "targets", own.size());
  require(within(targets, -1e6, 1e6), "a row's target is not possible");
  for (std::size_t a = 0; a < own.size(); ++a) {
    m.rows_.observations.push_back(
        {static_cast<std::uint32_t>(own[a]), static_cast<std::uint32_t>(partner[a]), targets[a]});
    m.rows_.phi.push_back(m.pressures(m.rows_.places[m.rows_.observations[a].own].load,
                                      m.rows_.places[m.rows_.observations[a].partner].load));
  }
  m.hold();
  return m;
}

}  // namespace corun
