#include "models/interference/low_rank.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/rng.hpp"

namespace corun::low_rank_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// t_ij = 0.4 + a_i + b_j + u_i . v_j, of rank 2.
struct Planted {
  SpeedTable table;
  std::size_t jobs = 0;
  std::vector<double> t;
  std::vector<bool> measured;

  PairJob job(std::size_t j) const { return {table.jobs[j], {}}; }
};

Planted planted(std::size_t jobs, double share, double noise, std::uint64_t seed,
                std::size_t hidden = 0) {
  Planted p;
  p.jobs = jobs;
  Rng rng(seed, Stream::kTest);
  std::vector<std::array<double, 6>> f(jobs);
  for (auto& one : f) {
    for (double& x : one) x = 0.25 * rng.normal();
  }
  p.measured.assign(jobs * jobs, false);
  for (std::size_t i = 0; i < jobs; ++i) {
    p.table.jobs.push_back(static_cast<WorkloadKey>(7 * i));
    for (std::size_t j = 0; j < jobs; ++j) {
      p.t.push_back(0.4 + 0.5 * f[i][0] + 0.5 * f[j][1] + 2 * f[i][2] * f[j][3] +
                    2 * f[i][4] * f[j][5]);
    }
  }
  for (std::uint32_t a = 0; a < jobs - hidden; ++a) {
    for (std::uint32_t b = a + 1; b < jobs - hidden; ++b) {
      if (rng.uniform() >= share) continue;
      const double of_a = std::exp(-p.t[a * jobs + b] + noise * rng.normal());
      const double of_b = std::exp(-p.t[b * jobs + a] + noise * rng.normal());
      p.table.rows.push_back({a, b, of_a, of_b});
      p.measured[a * jobs + b] = p.measured[b * jobs + a] = true;
    }
  }
  return p;
}

struct Quality {
  double error = 0;   ///< mean |t - predicted| of unmeasured pairs
  double spread = 0;  ///< mean |t - their mean|
  double within = 0;  ///< share of single co-runs within the interval
};

Quality quality(const InterferenceModel& model, const Planted& p, double noise, bool unseen_only,
                std::size_t hidden) {
  Quality q;
  double n = 0;
  Rng rng(99, Stream::kTest);
  for (std::size_t i = 0; i < p.jobs; ++i) {
    for (std::size_t j = 0; j < p.jobs; ++j) {
      if (i == j || p.measured[i * p.jobs + j]) continue;
      if (unseen_only != (i >= p.jobs - hidden || j >= p.jobs - hidden)) continue;
      const SpeedPrediction s = model.predict(p.job(i), p.job(j));
      const double t = p.t[i * p.jobs + j];
      q.error += std::fabs(t + std::log(s.speed));
      q.spread += std::fabs(t - 0.4);
      const double speed = std::exp(-t + noise * rng.normal());
      q.within += s.lo <= speed && speed <= s.hi ? 1 : 0;
      n += 1;
    }
  }
  return {q.error / n, q.spread / n, q.within / n};
}

TEST(LowRank, CompletesAMatrixOfLowRank) {
  const Planted p = planted(40, 0.6, 0.02, 1, 6);
  const LowRank model = LowRank::fit(p.table, {});
  EXPECT_EQ(model.workloads().size(), 34U);
  const Quality seen = quality(model, p, 0.02, false, 6);
  EXPECT_LT(seen.error, 0.25 * seen.spread);
  EXPECT_GT(seen.within, 0.85);
  EXPECT_LT(seen.within, 0.97);
  // Unseen jobs get the mean, with a wide interval.
  const Quality unseen = quality(model, p, 0.02, true, 6);
  EXPECT_LT(unseen.error, 1.1 * unseen.spread);
  EXPECT_GT(unseen.within, 0.8);
  EXPECT_LT(unseen.within, 0.98);
}

TEST(Holdout, KeepsRepeatsOfAPairTogetherAndJobsApart) {
  const Planted p = planted(12, 0.8, 0, 4);
  SpeedTable table = p.table;
  for (const SpeedTable::Row& row : p.table.rows) {
    table.rows.push_back({row.b, row.a, row.speed_b, row.speed_a});
  }
  const Holdout holdout(table, 1);
  const std::size_t pairs = p.table.rows.size();
  std::array<std::size_t, Holdout::kFolds> size{};
  for (std::size_t r = 0; r < pairs; ++r) {
    EXPECT_EQ(holdout.fold_of_row(r), holdout.fold_of_row(pairs + r));
    size[holdout.fold_of_row(r)] += 1;
  }
  for (const std::size_t n : size) EXPECT_NEAR(static_cast<double>(n), pairs / 5.0, 1);
  for (std::size_t number = 0; number < Holdout::kCount; ++number) {
    for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
      const Observation o{table.rows[r].a, table.rows[r].b, r, 0};
      const bool job = holdout.unknown(number, o.of) || holdout.unknown(number, o.beside);
      EXPECT_EQ(holdout.held(number, o),
                number < Holdout::kFolds ? holdout.fold_of_row(r) == number : job);
    }
  }
}

TEST(LowRank, OneEntryInClosedForm) {
  // A constant table predicts its constant for every pair.
  SpeedTable table;
  table.jobs = {1, 2, 3};
  for (std::uint32_t a = 0; a < 3; ++a) {
    for (std::uint32_t b = a; b < 3; ++b) table.rows.push_back({a, b, 0.8, 0.8});
  }
  const LowRank model = LowRank::fit(table, {});
  EXPECT_NEAR(model.predict({1, {}}, {3, {}}).speed, 0.8, 1e-9);
  EXPECT_NEAR(model.predict({1, {}}, {77, {}}).speed, 0.8, 1e-9);
  EXPECT_LT(model.predict({1, {}}, {3, {}}).lo, 0.6);  // the noise is not known
}

