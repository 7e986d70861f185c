#include "models/interference/gp_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::gp_model_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Jobs with two rates and three percentages; speeds from these, from effects of single jobs and from noise.
struct Plan {
  std::size_t jobs = 12;
  std::size_t rows = 40;
  double noise = 0.03;
  double own_effects = 0.05;
  bool physical = true;
  std::uint64_t seed = 1;
};

SpeedTable planted(const Plan& plan) {
  Rng rng(plan.seed, Stream::kTest);
  SpeedTable table;
  table.features = {{"rate_a", FeatureScale::kLog}, {"rate_b", FeatureScale::kLog}};
  if (plan.physical) {
    for (const char* name : {"gpu_util_pct", "mem_time_pct", "mem_alloc_pct"}) {
      table.features.push_back({name, FeatureScale::kLinear});
    }
  }
  std::vector<double> size, heavy, own, co_runner;
  for (std::size_t j = 0; j < plan.jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    size.push_back(rng.normal());
    heavy.push_back(rng.uniform());
    own.push_back(plan.own_effects * rng.normal());
    co_runner.push_back(plan.own_effects * rng.normal());
    table.values.push_back(std::exp(2 + size.back()));
    table.values.push_back(std::exp(size.back() + heavy.back()));
    if (plan.physical) {
      table.values.push_back(100 * heavy.back());
      table.values.push_back(80 * heavy.back() * rng.uniform());
      table.values.push_back(60 * rng.uniform());
    }
  }
  const auto log_slowdown = [&](std::size_t i, std::size_t j) {
    return 0.1 + 0.5 * heavy[i] * heavy[j] + 0.05 * std::sin(size[i]) * size[j] + own[i] +
           co_runner[j] + plan.noise * rng.normal();
  };
  for (std::size_t r = 0; r < plan.rows; ++r) {
    const std::uint32_t a = rng.below(static_cast<std::uint32_t>(plan.jobs));
    const std::uint32_t b = rng.below(static_cast<std::uint32_t>(plan.jobs));
    const double speed_a = std::exp(-log_slowdown(a, b));
    const double speed_b = a == b ? speed_a : std::exp(-log_slowdown(b, a));
    table.rows.push_back({a, b, speed_a, speed_b});
  }
  return table;
}

PairJob job_of(const SpeedTable& table, std::size_t j) {
  return {table.jobs[j], {table.of(j), table.features.size()}};
}
PairJob stranger(const SpeedTable& table, std::size_t j) {
  return {kUnknownWorkload, {table.of(j), table.features.size()}};
}

std::vector<PairQuery> every_pair(std::size_t jobs) {
  std::vector<PairQuery> out;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t j = 0; j < jobs; ++j) out.push_back({i, j});
  }
  return out;
}

void expect_same_bits(const std::vector<SpeedPrediction>& a,
                      const std::vector<SpeedPrediction>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t q = 0; q < a.size(); ++q) {
    EXPECT_EQ(a[q].speed, b[q].speed);
    EXPECT_EQ(a[q].sd, b[q].sd);
    EXPECT_EQ(a[q].lo, b[q].lo);
    EXPECT_EQ(a[q].hi, b[q].hi);
  }
}

void expect_sound(const SpeedPrediction& p) {
  EXPECT_TRUE(std::isfinite(p.speed) && std::isfinite(p.sd) && std::isfinite(p.lo) &&
              std::isfinite(p.hi));
  EXPECT_GT(p.speed, 0);
  EXPECT_GT(p.lo, 0);
  EXPECT_LE(p.lo, p.speed);
  EXPECT_LE(p.speed, p.hi);
  EXPECT_GE(p.sd, 0);
}

/// A reference implementation of the header with dense matrices. It learns like the model: moments stay as
/// fitted.
class Naive {
 public:
  explicit Naive(const SpeedTable& table) : features_(table.features) {
    std::map<std::uint32_t, std::size_t> met;
    for (const SpeedTable::Row& row : table.rows) {
      for (const auto& [of, beside, speed] : directions(row)) {
        for (const std::uint32_t j : {of, beside}) {
          if (met.emplace(j, 0).second) raw_.push_back(expand(job_of(table, j).features));
        }
        rows_.push_back({of, beside, -std::log(speed)});
      }
    }
    for (std::size_t f = 0; f < raw_.front().size(); ++f) {
      std::vector<double> column;
      for (const auto& x : raw_) column.push_back(x[f]);
      moments_.push_back(moments(column));
    }
    for (std::size_t j = 0; j < table.jobs.size(); ++j) {
      jobs_.push_back(Job{static_cast<int>(j), standardise(expand(job_of(table, j).features)),
                          loads(job_of(table, j).features)});
    }
    for (std::size_t p = 0; p < 5; ++p) {
      std::vector<double> column;
      for (const Row& row : rows_) {
        column.push_back(raw_pressures(jobs_[row.own], jobs_[row.co_runner])[p]);
      }
      pressure_moments_.push_back(moments(column));
    }
    std::vector<double> t;
    for (const Row& row : rows_) t.push_back(row.t);
    mean_ = moments(t).first;
    double squares = 2 * 0.3 * 0.3;
    for (const double one : t) squares += (one - mean_) * (one - mean_);
    deviation_ = std::sqrt(squares / (static_cast<double>(t.size()) + 2));
  }

