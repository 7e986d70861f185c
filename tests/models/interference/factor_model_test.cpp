#include "models/interference/factor_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::factor_model_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Short chains, which are enough for these tests.
FactorOptions quick() {
  FactorOptions options;
  options.chains_per_kind = 1;
  options.sweeps = 240;
  options.burn_in = 80;
  options.keep_every = 2;
  return options;
}

/// A table drawn from the equation of the model: t_ij = level + size (a_i + b_j + u_i . v_j) + noise. Two
/// features on a log scale explain a share of the factors (`explained`, 0 to 1).
struct Planted {
  SpeedTable table;  ///< some pairs
  std::size_t jobs = 0;
  std::vector<double> t;  ///< without noise, jobs x jobs
  double noise = 0;

  double log_slowdown(std::size_t of, std::size_t beside) const { return t[of * jobs + beside]; }
  PairJob known(std::size_t job) const {
    return {table.jobs[job], {table.of(job), table.features.size()}};
  }
  PairJob by_features(std::size_t job) const {
    return {kUnknownWorkload, {table.of(job), table.features.size()}};
  }
};

struct Plan {
  std::size_t jobs = 24;
  double share = 0.4;  ///< of the pairs that are measured
  double explained = 0.5;
  double noise = 0.04;
  std::size_t hidden = 0;  ///< number of last jobs without a measured pair
};

Planted planted(const Plan& plan, std::uint64_t seed) {
  constexpr std::size_t kDirections = 2;
  constexpr double kSize = 0.12;
  Rng rng(seed, Stream::kTest);
  Planted out;
  out.jobs = plan.jobs;
  out.noise = plan.noise;
  out.table.features = {{"sm", FeatureScale::kLog}, {"memory", FeatureScale::kLog}};
  std::vector<std::vector<double>> w;  // a, b, u, v
  constexpr std::size_t kFactors = 2 + 2 * kDirections;
  std::vector<double> slope(2 * kFactors);
  for (double& one : slope) one = rng.normal();
  for (std::size_t j = 0; j < plan.jobs; ++j) {
    const double x = rng.normal();
    const double y = rng.normal();
    out.table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    out.table.values.push_back(std::exp(x));
    out.table.values.push_back(std::exp(3 + y));
    w.emplace_back();
    for (std::size_t f = 0; f < kFactors; ++f) {
      const double from_features = (slope[2 * f] * x + slope[2 * f + 1] * y) / std::sqrt(2.0);
      w.back().push_back(std::sqrt(plan.explained) * from_features +
                         std::sqrt(1 - plan.explained) * rng.normal());
    }
  }
  for (std::size_t i = 0; i < plan.jobs; ++i) {
    for (std::size_t j = 0; j < plan.jobs; ++j) {
      double r = w[i][0] + w[j][1];
      for (std::size_t d = 0; d < kDirections; ++d) r += w[i][2 + d] * w[j][2 + kDirections + d];
      out.t.push_back(0.5 + kSize * r);
    }
  }
  for (std::uint32_t i = 0; i + plan.hidden < plan.jobs; ++i) {
    for (std::uint32_t j = i; j + plan.hidden < plan.jobs; ++j) {
      if (rng.uniform() >= plan.share) continue;
      const double a = std::exp(-out.log_slowdown(i, j) - plan.noise * rng.normal());
      const double b = std::exp(-out.log_slowdown(j, i) - plan.noise * rng.normal());
      out.table.rows.push_back({i, j, a, b});
    }
  }
  return out;
}

/// Ordered pairs of seen jobs that were not measured with each other.
std::vector<PairQuery> unmeasured(const Planted& p, std::size_t hidden = 0) {
  std::vector<bool> met(p.jobs * p.jobs);
  for (const SpeedTable::Row& row : p.table.rows) {
    met[row.a * p.jobs + row.b] = met[row.b * p.jobs + row.a] = true;
  }
  std::vector<PairQuery> out;
  for (std::size_t i = 0; i + hidden < p.jobs; ++i) {
    for (std::size_t j = 0; j + hidden < p.jobs; ++j) {
      if (i != j && !met[i * p.jobs + j]) out.push_back({i, j});
    }
  }
  return out;
}

std::vector<PairJob> all_known(const Planted& p) {
  std::vector<PairJob> out;
  for (std::size_t j = 0; j < p.jobs; ++j) out.push_back(p.known(j));
  return out;
}

double root_mean_square(const std::vector<double>& errors) {
  double sum = 0;
  for (const double e : errors) sum += e * e;
  return std::sqrt(sum / static_cast<double>(errors.size()));
}