TEST(LowRank, LearningBringsAPairAndANewJobNearer) {
  const Planted p = planted(30, 0.7, 0.01, 2, 1);
  LowRank model = LowRank::fit(p.table, {});
  const std::size_t fresh = p.jobs - 1;
  const auto before = model.clone();
  const Quality blind = quality(model, p, 0.01, true, 1);
  for (std::size_t j = 0; j < 20; ++j) {
    model.learn(p.job(fresh), p.job(j), std::exp(-p.t[fresh * p.jobs + j]),
                std::exp(-p.t[j * p.jobs + fresh]));
  }
  const Quality taught = quality(model, p, 0.01, true, 1);
  EXPECT_LT(taught.error, 0.5 * blind.error);
  EXPECT_EQ(model.workloads().back(), p.table.jobs[fresh]);
  EXPECT_NE(model.predict(p.job(fresh), p.job(25)).speed,
            before->predict(p.job(fresh), p.job(25)).speed);
  // Round trip after learning.
  const LowRank read = LowRank::load(model.save(), model.features(), model.workloads());
  EXPECT_EQ(read.save(), model.save());
  EXPECT_EQ(read.predict(p.job(fresh), p.job(3)).lo, model.predict(p.job(fresh), p.job(3)).lo);

  const nlohmann::json state = model.save();
  model.learn({kUnknownWorkload, {}}, p.job(1), 0.5, 0.5);
  EXPECT_THROW(model.learn(p.job(0), p.job(1), 0, 0.5), std::invalid_argument);
  EXPECT_THROW(model.learn(p.job(0), p.job(1), 0.5, kInfinity), std::invalid_argument);
  model.learn(p.job(0), p.job(1), kNaN, kNaN);
  EXPECT_EQ(model.save(), state);
  model.learn(p.job(4), p.job(4), 0.5, 0.5);
  EXPECT_NE(model.save(), state);
}

TEST(LowRank, SameBitsInAnyBatchThreadOrFile) {
  const Planted p = planted(20, 0.6, 0.05, 3, 2);
  const LowRank model = LowRank::fit(p.table, {.seed = 2, .threads = 1});
  EXPECT_EQ(model.save(), LowRank::fit(p.table, {.seed = 2, .threads = 4}).save());
  EXPECT_NE(model.save(), LowRank::fit(p.table, {.seed = 3, .threads = 1}).save());
  const auto bytes = nlohmann::json::to_msgpack(model.save());
  const LowRank read =
      LowRank::load(nlohmann::json::from_msgpack(bytes), model.features(), model.workloads());
  std::vector<PairJob> jobs;
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < p.jobs; ++i) {
    jobs.push_back(p.job(i));
    for (std::size_t j = 0; j < p.jobs; ++j) pairs.push_back({j, i});
  }
  const auto batch = model.predict(jobs, pairs);
  const auto again = read.predict(jobs, pairs);
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    const SpeedPrediction one = model.predict(jobs[pairs[q].of], jobs[pairs[q].beside]);
    EXPECT_EQ(batch[q].speed, one.speed);
    EXPECT_EQ(batch[q].lo, again[q].lo);
    EXPECT_EQ(batch[q].hi, again[q].hi);
    EXPECT_LT(batch[q].lo, batch[q].speed);
    EXPECT_LT(batch[q].speed, batch[q].hi);
  }
  EXPECT_EQ(read.residual_sigma(), model.residual_sigma());
}

TEST(LowRank, HostileTablesAndFiles) {
  EXPECT_THROW(LowRank::fit({}, {}), std::invalid_argument);
  SpeedTable one;
  one.features = {{"x", FeatureScale::kLog}};
  one.jobs = {1, kUnknownWorkload};
  one.values = {1, kNaN};
  one.rows = {{0, 1, 1e-320, kNaN}, {0, 1, 1e308, kNaN}};
  const LowRank model = LowRank::fit(one, {});
  const SpeedPrediction p = model.predict({1, {}}, {2, {&kNaN, 1}});
  EXPECT_TRUE(std::isfinite(p.speed) && p.speed > 0 && std::isfinite(p.hi) && p.lo > 0);
  EXPECT_THROW(model.predict({1, {}}, {2, {}}), std::invalid_argument);
  const double zero = 0;
  EXPECT_THROW(model.predict({2, {&zero, 1}}, {1, {}}), std::invalid_argument);
  const std::array<PairJob, 1> jobs{PairJob{1, {}}};
  const std::array<PairQuery, 1> pairs{{{1, 0}}};
  EXPECT_THROW(model.predict(jobs, pairs), std::invalid_argument);

  const nlohmann::json good = model.save();
  for (const auto& [key, value] : good.items()) {
    for (const nlohmann::json& nonsense :
         {nlohmann::json(), nlohmann::json("x"), nlohmann::json::array({1}),
          nlohmann::json::binary({1, 2, 3}),
          nlohmann::json::binary(std::vector<std::uint8_t>(24, 255))}) {
      nlohmann::json state = good;
      state[key] = nonsense;
      EXPECT_THROW(LowRank::load(state, model.features(), model.workloads()), std::invalid_argument)
          << key;
    }
    nlohmann::json state = good;
    state.erase(key);
    EXPECT_THROW(LowRank::load(state, model.features(), model.workloads()), std::invalid_argument);
  }
  EXPECT_THROW(LowRank::load(good, model.features(), {1}), std::invalid_argument);
}

}  // namespace
}  // namespace corun::low_rank_test