  struct Job {
    int id = -1;  ///< -1: unseen
    std::vector<double> x;
    std::array<double, 3> load{};
  };
  Job job(std::span<const double> features, int id = -1) const {
    return {id, standardise(expand(features)), loads(features)};
  }
  std::size_t add_job(std::span<const double> features) {
    jobs_.push_back(job(features, static_cast<int>(jobs_.size())));
    return jobs_.size() - 1;
  }
  void add(std::size_t own, std::size_t co_runner, double speed) {
    rows_.push_back({own, co_runner, -std::log(speed)});
  }
  const Job& known(std::size_t j) const { return jobs_[j]; }
  double deviation() const { return deviation_; }

  struct Posterior {
    double t, latent, prior, noise;  ///< t is not standardised, the variances are
  };
  Posterior predict(const Job& own, const Job& co_runner, const std::vector<double>& p) const {
    const Eigen::MatrixXd k = covariance(p);
    Eigen::VectorXd y(k.rows()), c(k.rows());
    for (Eigen::Index a = 0; a < k.rows(); ++a) {
      const Row& row = rows_[static_cast<std::size_t>(a)];
      y[a] = (row.t - mean_) / deviation_;
      c[a] = between(own, co_runner, jobs_[row.own], jobs_[row.co_runner], p);
    }
    const Eigen::LDLT<Eigen::MatrixXd> solver(k);
    // An identity term is for a job with itself, seen or unseen.
    Job of = own;
    Job beside = co_runner;
    of.id = beside.id = 0;
    const double prior = between(of, beside, of, beside, p);
    return {mean_ + deviation_ * c.dot(solver.solve(y)), prior - c.dot(solver.solve(c)), prior,
            std::exp(p[GpModel::kNoise]) + 1e-4};
  }