void expect_sound(const SpeedPrediction& p) {
  for (const double v : {p.speed, p.sd, p.lo, p.hi}) ASSERT_TRUE(std::isfinite(v));
  EXPECT_GT(p.lo, 0);
  EXPECT_LE(p.lo, p.speed);
  EXPECT_LE(p.speed, p.hi);
  EXPECT_GT(p.sd, 0);
}

bool same_bits(const SpeedPrediction& a, const SpeedPrediction& b) {
  return a.speed == b.speed && a.sd == b.sd && a.lo == b.lo && a.hi == b.hi;
}

double width(const SpeedPrediction& p) { return std::log(p.hi / p.lo); }

TEST(FactorModel, RecoversALowRankTableBetterThanRowAndColumnMeans) {
  std::vector<double> of_model;
  std::vector<double> of_means;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Planted p = planted({}, seed);
    const FactorModel model = FactorModel::fit(p.table, quick());
    // t = level + a_i + b_j by alternating means.
    std::vector<double> a(p.jobs);
    std::vector<double> b(p.jobs);
    for (int sweep = 0; sweep < 50; ++sweep) {
      for (const bool rows : {true, false}) {
        std::vector<double> sum(p.jobs);
        std::vector<double> count(p.jobs);
        const auto add = [&](std::size_t of, std::size_t beside, double speed) {
          sum[rows ? of : beside] += -std::log(speed) - (rows ? b[beside] : a[of]);
          count[rows ? of : beside] += 1;
        };
        for (const SpeedTable::Row& row : p.table.rows) {
          add(row.a, row.b, row.speed_a);
          add(row.b, row.a, row.speed_b);
        }
        for (std::size_t j = 0; j < p.jobs; ++j) {
          (rows ? a : b)[j] = count[j] > 0 ? sum[j] / count[j] : 0;
        }
      }
    }
    const auto pairs = unmeasured(p);
    const auto predicted = model.predict(all_known(p), pairs);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      const double truth = p.log_slowdown(pairs[q].of, pairs[q].beside);
      of_model.push_back(-std::log(predicted[q].speed) - truth);
      of_means.push_back(a[pairs[q].of] + b[pairs[q].beside] - truth);
    }
  }
  EXPECT_LT(root_mean_square(of_model), 0.6 * root_mean_square(of_means))
      << root_mean_square(of_model) << " " << root_mean_square(of_means);
}

/// Errors for hidden jobs beside seen ones, and the mean width of the intervals.
struct Unseen {
  double error = 0;
  double of_mean = 0;  ///< error of predicting the mean of all speeds
  double width = 0;
  double known_width = 0;
};

Unseen unseen(double explained) {
  std::vector<double> errors;
  std::vector<double> of_mean;
  Unseen out;
  double count = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Plan plan{32, 0.5, explained, 0.04, 6};
    const Planted p = planted(plan, seed);
    const FactorModel model = FactorModel::fit(p.table, quick());
    double mean = 0;
    for (const SpeedTable::Row& r : p.table.rows) mean -= std::log(r.speed_a * r.speed_b) / 2;
    mean /= static_cast<double>(p.table.rows.size());
    for (std::size_t i = p.jobs - plan.hidden; i < p.jobs; ++i) {
      EXPECT_FALSE(model.knows(p.table.jobs[i]));
      for (std::size_t j = 0; j + plan.hidden < p.jobs; ++j) {
        const SpeedPrediction s = model.predict(p.by_features(i), p.known(j));
        expect_sound(s);
        errors.push_back(-std::log(s.speed) - p.log_slowdown(i, j));
        of_mean.push_back(mean - p.log_slowdown(i, j));
        out.width += width(s);
        out.known_width += width(model.predict(p.known(j), p.known((j + 1) % 20)));
        count += 1;
      }
    }
  }
  out.error = root_mean_square(errors);
  out.of_mean = root_mean_square(of_mean);
  out.width /= count;
  out.known_width /= count;
  return out;
}

TEST(FactorModel, AJobNeverSeenIsPredictedFromFeaturesThatMatter) {
  const Unseen u = unseen(0.95);
  EXPECT_LT(u.error, 0.6 * u.of_mean) << u.error << " " << u.of_mean;
}

TEST(FactorModel, AJobNeverSeenFallsBackToTheMeanWhereFeaturesSayNothing) {
  const Unseen u = unseen(0);
  // The factors of its co-runner are known, so the error may be below that of the mean, but hardly above.
  EXPECT_LT(u.error, 1.15 * u.of_mean) << u.error << " " << u.of_mean;
  EXPECT_GT(u.width, 1.5 * u.known_width);
  EXPECT_GT(u.width, 2 * u.error);
}