  /// Minus the logarithm of the marginal likelihood times the prior.
  double evidence(const std::vector<double>& p) const {
    const Eigen::MatrixXd k = covariance(p);
    Eigen::VectorXd y(k.rows());
    for (Eigen::Index a = 0; a < k.rows(); ++a) {
      y[a] = (rows_[static_cast<std::size_t>(a)].t - mean_) / deviation_;
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(k);
    double log_det = 0;
    for (Eigen::Index a = 0; a < k.rows(); ++a) log_det += std::log(std::fabs(lu.matrixLU()(a, a)));
    return y.dot(lu.solve(y)) / 2 + log_det / 2;
  }

 private:
  struct Row {
    std::size_t own, co_runner;
    double t;
  };
  struct Direction {
    std::uint32_t of, beside;
    double speed;
  };
  static std::vector<Direction> directions(const SpeedTable::Row& row) {
    if (row.a == row.b && !std::isnan(row.speed_a + row.speed_b)) {
      return {{row.a, row.b, row.speed_a / 2 + row.speed_b / 2}};
    }
    std::vector<Direction> out;
    if (!std::isnan(row.speed_a)) out.push_back({row.a, row.b, row.speed_a});
    if (!std::isnan(row.speed_b)) out.push_back({row.b, row.a, row.speed_b});
    return out;
  }
  std::vector<double> expand(std::span<const double> features) const {
    std::vector<double> x, logs;
    for (std::size_t f = 0; f < features.size(); ++f) {
      const bool log = features_[f].scale == FeatureScale::kLog;
      x.push_back(log ? std::log(features[f]) : features[f]);
      if (log) logs.push_back(x.back());
    }
    for (std::size_t i = 0; i < logs.size(); ++i) {
      for (std::size_t j = i + 1; j < logs.size(); ++j) x.push_back(logs[i] - logs[j]);
    }
    return x;
  }
  static std::pair<double, double> moments(const std::vector<double>& column) {
    double sum = 0;
    double count = 0;
    double squares = 0;
    for (const double x : column) {
      if (!std::isnan(x)) sum += x, count += 1;
    }
    const double mean = count > 0 ? sum / count : 0;
    for (const double x : column) {
      if (!std::isnan(x)) squares += (x - mean) * (x - mean);
    }
    return {mean, count > 0 ? std::sqrt(squares / count) : 0};
  }
  static double standard(double x, const std::pair<double, double>& by) {
    if (std::isnan(x) || by.second < 1e-9) return 0;
    return std::clamp((x - by.first) / by.second, -10.0, 10.0);
  }
  std::vector<double> standardise(std::vector<double> x) const {
    for (std::size_t f = 0; f < x.size(); ++f) x[f] = standard(x[f], moments_[f]);
    return x;
  }
  std::array<double, 3> loads(std::span<const double> features) const {
    std::array<double, 3> out{};
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const std::string& name = features_[f].name;
      const double x = (std::isnan(features[f]) ? moments_[f].first : features[f]) / 100;
      if (name == "gpu_util_pct") out[0] = x;
      if (name == "mem_time_pct") out[1] = x;
      if (name == "mem_alloc_pct") out[2] = x;
    }
    return out;
  }
  static std::array<double, 5> raw_pressures(const Job& i, const Job& j) {
    const auto [ui, ti, mi] = i.load;
    const auto [uj, tj, mj] = j.load;
    return {(1 - mi) * ui * (1 - mj) * uj, ti * uj, std::max(0.0, 1 - ui / 0.1) * uj,
            std::max(0.0, ti + tj - 0.5), std::max(0.0, ui + uj - 1)};
  }
  double between(const Job& i, const Job& j, const Job& k, const Job& l,
                 const std::vector<double>& p) const {
    const auto e = [&](std::size_t at) { return std::exp(p[at]); };
    const std::size_t width = i.x.size();
    double own = 0;
    double co_runner = 0;
    for (std::size_t f = 0; f < width; ++f) {
      own += std::pow((i.x[f] - k.x[f]) / e(GpModel::kLengths + f), 2);
      co_runner += std::pow((j.x[f] - l.x[f]) / e(GpModel::kLengths + width + f), 2);
    }
    const double a = std::exp(-own / 2);
    const double b = std::exp(-co_runner / 2);
    const double ik = i.id >= 0 && i.id == k.id ? 1 : 0;
    const double jl = j.id >= 0 && j.id == l.id ? 1 : 0;
    double pressures = 0;
    for (std::size_t q = 0; q < 5; ++q) {
      pressures += standard(raw_pressures(i, j)[q], pressure_moments_[q]) *
                   standard(raw_pressures(k, l)[q], pressure_moments_[q]);
    }
    return e(GpModel::kConstant) + e(GpModel::kOwn) * a + e(GpModel::kOwnIdentity) * ik +
           e(GpModel::kCoRunner) * b + e(GpModel::kCoRunnerIdentity) * jl +
           e(GpModel::kProduct) * (a + e(GpModel::kProductOwn) * ik) *
               (b + e(GpModel::kProductCoRunner) * jl) +
           e(GpModel::kPressures) * pressures;
  }
  Eigen::MatrixXd covariance(const std::vector<double>& p) const {
    const auto size = static_cast<Eigen::Index>(rows_.size());
    Eigen::MatrixXd k(size, size);
    for (Eigen::Index a = 0; a < size; ++a) {
      for (Eigen::Index b = 0; b < size; ++b) {
        const Row& x = rows_[static_cast<std::size_t>(a)];
        const Row& y = rows_[static_cast<std::size_t>(b)];
        k(a, b) = between(jobs_[x.own], jobs_[x.co_runner], jobs_[y.own], jobs_[y.co_runner], p);
      }
      k(a, a) += std::exp(p[GpModel::kNoise]) + 1e-4;
    }
    return k;
  }

  std::vector<SpeedTable::Feature> features_;
  std::vector<std::vector<double>> raw_;
  std::vector<std::pair<double, double>> moments_, pressure_moments_;
  std::vector<Job> jobs_;
  std::vector<Row> rows_;
  double mean_ = 0, deviation_ = 1;
};

std::vector<double> some_parameters(const SpeedTable& table, std::uint64_t seed) {
  Rng rng(seed, Stream::kTest);
  std::vector<double> out;
  const std::size_t count = GpModel::parameter_count(table.features);
  for (std::size_t p = 0; p < count; ++p) {
    out.push_back((p < GpModel::kLengths ? -1.5 : 0.8) + 0.5 * rng.normal());
  }
  return out;
}

/// The factors of the intervals, from the saved state.
double factor_at(const GpModel& model, double share) {
  const auto f = model_state::doubles(model.save(), "factors");  // share, factor; three of them
  if (share <= f[0]) return f[1];
  for (std::size_t at = 2; at < f.size(); at += 2) {
    if (share < f[at]) {
      return f[at - 1] + (share - f[at - 2]) / (f[at] - f[at - 2]) * (f[at + 1] - f[at - 1]);
    }
  }
  return f.back();
}

void expect_posterior(const GpModel& model, const Naive& naive, const PairJob& of,
                      const Naive::Job& naive_of, const PairJob& beside,
                      const Naive::Job& naive_beside) {
  const SpeedPrediction p = model.predict(of, beside);
  const Naive::Posterior q = naive.predict(naive_of, naive_beside, model.parameters());
  EXPECT_NEAR(-std::log(p.speed), q.t, 1e-8);
  const double sd =
      naive.deviation() * factor_at(model, q.latent / q.prior) * std::sqrt(q.latent + q.noise);
  EXPECT_NEAR(p.sd / p.speed, sd, 1e-7);
  EXPECT_NEAR(std::log(p.hi / p.lo), 2 * 1.6448536269514722 * sd, 1e-6);
}

TEST(GpModel, EvidenceIsThatOfTheHeadersCovariance) {
  for (const bool physical : {true, false}) {
    SpeedTable table = planted({.jobs = 6, .rows = 18, .physical = physical});
    table.values[1] = kNaN;
    if (physical) table.values[table.features.size() + 2] = kNaN;
    table.rows[3].speed_a = kNaN;
    const Naive naive(table);
    const std::vector<double> p = some_parameters(table, 1);
    std::vector<double> q = some_parameters(table, 2);
    // The term of the priors, from the same equation at two points, which differ in the noise only.
    const double difference = GpModel::evidence(table, p).value - naive.evidence(p);
    std::vector<double> r = p;
    r[GpModel::kNoise] = std::log(0.05);
    const double center = GpModel::evidence(table, r).value - naive.evidence(r);
    const double off = (p[GpModel::kNoise] - std::log(0.05)) / 1.5;
    EXPECT_NEAR(difference - center, off * off / 2, 1e-8);
    double prior = 0;
    const std::array<double, GpModel::kLengths> medians{0.2, 0.1, 0.2, 0.1, 0.2,
                                                        0.3, 0.3, 0.5, 0.1, 0.05};
    for (std::size_t at = 0; at < q.size(); ++at) {
      const bool length = at >= GpModel::kLengths;
      const double away = (q[at] - std::log(length ? 3 : medians[at])) / (length ? 1 : 1.5);
      prior += away * away / 2;
    }
    EXPECT_NEAR(GpModel::evidence(table, q).value, naive.evidence(q) + prior, 1e-8);
  }
}

TEST(GpModel, GradientIsTheEvidencesSlope) {
  for (const bool physical : {true, false}) {
    SpeedTable table = planted({.jobs = 7, .rows = 30, .physical = physical});
    table.values[0] = kNaN;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<double> p = some_parameters(table, seed);
      const std::vector<double> gradient = GpModel::evidence(table, p).gradient;
      ASSERT_EQ(gradient.size(), p.size());
      for (std::size_t at = 0; at < p.size(); ++at) {
        constexpr double kStep = 1e-5;
        const double here = p[at];
        p[at] = here + kStep;
        const double above = GpModel::evidence(table, p).value;
        p[at] = here - kStep;
        const double below = GpModel::evidence(table, p).value;
        p[at] = here;
        EXPECT_NEAR(gradient[at], (above - below) / (2 * kStep),
                    1e-5 * (1 + std::fabs(gradient[at])))
            << "parameter " << at;
      }
    }
  }
}

TEST(GpModel, FitStandsWhereTheEvidenceIsBest) {
  const SpeedTable table = planted({.jobs = 10, .rows = 60});
  const std::vector<double> p = GpModel::fit(table).parameters();
  const GpModel::Evidence there = GpModel::evidence(table, p);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LT(there.value, GpModel::evidence(table, some_parameters(table, seed)).value);
  }
  for (const double slope : there.gradient) EXPECT_NEAR(slope, 0, 0.5);
}

TEST(GpModel, PosteriorIsThatOfTheHeadersCovariance) {
  SpeedTable table = planted({.jobs = 10, .rows = 45});
  table.values[3] = kNaN;
  const GpModel model = GpModel::fit(table);
  const Naive naive(table);
  for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 1}, {4, 7}, {3, 3}, {9, 2}}) {
    expect_posterior(model, naive, job_of(table, i), naive.known(i), job_of(table, j),
                     naive.known(j));
    // By features only, for one job or both.
    const Naive::Job i_new = naive.job(job_of(table, i).features);
    const Naive::Job j_new = naive.job(job_of(table, j).features);
    expect_posterior(model, naive, stranger(table, i), i_new, job_of(table, j), naive.known(j));
    expect_posterior(model, naive, job_of(table, i), naive.known(i), stranger(table, j), j_new);
    expect_posterior(model, naive, stranger(table, i), i_new, stranger(table, j), j_new);
  }
}