TEST(FactorModel, IntervalsHoldWhatTheyPromise) {
  int inside_seen = 0;
  int seen = 0;
  int inside_new = 0;
  int fresh = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const Plan plan{22, 0.4, 0.6, 0.05, 4};
    const Planted p = planted(plan, seed);
    const FactorModel model = FactorModel::fit(p.table, quick());
    Rng rng(seed, Stream::kTest, 99);
    const auto measured = [&](std::size_t i, std::size_t j) {
      return std::exp(-p.log_slowdown(i, j) - plan.noise * rng.normal());
    };
    const auto jobs = all_known(p);
    for (const auto& [i, j] : unmeasured(p, plan.hidden)) {
      const SpeedPrediction s = model.predict(jobs[i], jobs[j]);
      const double y = measured(i, j);
      inside_seen += s.lo <= y && y <= s.hi ? 1 : 0;
      ++seen;
    }
    for (std::size_t i = p.jobs - plan.hidden; i < p.jobs; ++i) {
      for (std::size_t j = 0; j + plan.hidden < p.jobs; ++j) {
        for (const bool of : {true, false}) {
          const SpeedPrediction s = of ? model.predict(p.by_features(i), jobs[j])
                                       : model.predict(jobs[j], p.by_features(i));
          const double y = of ? measured(i, j) : measured(j, i);
          inside_new += s.lo <= y && y <= s.hi ? 1 : 0;
          ++fresh;
        }
      }
    }
  }
  // Errors of pairs of one job are correlated. With 20 (seen) and 2 (new) independent pairs per job, three
  // standard errors of 90 % are 0.011 and 0.08.
  EXPECT_NEAR(inside_seen / double(seen), 0.90, 0.05) << seen;
  EXPECT_NEAR(inside_new / double(fresh), 0.90, 0.08) << fresh;
}

TEST(FactorModel, AJobUnlikeAnySeenIsLessCertainByWhatTheKernelFeaturesLeave) {
  const Planted p = planted({.explained = 0.9}, 11);
  const FactorModel model = FactorModel::fit(p.table, quick());
  // The same with a prior under which the process keeps its mean everywhere.
  FactorModel::State rigid = model.state();
  for (FactorModel::Sample& sample : rigid.samples) sample.strength = 1e12F;
  const FactorModel without = FactorModel::from(std::move(rigid));
  const auto wider = [&](std::vector<double> features) {
    const PairJob stranger{kUnknownWorkload, features};
    const SpeedPrediction with_it = model.predict(stranger, p.known(0));
    const SpeedPrediction without_it = without.predict(stranger, p.known(0));
    EXPECT_EQ(with_it.speed, without_it.speed);
    return std::log(with_it.hi / with_it.lo) / std::log(without_it.hi / without_it.lo);
  };
  EXPECT_NEAR(wider({p.table.of(3)[0], p.table.of(3)[1]}), 1, 0.01);
  EXPECT_GT(wider({std::exp(-6.0), std::exp(3 + 6.0)}), 1.02);
}

TEST(FactorModel, WhatIsMeasuredOfAJobNarrowsItsInterval) {
  Planted p = planted({24, 0.5, 0.3, 0.03, 1}, 3);
  const std::uint32_t job = 23;
  std::vector<double> widths;
  for (const std::uint32_t rows : {0U, 2U, 6U, 14U}) {
    SpeedTable table = p.table;
    for (std::uint32_t j = 0; j < rows; ++j) {
      table.rows.push_back(
          {job, j, std::exp(-p.log_slowdown(job, j)), std::exp(-p.log_slowdown(j, job))});
    }
    const FactorModel model = FactorModel::fit(table, quick());
    EXPECT_EQ(model.knows(table.jobs[job]), rows > 0);
    double sum = 0;
    for (std::size_t j = 14; j < 23; ++j) {
      sum += width(model.predict({p.table.jobs[job], {p.table.of(job), 2}}, p.known(j)));
    }
    widths.push_back(sum / 9);
  }
  EXPECT_LT(widths[1], 0.95 * widths[0]);
  EXPECT_LT(widths[2], 0.95 * widths[1]);
  EXPECT_LT(widths[3], widths[2]);
}