TEST(GpModel, PosteriorWithMoreJobsThanThePairwiseFormIsFor) {
  const SpeedTable table = planted({.jobs = 60, .rows = 35});
  const GpModel model = GpModel::fit(table);
  ASSERT_GT(model.workloads().size() * model.workloads().size(), 16 * model.rows());
  const Naive naive(table);
  for (const SpeedTable::Row& row : std::span(table.rows).first(6)) {
    expect_posterior(model, naive, job_of(table, row.a), naive.known(row.a), job_of(table, row.b),
                     naive.known(row.b));
    expect_posterior(model, naive, stranger(table, row.a), naive.job(job_of(table, row.a).features),
                     job_of(table, row.b), naive.known(row.b));
  }
}

TEST(GpModel, LearningIsConditioningOnOneMoreCoRun) {
  const SpeedTable table = planted({.jobs = 10, .rows = 40});
  GpModel model = GpModel::fit(table);
  Naive naive(table);
  const std::size_t before = model.rows();

  // Known jobs; a new one beside a known one; only one speed; two copies of a new one; no speed.
  model.learn(job_of(table, 1), job_of(table, 2), 0.5, 0.9);
  naive.add(1, 2, 0.5);
  naive.add(2, 1, 0.9);
  const std::vector<double> features{4, 7, 50, 30, 20};
  const PairJob fresh{5000, features};
  model.learn(fresh, job_of(table, 3), 0.4, 0.8);
  const std::size_t number = naive.add_job(features);
  naive.add(number, 3, 0.4);
  naive.add(3, number, 0.8);
  model.learn(job_of(table, 4), fresh, kNaN, 0.45);
  naive.add(number, 4, 0.45);
  const std::vector<double> others{9, kNaN, 10, 5, 2};
  const PairJob copied{5001, others};
  model.learn(copied, copied, 0.6, 0.7);
  const std::size_t copies = naive.add_job(others);
  naive.add(copies, copies, 0.65);
  model.learn(fresh, copied, kNaN, kNaN);
  EXPECT_EQ(model.rows(), before + 6);
  EXPECT_EQ(model.workloads().back(), 5001U);

  for (const std::size_t j : {0U, 2U, 7U}) {
    expect_posterior(model, naive, fresh, naive.known(number), job_of(table, j), naive.known(j));
    expect_posterior(model, naive, job_of(table, j), naive.known(j), fresh, naive.known(number));
    expect_posterior(model, naive, job_of(table, j), naive.known(j), copied, naive.known(copies));
  }
  expect_posterior(model, naive, copied, naive.known(copies), copied, naive.known(copies));
}

TEST(GpModel, RepeatedCoRunsTellItTheSpeedAndHowSureItIs) {
  const SpeedTable table = planted({.jobs = 10, .rows = 40});
  GpModel model = GpModel::fit(table);
  const std::vector<double> features{4, 7, 50, 30, 20};
  const PairJob fresh{5000, features};
  const SpeedPrediction before = model.predict(fresh, job_of(table, 3));
  const SpeedPrediction elsewhere = model.predict(fresh, job_of(table, 5));
  for (int i = 0; i < 10; ++i) {
    model.learn(fresh, job_of(table, 3), before.speed * 0.7, kNaN);
  }
  const SpeedPrediction after = model.predict(fresh, job_of(table, 3));
  EXPECT_LT(std::fabs(after.speed / (before.speed * 0.7) - 1), 0.1);
  EXPECT_LT(after.sd / after.speed, before.sd / before.speed);
  // The job is slow beside other jobs, too.
  EXPECT_LT(model.predict(fresh, job_of(table, 5)).speed, elsewhere.speed);
}

TEST(GpModel, UnknownWorkloadsAreLearntFromButNotFoundAgain) {
  const SpeedTable table = planted({.jobs = 10, .rows = 40});
  GpModel model = GpModel::fit(table);
  const PairJob nobody = stranger(table, 1);
  const std::size_t jobs = model.workloads().size();
  model.learn(nobody, nobody, 0.5, 0.6);
  EXPECT_EQ(model.workloads().size(), jobs + 2);
  EXPECT_EQ(model.workloads().back(), kUnknownWorkload);
  expect_sound(model.predict(nobody, nobody));
}

TEST(GpModel, RefusedLearningChangesNothing) {
  const SpeedTable table = planted({.jobs = 8, .rows = 30});
  GpModel model = GpModel::fit(table);
  const nlohmann::json before = model.save();
  const std::vector<double> bad{4, -7, 50, 30, 20};
  const std::vector<double> few{4};
  const std::vector<double> good{4, 7, 50, 30, 20};
  EXPECT_THROW(model.learn({5000, good}, {5001, bad}, 0.5, 0.5), std::invalid_argument);
  EXPECT_THROW(model.learn({5000, few}, {5001, good}, 0.5, 0.5), std::invalid_argument);
  for (const double speed : {0.0, -1.0, kInfinity}) {
    EXPECT_THROW(model.learn({5000, good}, job_of(table, 1), 0.5, speed), std::invalid_argument);
  }
  EXPECT_EQ(model.save(), before);
}

TEST(GpModel, CopiesLearnOnTheirOwn) {
  const SpeedTable table = planted({.jobs = 8, .rows = 30});
  const GpModel model = GpModel::fit(table);
  const SpeedPrediction before = model.predict(job_of(table, 0), job_of(table, 1));
  const std::unique_ptr<InterferenceModel> copy = model.clone();
  copy->learn(job_of(table, 0), job_of(table, 1), 0.1, 0.1);
  expect_same_bits({model.predict(job_of(table, 0), job_of(table, 1))}, {before});
  EXPECT_LT(copy->predict(job_of(table, 0), job_of(table, 1)).speed, before.speed);
}

TEST(GpModel, TheSameBitsInAnyBatch) {
  for (const std::size_t jobs : {12, 60}) {
    const SpeedTable table = planted({.jobs = jobs, .rows = 35});
    const GpModel model = GpModel::fit(table);
    std::vector<PairJob> asked;
    for (std::size_t j = 0; j < 6; ++j) asked.push_back(job_of(table, j));
    for (std::size_t j = 0; j < 3; ++j) asked.push_back(stranger(table, j));
    const std::vector<PairQuery> pairs = every_pair(asked.size());
    const std::vector<SpeedPrediction> all = model.predict(asked, pairs);
    std::vector<SpeedPrediction> alone;
    for (const PairQuery& pair : pairs) {
      alone.push_back(model.predict(asked[pair.of], asked[pair.beside]));
    }
    expect_same_bits(all, alone);
  }
}

TEST(GpModel, FilesGiveTheSameBits) {
  const SpeedTable table = planted({.jobs = 10, .rows = 40});
  GpModel model = GpModel::fit(table);
  const std::vector<double> features{4, 7, kNaN, 30, 20};
  model.learn({5000, features}, job_of(table, 3), 0.4, 0.8);
  const auto bytes = nlohmann::json::to_cbor(model.save());
  GpModel read =
      GpModel::load(nlohmann::json::from_cbor(bytes), model.features(), model.workloads());
  std::vector<PairJob> jobs{{5000, features}, stranger(table, 4)};
  for (std::size_t j = 0; j < table.jobs.size(); ++j) jobs.push_back(job_of(table, j));
  const std::vector<PairQuery> pairs = every_pair(jobs.size());
  expect_same_bits(read.predict(jobs, pairs), model.predict(jobs, pairs));
  EXPECT_EQ(read.residual_sigma(), model.residual_sigma());
  EXPECT_EQ(read.save(), model.save());
  read.learn(jobs[2], jobs[1], 0.5, 0.6);
  model.learn(jobs[2], jobs[1], 0.5, 0.6);
  expect_same_bits(read.predict(jobs, pairs), model.predict(jobs, pairs));
}

TEST(GpModel, ImpossibleFilesAreRefused) {
  const SpeedTable table = planted({.jobs = 6, .rows = 12});
  const GpModel model = GpModel::fit(table);
  const nlohmann::json good = model.save();
  const auto load = [&](const nlohmann::json& state) {
    return GpModel::load(state, model.features(), model.workloads());
  };
  expect_sound(load(good).predict(job_of(table, 0), job_of(table, 1)));
  EXPECT_THROW(load(nlohmann::json::array()), std::invalid_argument);
  for (const auto& [key, value] : good.items()) {
    nlohmann::json state = good;
    state.erase(key);
    EXPECT_THROW(load(state), std::invalid_argument) << key;
    state["other"] = value;
    EXPECT_THROW(load(state), std::invalid_argument) << key;
    state = good;
    state[key] = "text";
    EXPECT_THROW(load(state), std::invalid_argument) << key;
    if (key == "own" || key == "partner") {
      std::vector<std::int32_t> list = model_state::integers(good, key.c_str());
      for (const std::int32_t bad : {-1, 1000}) {
        list.front() = bad;
        state[key] = model_state::packed(list);
        EXPECT_THROW(load(state), std::invalid_argument) << key;
      }
      list.pop_back();
      state[key] = model_state::packed(list);
      EXPECT_THROW(load(state), std::invalid_argument) << key;
      continue;
    }
    std::vector<double> list = model_state::doubles(good, key.c_str());
    for (const double bad : {kNaN, kInfinity, 1e200, -1e200}) {
      if (key == "residual_sigma" && bad == 1e200) continue;
      std::vector<double> changed = list;
      changed.back() = bad;
      state[key] = model_state::packed(changed);
      EXPECT_THROW(load(state), std::invalid_argument) << key << ' ' << bad;
    }
    list.push_back(0.5);
    state[key] = model_state::packed(list);
    EXPECT_THROW(load(state), std::invalid_argument) << key;
  }
  std::vector<WorkloadKey> twice(model.workloads());
  twice[1] = twice[0];
  EXPECT_THROW(GpModel::load(good, model.features(), twice), std::invalid_argument);
  // Extreme but possible parameters: almost no noise, large effects.
  nlohmann::json state = good;
  std::vector<double> p = model.parameters();
  std::fill(p.begin(), p.begin() + GpModel::kLengths, 30);
  p[GpModel::kNoise] = -30;
  state["parameters"] = model_state::packed(p);
  expect_sound(load(state).predict(job_of(table, 0), stranger(table, 1)));
}