TEST(FactorModel, SameBytesForAnyNumberOfThreadsAndAgain) {
  const Planted p = planted({}, 5);
  FactorOptions options = quick();
  options.effort = 0.25;
  options.chains = {{8, 0.03}, {8, 0.1}, {3, 0.1}, {1, 0.5}};
  const FactorModel::State once = FactorModel::fit(p.table, options).state();
  EXPECT_EQ(once.samples.size(), 4U * 20U);
  for (const int threads : {1, 2, 4}) {
    options.threads = threads;
    EXPECT_EQ(FactorModel::fit(p.table, options).state(), once) << threads;
  }
  options.seed = 2;
  EXPECT_FALSE(FactorModel::fit(p.table, options).state() == once);
}

/// The disagreement of two fits: root mean square difference of log(speed) over all unmeasured pairs,
/// relative to the mean half-width of the intervals.
double disagreement(const Planted& p, const FactorModel& a, const FactorModel& b) {
  const auto pairs = unmeasured(p);
  const auto of_a = a.predict(all_known(p), pairs);
  const auto of_b = b.predict(all_known(p), pairs);
  std::vector<double> errors;
  double half = 0;
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    errors.push_back(std::log(of_a[q].speed / of_b[q].speed));
    half += width(of_a[q]) / 2;
  }
  return root_mean_square(errors) / (half / static_cast<double>(pairs.size()));
}

TEST(FactorModel, CopiesOfAChainAgreeMoreFromSeedToSeed) {
  const Planted p = planted({}, 6);
  const auto by_chance = [&](int chains) {
    std::vector<double> all;
    for (const std::uint64_t seed : {1, 3, 5, 7}) {
      FactorOptions options = quick();
      options.chains_per_kind = chains;
      options.seed = seed;
      const FactorModel one = FactorModel::fit(p.table, options);
      options.seed = seed + 1;
      all.push_back(disagreement(p, one, FactorModel::fit(p.table, options)));
    }
    return root_mean_square(all);
  };
  EXPECT_LT(by_chance(8), 0.7 * by_chance(1));
}

TEST(FactorModel, TheFewerRowsTheMoreCopiesWhichShareTheSamples) {
  FactorOptions options = quick();
  options.sweeps = 14;
  options.burn_in = 6;
  options.keep_every = 1;
  const auto state = [&](std::size_t pairs, int chains) {
    Plan plan;
    plan.jobs = 60;
    SpeedTable table = planted(plan, 2).table;
    EXPECT_GE(table.rows.size(), pairs);
    table.rows.resize(pairs);
    options.chains_per_kind = chains;
    return FactorModel::fit(table, options).state();
  };
  for (const auto& [pairs, chains] :
       std::vector<std::pair<std::size_t, int>>{{20, 4}, {125, 4}, {250, 4}, {500, 2}, {560, 1}}) {
    EXPECT_EQ(state(pairs, 0), state(pairs, chains)) << pairs;
    EXPECT_EQ(state(pairs, 0).predicting, 8U) << pairs;
  }
  EXPECT_FALSE(state(20, 0) == state(20, 1));
}

TEST(FactorModel, EffortScalesSweepsAndCopiesAndLeavesTwoSamplesOfAChain) {
  const SpeedTable table = planted({}, 2).table;
  const auto samples = [&](double effort) {
    FactorOptions options;
    options.effort = effort;
    return FactorModel::fit(table, options).state();
  };
  FactorOptions usual;
  usual.sweeps = 50;
  usual.burn_in = 17;
  usual.chains_per_kind = 1;
  EXPECT_EQ(samples(0.1), FactorModel::fit(table, usual).state());
  EXPECT_EQ(samples(0.001).samples.size(), 4U);
  EXPECT_EQ(samples(0.001).predicting, 2U);
}

TEST(FactorModel, OrderOfRowsAndJobsDoesNotMatter) {
  const Planted p = planted({}, 6);
  FactorOptions options = quick();
  options.sweeps = 600;  // of the two chains only the first predicts
  const FactorModel model = FactorModel::fit(p.table, options);
  FactorOptions other = options;
  other.seed = 2;
  const double monte_carlo = disagreement(p, model, FactorModel::fit(p.table, other));

  SpeedTable rows = p.table;
  Rng rng(1, Stream::kTest, 7);
  rng.shuffle(std::span(rows.rows));
  for (SpeedTable::Row& r : rows.rows) {
    if (rng.uniform() < 0.5) r = {r.b, r.a, r.speed_b, r.speed_a};
  }
  SpeedTable jobs = p.table;  // the last job first
  const auto n = static_cast<std::uint32_t>(p.jobs);
  for (std::uint32_t j = 0; j < n; ++j) {
    jobs.jobs[j] = p.table.jobs[n - 1 - j];
    for (std::size_t f = 0; f < 2; ++f) jobs.values[2 * j + f] = p.table.of(n - 1 - j)[f];
  }
  for (SpeedTable::Row& r : jobs.rows) r = {n - 1 - r.a, n - 1 - r.b, r.speed_a, r.speed_b};

  EXPECT_LT(monte_carlo, 0.2);
  EXPECT_LT(disagreement(p, model, FactorModel::fit(rows, options)), 2 * monte_carlo);
  EXPECT_LT(disagreement(p, model, FactorModel::fit(jobs, options)), 2 * monte_carlo);
}