TEST(GpModel, TablesThatAreNotPossibleAreRefused) {
  const auto refused = [](const std::function<void(SpeedTable&)>& spoil) {
    SpeedTable table = planted({.jobs = 6, .rows = 12});
    spoil(table);
    EXPECT_THROW(GpModel::fit(table), std::invalid_argument);
    EXPECT_THROW(GpModel::evidence(table, std::vector<double>(22, 0)), std::invalid_argument);
  };
  refused([](SpeedTable& t) { t.rows.clear(); });
  refused([](SpeedTable& t) {
    for (SpeedTable::Row& row : t.rows) row.speed_a = row.speed_b = kNaN;
  });
  for (const double speed : {0.0, -0.5, kInfinity}) {
    refused([&](SpeedTable& t) { t.rows[2].speed_b = speed; });
  }
  refused([](SpeedTable& t) { t.rows[2].a = 6; });
  refused([](SpeedTable& t) { t.jobs[1] = t.jobs[0]; });
  refused([](SpeedTable& t) { t.values.pop_back(); });
  for (const double feature : {0.0, -1.0, kInfinity}) {
    refused([&](SpeedTable& t) { t.values[t.rows[0].a * t.features.size()] = feature; });
  }
  const SpeedTable table = planted({.jobs = 6, .rows = 12});
  EXPECT_THROW(GpModel::evidence(table, std::vector<double>(3, 0)), std::invalid_argument);
  const GpModel model = GpModel::fit(table);
  const std::vector<double> few{1};
  EXPECT_THROW(model.predict({kUnknownWorkload, few}, job_of(table, 0)), std::invalid_argument);
  const std::vector<PairJob> jobs{job_of(table, 0)};
  const std::vector<PairQuery> pairs{{0, 1}};
  EXPECT_THROW(model.predict(jobs, pairs), std::invalid_argument);
}

TEST(GpModel, FewAndStrangeRowsGiveSoundPredictions) {
  std::vector<SpeedTable> tables;
  tables.push_back(planted({.jobs = 2, .rows = 1}));
  tables.push_back(planted({.jobs = 1, .rows = 1}));
  tables.push_back(planted({.jobs = 1, .rows = 20}));
  tables.push_back(planted({.jobs = 6, .rows = 10}));
  tables.push_back(planted({.jobs = 6, .rows = 60, .noise = 0}));
  tables.push_back(planted({.jobs = 6, .rows = 30}));  // identical jobs
  for (std::size_t f = 0; f < tables.back().values.size(); ++f) tables.back().values[f] = 3;
  tables.push_back(planted({.jobs = 6, .rows = 30}));  // nothing known
  std::fill(tables.back().values.begin(), tables.back().values.end(), kNaN);
  tables.push_back(planted({.jobs = 6, .rows = 30}));  // no features
  tables.back().features.clear();
  tables.back().values.clear();
  tables.push_back(planted({.jobs = 6, .rows = 30}));  // huge and tiny
  tables.back().values[0] = 1e100;
  tables.back().values[5] = 1e-100;
  tables.back().values[2] = 1e100;
  tables.push_back(planted({.jobs = 6, .rows = 30}));
  tables.back().rows[0].speed_a = 1e-300;
  tables.back().rows[1].speed_b = 1e300;
  tables.push_back(planted({.jobs = 6, .rows = 30}));  // all the same speed
  for (SpeedTable::Row& row : tables.back().rows) row.speed_a = row.speed_b = 0.8;
  for (const SpeedTable& table : tables) {
    GpModel model = GpModel::fit(table);
    EXPECT_TRUE(std::isfinite(model.residual_sigma()));
    EXPECT_GE(model.residual_sigma(), 0);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < table.jobs.size(); ++i) {
        expect_sound(model.predict(job_of(table, i), job_of(table, 0)));
        expect_sound(model.predict(stranger(table, 0), stranger(table, i)));
      }
      model.learn(job_of(table, 0), stranger(table, 0), 0.5, 0.6);
    }
  }
}