TEST(FactorModel, ManyAtATimeAndOneByOneAreTheSameBits) {
  const Planted p = planted({20, 0.4, 0.5, 0.04, 4}, 7);
  FactorOptions options = quick();
  options.chains = {{8, 0.03}, {2, 0.1}};
  const FactorModel model = FactorModel::fit(p.table, options);
  std::vector<PairJob> jobs;
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < p.jobs; ++i) {
    jobs.push_back({p.table.jobs[i], {p.table.of(i), 2}});
    for (std::size_t j = 0; j < p.jobs; ++j) pairs.push_back({i, j});
  }
  const auto all = model.predict(jobs, pairs);
  ASSERT_EQ(all.size(), pairs.size());
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    EXPECT_TRUE(same_bits(all[q], model.predict(jobs[pairs[q].of], jobs[pairs[q].beside]))) << q;
  }
  EXPECT_TRUE(model.predict(jobs, std::vector<PairQuery>{}).empty());
  EXPECT_THROW(model.predict(jobs, std::vector<PairQuery>{{0, p.jobs}}), std::invalid_argument);
}

/// Jobs that are fastest or slowest beside themselves, including copies of an unseen job.
TEST(FactorModel, AJobBesideACopyOfItselfIsNotAJobBesideAnotherLikeIt) {
  const std::size_t n = 40;
  SpeedTable table;
  Rng rng(1, Stream::kTest);
  std::vector<double> kind;
  for (std::uint32_t j = 0; j < n; ++j) {
    table.jobs.push_back(j);
    kind.push_back(rng.uniform() < 0.5 ? -1 : 1);
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = i; j < n; ++j) {
      if (rng.uniform() >= 0.5) continue;
      const double t = 0.5 + 0.3 * kind[i] * kind[j];  // larger for two jobs of one kind
      table.rows.push_back({i, j, std::exp(-t), std::exp(-t)});
    }
  }
  const FactorModel model = FactorModel::fit(table, quick());
  const PairJob one{n + 1, {}};
  const PairJob other{n + 2, {}};
  const double beside_other = model.predict(one, other).speed;
  const double beside_itself = model.predict(one, one).speed;
  EXPECT_NEAR(-std::log(beside_other), 0.5, 0.12);
  EXPECT_NEAR(-std::log(beside_itself), 0.8, 0.12);
  EXPECT_NEAR(-std::log(model.predict({0, {}}, {0, {}}).speed), 0.8, 0.1);
}

TEST(FactorModel, StateGivesTheSameModelBack) {
  const Planted p = planted({}, 8);
  const FactorModel model = FactorModel::fit(p.table, quick());
  const FactorModel again = FactorModel::from(model.state());
  EXPECT_EQ(again.state(), model.state());
  EXPECT_EQ(again.jobs(), p.jobs);
  EXPECT_EQ(again.features(), p.table.features);
  for (std::size_t i = 0; i < 5; ++i) {
    for (const PairJob& of : {p.known(i), p.by_features(i)}) {
      EXPECT_TRUE(same_bits(model.predict(of, p.known(7)), again.predict(of, p.known(7))));
    }
  }
}

TEST(FactorModel, UnitsOfAFeatureOnALogScaleDoNotMatter) {
  const Planted p = planted({}, 9);
  SpeedTable scaled = p.table;
  for (std::size_t j = 0; j < p.jobs; ++j) scaled.values[2 * j + 1] *= 1024;
  const FactorModel a = FactorModel::fit(p.table, quick());
  const FactorModel b = FactorModel::fit(scaled, quick());
  for (const auto& [i, j] : unmeasured(p)) {
    EXPECT_NEAR(a.predict(p.known(i), p.known(j)).speed, b.predict(p.known(i), p.known(j)).speed,
                1e-6);
    const PairJob in_other_unit{kUnknownWorkload, {scaled.of(i), 2}};
    EXPECT_NEAR(a.predict(p.by_features(i), p.known(j)).speed,
                b.predict(in_other_unit, p.known(j)).speed, 1e-6);
  }
}

/// For every table: no NaN, and valid intervals for seen and new jobs.
void expect_sound_everywhere(const SpeedTable& table, const FactorOptions& options) {
  const FactorModel model = FactorModel::fit(table, options);
  const std::size_t f = table.features.size();
  const std::vector<double> ones(f, 1.0);
  const std::vector<double> lacking(f, kNaN);
  const std::vector<double> vast(f, 1e99);
  const std::vector<double> tiny(f, 1e-99);
  std::vector<PairJob> jobs;
  for (const auto* x : {&ones, &lacking, &vast, &tiny}) jobs.push_back({kUnknownWorkload, *x});
  for (std::size_t j = 0; j < std::min<std::size_t>(table.jobs.size(), 4); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), f}});
  }
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t j = 0; j < jobs.size(); ++j) pairs.push_back({i, j});
  }
  for (const SpeedPrediction& p : model.predict(jobs, pairs)) expect_sound(p);
}

TEST(FactorModel, IsSoundWhereThereIsLittleToLearnFrom) {
  const std::vector<SpeedTable::Feature> two{{"util", FeatureScale::kLinear},
                                             {"rate", FeatureScale::kLog}};
  const std::map<std::string, SpeedTable> tables{
      {"one speed", {two, {1, 2}, {10, 3, 20, 4}, {{0, 1, 0.5, kNaN}}}},
      {"one job", {two, {1}, {10, 3}, {{0, 0, 0.5, 0.6}}}},
      {"no features", {{}, {1, 2}, {}, {{0, 1, 0.5, 0.9}}}},
      {"same rows", {two, {1, 2}, {10, 3, 20, 4}, {{0, 1, 0.5, 0.5}, {0, 1, 0.5, 0.5}}}},
      {"same jobs", {two, {1, 2, 3}, {10, 3, 10, 3, 10, 3}, {{0, 1, 0.5, 0.6}, {1, 2, 0.4, 0.6}}}},
      // The mean of 0.1 is rounded: values that differ by rounding count as equal.
      {"constant features",
       {two,
        {1, 2, 3},
        {0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
        {{0, 1, 0.5, 0.6}, {1, 2, 0.4, 0.6}, {0, 2, 0.4, 0.3}}}},
      {"features never known", {two, {1, 2}, {kNaN, kNaN, kNaN, kNaN}, {{0, 1, 0.5, 0.9}}}},
      {"vast features", {two, {1, 2}, {1e100, 1e100, -1e100, 1e-300}, {{0, 1, 0.5, 0.9}}}},
      {"extreme speeds",
       {two, {1, 2}, {1, 2, 3, 4}, {{0, 1, 1e-300, 1e300}, {0, 0, 1e300, 1e300}}}},
      {"unknown workloads",
       {two, {kUnknownWorkload, kUnknownWorkload}, {1, 2, 3, 4}, {{0, 1, 0.5, 0.9}}}}};
  for (const auto& [name, table] : tables) {
    SCOPED_TRACE(name);
    for (const int rank : {1, 8, 20}) {
      FactorOptions options = quick();
      options.effort = test::kLittleEffort;
      options.chains = {{rank, 0.03}, {rank, 1e-6}, {rank, 10}};
      expect_sound_everywhere(table, options);
    }
  }
  // One speed, or two equal ones, give little certainty.
  for (const char* few : {"one speed", "same rows"}) {
    const FactorModel model = FactorModel::fit(tables.at(few), quick());
    const std::vector<double> other{50, 9};
    EXPECT_GT(width(model.predict({1, {}}, {2, {}})), 0.15) << few;
    EXPECT_GT(width(model.predict({kUnknownWorkload, other}, {kUnknownWorkload, other})), 0.5)
        << few;
  }
  EXPECT_FALSE(FactorModel::fit(tables.at("unknown workloads"), quick()).knows(kUnknownWorkload));
}

TEST(FactorModel, ConstantFeaturesSayNothingOfAJobThatDiffersInThem) {
  const SpeedTable table{{{"x", FeatureScale::kLinear}, {"y", FeatureScale::kLog}},
                         {1, 2, 3},
                         {0.1, 0.3, 0.1, 0.3, 0.1, 0.3},
                         {{0, 1, 0.5, 0.6}, {1, 2, 0.4, 0.6}, {0, 2, 0.4, 0.3}}};
  const FactorModel model = FactorModel::fit(table, quick());
  const std::vector<double> same{0.1, 0.3};
  const std::vector<double> far{0.7, 30};
  EXPECT_TRUE(same_bits(model.predict({kUnknownWorkload, same}, {1, {}}),
                        model.predict({kUnknownWorkload, far}, {1, {}})));
}

TEST(FactorModel, IsSoundWhenAllSpeedsAreEqual) {
  Planted p = planted({16, 0.9, 0, 0, 0}, 1);
  for (SpeedTable::Row& row : p.table.rows) row.speed_a = row.speed_b = 0.7;
  expect_sound_everywhere(p.table, quick());
  const SpeedPrediction s = FactorModel::fit(p.table, quick()).predict(p.known(0), p.known(1));
  EXPECT_NEAR(s.speed, 0.7, 0.02);
}

TEST(FactorModel, IsSoundForAThousandJobs) {
  Planted p = planted({1000, 0.002, 0.5, 0.05, 0}, 1);
  FactorOptions options;
  options.chains = {{8, 0.03}};
  options.sweeps = 12;
  options.burn_in = 4;
  options.keep_every = 1;
  expect_sound_everywhere(p.table, options);
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(FactorModel, RefusesBadTables) {
  const SpeedTable good{{{"x", FeatureScale::kLinear}, {"y", FeatureScale::kLog}},
                        {1, 2},
                        {1, 2, 3, 4},
                        {{0, 1, 0.5, 0.6}}};
  const auto message = [&](const std::function<void(SpeedTable&)>& spoil) {
    SpeedTable table = good;
    spoil(table);
    return refusal([&] { FactorModel::fit(table, quick()); });
  };
  using T = SpeedTable&;
  EXPECT_EQ(message([](T) {}), "");
  EXPECT_EQ(message([](T t) { t.rows.clear(); }), "factor model: no measured speed");
  EXPECT_EQ(message([](T t) { t.rows = {{0, 1, kNaN, kNaN}}; }), "factor model: no measured speed");
  const std::string speed = "factor model: a speed is not above 0 and finite";
  for (const double bad : {0.0, -1.0, kInfinity, -kInfinity}) {
    EXPECT_EQ(message([&](T t) { t.rows[0].speed_b = bad; }), speed) << bad;
    EXPECT_EQ(message([&](T t) { t.rows.push_back({0, 0, bad, 1}); }), speed) << bad;
  }
  EXPECT_EQ(message([](T t) { t.rows[0].b = 2; }),
            "factor model: a row is of a job that is not there");
  EXPECT_EQ(message([](T t) {
              t.rows.push_back({9, 0, kNaN, kNaN});
            }),
            "factor model: a row is of a job that is not there");
  EXPECT_EQ(message([](T t) { t.jobs[1] = 1; }), "factor model: a workload is listed twice");
  EXPECT_EQ(message([](T t) { t.values.pop_back(); }),
            "factor model: values are not jobs x features");
  for (const double bad : {kInfinity, -kInfinity, 1e101}) {
    EXPECT_EQ(message([&](T t) { t.values[0] = bad; }),
              "factor model: a feature is infinite or beyond 1e100");
  }
  for (const double bad : {0.0, -2.0}) {
    EXPECT_EQ(message([&](T t) { t.values[1] = bad; }),
              "factor model: a feature on a log scale is not above 0");
  }
  EXPECT_EQ(message([](T t) {
              t.features.resize(33);
              t.values.assign(66, 1);
            }),
            "factor model: 33 features, at most 32 are possible");
}

TEST(FactorModel, RefusesBadOptionsAndQuestions) {
  const SpeedTable table{{{"x", FeatureScale::kLog}}, {1, 2}, {1, 2}, {{0, 1, 0.5, 0.6}}};
  const auto message = [&](const std::function<void(FactorOptions&)>& spoil) {
    FactorOptions options = quick();
    spoil(options);
    return refusal([&] { FactorModel::fit(table, options); });
  };
  using O = FactorOptions&;
  EXPECT_EQ(message([](O o) { o.chains.clear(); }), "factor model: no chains");
  EXPECT_EQ(message([](O o) { o.chains[0].rank = 0; }), "factor model: rank 0, expected 1 to 64");
  EXPECT_EQ(message([](O o) { o.chains[0].rank = 65; }), "factor model: rank 65, expected 1 to 64");
  for (const double bad : {0.0, -1.0, kNaN, kInfinity}) {
    EXPECT_EQ(message([&](O o) { o.chains[1].spread = bad; }),
              "factor model: spread is not above 0 and at most 1e6");
    EXPECT_EQ(message([&](O o) { o.freedom = bad; }),
              "factor model: freedom is not above 2 and finite");
  }
  EXPECT_EQ(message([](O o) { o.sweeps = o.burn_in; }),
            "factor model: sweeps are not more than the burn-in");
  EXPECT_EQ(message([](O o) { o.burn_in = -1; }),
            "factor model: sweeps are not more than the burn-in");
  EXPECT_EQ(message([](O o) { o.keep_every = 0; }), "factor model: keep_every is below 1");
  EXPECT_EQ(message([](O o) { o.widen_every = 0; }), "factor model: widen_every is below 1");
  EXPECT_EQ(message([](O o) { o.chains_per_kind = -1; }),
            "factor model: chains_per_kind is below 0");
  EXPECT_EQ(message([](O o) { o.threads = 0; }), "factor model: threads are below 1");

  const FactorModel model = FactorModel::fit(table, quick());
  const std::vector<double> two{1, 2};
  const std::vector<double> zero{0};
  EXPECT_EQ(refusal([&] {
              model.predict({1, {}}, {7, two});
            }),
            "factor model: a job has 2 features, the model 1");
  EXPECT_EQ(refusal([&] {
              model.predict({7, {}}, {1, {}});
            }),
            "factor model: a job has 0 features, the model 1");
  EXPECT_EQ(refusal([&] {
              model.predict({7, zero}, {1, {}});
            }),
            "factor model: a feature on a log scale is not above 0");
}

TEST(FactorModel, RefusesAStateThatDoesNotFit) {
  const SpeedTable table{{{"x", FeatureScale::kLog}, {"y", FeatureScale::kLog}},
                         {1, 2},
                         {1, 2, 3, 4},
                         {{0, 1, 0.5, 0.6}}};
  FactorOptions options = quick();
  options.sweeps = options.burn_in + 2;
  const FactorModel::State good = FactorModel::fit(table, options).state();
  const auto message = [&](const std::function<void(FactorModel::State&)>& spoil) {
    FactorModel::State state = good;
    spoil(state);
    return refusal([&] { FactorModel::from(std::move(state)); });
  };
  using S = FactorModel::State&;
  EXPECT_EQ(message([](S) {}), "");
  const std::vector<std::function<void(S)>> wrong{
      [](S s) { s.features.pop_back(); },
      [](S s) { s.features[0].scale = FeatureScale::kLinear; },
      [](S s) { s.features.resize(33); },
      [](S s) { s.keys.pop_back(); },
      [](S s) { s.keys.clear(); },
      [](S s) { s.keys[1] = s.keys[0]; },
      [](S s) { s.mean.push_back(0); },
      [](S s) { s.mean[0] = kNaN; },
      [](S s) { s.deviation.clear(); },
      [](S s) { s.deviation[0] = -1; },
      [](S s) { s.deviation[0] = kInfinity; },
      [](S s) { s.inducing_points.pop_back(); },
      [](S s) { s.inducing_points[0] = kNaN; },
      [](S s) { s.inducing_points[0] = 11; },
      [](S s) { s.kernel_root.pop_back(); },
      [](S s) { s.kernel_root[0] = kNaN; },
      [](S s) { s.kernel_root.assign(2 * 65, 0); },
      [](S s) { s.target_mean = kNaN; },
      [](S s) { s.target_deviation = 0; },
      [](S s) { s.target_deviation = kNaN; },
      [](S s) { s.freedom = 2; },
      [](S s) { s.freedom = kNaN; },
      [](S s) { s.samples.clear(); },
      [](S s) { s.samples[0].rank = 8; },
      [](S s) { s.samples[0].rank = 0; },
      [](S s) { s.samples[0].rank = -1; },
      [](S s) { s.samples[0].rank = std::numeric_limits<int>::max(); },
      [](S s) { s.samples[0].job.pop_back(); },
      [](S s) { s.samples[0].job[0] = static_cast<float>(kNaN); },
      [](S s) { s.samples[0].co_runner.push_back(0); },
      [](S s) { s.samples[0].co_runner[0] = static_cast<float>(kInfinity); },
      [](S s) { s.samples[1].beta.clear(); },
      [](S s) { s.samples[1].beta[0] = static_cast<float>(kNaN); },
      [](S s) { s.samples[1].scatter.pop_back(); },
      [](S s) { s.samples[1].scatter[0] = static_cast<float>(kNaN); },
      [](S s) { s.samples[1].noise = 0; },
      [](S s) { s.samples[1].noise = static_cast<float>(kNaN); },
      [](S s) { s.samples[1].strength = 0; },
      [](S s) { s.samples[1].strength = static_cast<float>(kNaN); },
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_TRUE(message(wrong[i]).starts_with("factor model: ")) << i;
  }
}

}  // namespace
}  // namespace corun::factor_model_test