TEST(GpModel, OneRowPromisesNothing) {
  const SpeedTable table = planted({.jobs = 2, .rows = 1});
  const GpModel model = GpModel::fit(table);
  const std::vector<double> features{400, 0.01, 90, 80, 10};
  const SpeedPrediction p = model.predict({kUnknownWorkload, features}, job_of(table, 0));
  EXPECT_GT(p.hi / p.lo, 1.3);
}

TEST(GpModel, SameSeedSameBytes) {
  const SpeedTable table = planted({.jobs = 20, .rows = 120});
  const double drawn = test::kLittleEffort * GpModel::kHyperRows;
  ASSERT_GT(2 * table.rows.size(), drawn) << "so that rows are drawn";
  const auto saved = [&](std::uint64_t seed, int threads) {
    return GpModel::fit(table, {.seed = seed, .threads = threads, .effort = test::kLittleEffort})
        .save();
  };
  EXPECT_EQ(saved(3, 1), saved(3, 2));
  EXPECT_NE(saved(3, 1), saved(4, 1));
}

/// Errors of log-speeds relative to those of a constant, and the share within the interval.
struct Quality {
  double error = 0, constant = 0, covered = 0;
};
Quality quality(const GpModel& model, const SpeedTable& table, std::size_t from, bool by_key) {
  Quality out;
  double mean = 0;
  for (std::size_t r = from; r < table.rows.size(); ++r) mean -= std::log(table.rows[r].speed_a);
  mean /= static_cast<double>(table.rows.size() - from);
  double count = 0;
  for (std::size_t r = from; r < table.rows.size(); ++r) {
    const SpeedTable::Row& row = table.rows[r];
    const SpeedPrediction p = model.predict(by_key ? job_of(table, row.a) : stranger(table, row.a),
                                            by_key ? job_of(table, row.b) : stranger(table, row.b));
    out.error += std::fabs(std::log(p.speed / row.speed_a));
    out.constant += std::fabs(mean + std::log(row.speed_a));
    out.covered += row.speed_a >= p.lo && row.speed_a <= p.hi ? 1 : 0;
    count += 1;
  }
  out.covered /= count;
  return out;
}

TEST(GpModel, PredictsPairsAndJobsNeverSeenAndKnowsHowWell) {
  double known = 0;
  double fresh = 0;
  constexpr int kTables = 4;
  for (int table = 0; table < kTables; ++table) {
    // The first rows are fitted; the second half has the same jobs, or jobs that the fit has not seen.
    SpeedTable all =
        planted({.jobs = 24, .rows = 900, .seed = 10 + static_cast<std::uint64_t>(table)});
    SpeedTable train = all;
    train.rows.clear();
    SpeedTable same = all;
    same.rows.clear();
    SpeedTable other = all;
    other.rows.clear();
    for (const SpeedTable::Row& row : all.rows) {
      if (row.a == row.b) continue;
      const bool unmet = row.a >= 16 || row.b >= 16;
      if (!unmet) (train.rows.size() < 120 ? train : same).rows.push_back(row);
      if (row.a >= 16 && row.b >= 16) other.rows.push_back(row);
    }
    const GpModel model = GpModel::fit(train);
    const Quality on_known = quality(model, same, 0, true);
    const Quality on_fresh = quality(model, other, 0, true);
    EXPECT_LT(on_known.error, 0.5 * on_known.constant);
    EXPECT_LT(on_fresh.error, 0.9 * on_fresh.constant);
    // The key tells more than the features.
    EXPECT_LT(on_known.error, quality(model, same, 0, false).error);
    known += on_known.covered / kTables;
    fresh += on_fresh.covered / kTables;
  }
  EXPECT_GT(known, 0.85);
  EXPECT_LT(known, 0.97);
  EXPECT_GT(fresh, 0.8);
}

TEST(GpModel, ResidualScatterFollowsTheNoise) {
  const double little =
      GpModel::fit(planted({.jobs = 10, .rows = 80, .noise = 0.01})).residual_sigma();
  const double much =
      GpModel::fit(planted({.jobs = 10, .rows = 80, .noise = 0.1})).residual_sigma();
  EXPECT_GT(little, 0);
  EXPECT_GT(much, 2 * little);
}

}  // namespace
}  // namespace corun::gp_model_test
