#include "models/interference/interference_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/formulas/co_runner_rule.hpp"
#include "models/formulas/overlap.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/fits/effort.hpp"
#include "models/interference/groups/campaigns.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"
#include "traces/paper_workloads.hpp"

/// Properties of every model of the catalogue, and the default methods of the interface.
namespace corun::interference_model_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Random profiles; the excess of a pair is proportional to the product of utilisations, with noise.
SpeedTable table_of(std::size_t jobs, std::size_t rows, std::uint64_t seed = 1) {
  SpeedTable table;
  table.features = profile_features();
  Rng rng(seed, Stream::kTest);
  for (std::size_t j = 0; j < jobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    for (int f = 0; f < 3; ++f) table.values.push_back(100 * rng.uniform());
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t a = rng.below(static_cast<std::uint32_t>(jobs));
    const std::uint32_t b = rng.below(static_cast<std::uint32_t>(jobs));
    const double heat = table.of(a)[0] * table.of(b)[0] / 1e4;
    const auto speed = [&] { return 1 / (1 + heat) * std::exp(0.03 * rng.normal()); };
    const double first = speed();
    table.rows.push_back({a, b, first, a == b ? first : speed()});
  }
  return table;
}

std::vector<PairJob> jobs_of(const SpeedTable& table) {
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}});
  }
  return jobs;
}

std::vector<PairQuery> all_pairs(std::size_t jobs) {
  std::vector<PairQuery> pairs;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t j = 0; j < jobs; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

void expect_sound(const SpeedPrediction& p) {
  EXPECT_TRUE(std::isfinite(p.speed) && p.speed > 0) << p.speed;
  EXPECT_TRUE(std::isfinite(p.sd) && p.sd >= 0) << p.sd;
  EXPECT_TRUE(std::isfinite(p.lo) && p.lo > 0) << p.lo;
  EXPECT_TRUE(std::isfinite(p.hi)) << p.hi;
  EXPECT_LE(p.lo, p.speed);
  EXPECT_GE(p.hi, p.speed);
}

bool same_bits(const SpeedPrediction& a, const SpeedPrediction& b) {
  return a.speed == b.speed && a.sd == b.sd && a.lo == b.lo && a.hi == b.hi;
}

class EveryModel : public ::testing::TestWithParam<InterferenceModelEntry> {
 protected:
  static std::unique_ptr<InterferenceModel> fit(const SpeedTable& table, int threads = 1,
                                                double effort = test::kLittleEffort) {
    return GetParam().fit(table, {.threads = threads, .effort = effort});
  }
};

TEST_P(EveryModel, IsFoundByItsName) {
  const InterferenceModelEntry* found = find_interference_model(GetParam().name);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, GetParam().name);
  EXPECT_FALSE(found->description.empty());
  EXPECT_EQ(find_interference_model("no such model"), nullptr);
  EXPECT_EQ(find_interference_model("default"), interference_model_catalog().data());
}

TEST_P(EveryModel, PredictsSoundlyForJobsSeenAndNot) {
  const SpeedTable table = table_of(12, 80);
  const auto model = fit(table, 1, 1);
  EXPECT_EQ(model->features(), table.features);
  EXPECT_GE(model->residual_sigma(), 0);
  EXPECT_TRUE(std::isfinite(model->residual_sigma()));
  std::vector<PairJob> jobs = jobs_of(table);
  const std::vector<std::vector<double>> others{{50, 40, 30},       {0, 0, 0},
                                                {100, 100, 100},    {kNaN, 50, 50},
                                                {kNaN, kNaN, kNaN}, {1e6, -3, 1e-9}};
  for (const auto& x : others) jobs.push_back({kUnknownWorkload, x});
  const auto pairs = all_pairs(jobs.size());
  const auto predicted = model->predict(jobs, pairs);
  ASSERT_EQ(predicted.size(), pairs.size());
  for (const SpeedPrediction& p : predicted) expect_sound(p);
  // One pair at a time: the same bits.
  for (std::size_t q = 0; q < pairs.size(); q += 17) {
    EXPECT_TRUE(same_bits(model->predict(jobs[pairs[q].of], jobs[pairs[q].beside]), predicted[q]) ||
                pairs[q].of == pairs[q].beside)
        << q;
  }
}

TEST_P(EveryModel, SameBytesOnAnyNumberOfThreads) {
  const SpeedTable table = table_of(10, 60);
  EXPECT_EQ(fit(table)->save(), fit(table, 3)->save());
}

TEST_P(EveryModel, KnowsItsEffortWhereItHasOne) {
  const SpeedTable table = table_of(8, 20);
  const auto little = fit(table);
  const auto whole = GetParam().fit(table, {});
  EXPECT_EQ(whole->effort(), 1);
  if (!GetParam().draws) {
    EXPECT_EQ(little->effort(), 1);
    EXPECT_EQ(little->save(), whole->save());
    return;
  }
  EXPECT_EQ(little->effort(), test::kLittleEffort);
  EXPECT_EQ(little->clone()->effort(), test::kLittleEffort);
  EXPECT_NE(little->save(), whole->save());
  SpeedTable campaigns = table;
  campaigns.campaigns = {{"V100-16GB", Sharing::kMps, 900, 15.7}, {"K80", Sharing::kMps, 240, 4.1}};
  for (std::size_t r = 0; r < campaigns.rows.size(); r += 2) campaigns.rows[r].campaign = 1;
  const std::shared_ptr<const InterferenceModel> several = fit(campaigns);
  EXPECT_EQ(several->effort(), test::kLittleEffort);
  EXPECT_EQ(on_campaign(several, {"T4", Sharing::kMps, 320, 8.1})->effort(), test::kLittleEffort);
  // The least effort still gives a model; others are refused.
  const auto jobs = jobs_of(table);
  for (const SpeedPrediction& p : fit(table, 1, kLeastEffort)->predict(jobs, all_pairs(8))) {
    expect_sound(p);
  }
  for (const double bad : {0.0, -1.0, 0.0009, 1.0001, kNaN}) {
    EXPECT_THROW(fit(table, 1, bad), std::invalid_argument) << bad;
  }
}

TEST_P(EveryModel, ACopyIsTheSameAndLearnsOnItsOwn) {
  const SpeedTable table = table_of(8, 30);
  const auto model = fit(table);
  const auto before = model->save();
  const auto copy = model->clone();
  EXPECT_EQ(copy->save(), before);
  const auto jobs = jobs_of(table);
  const std::vector<double> features{50, 50, 50};
  for (int n = 0; n < 5; ++n) {
    copy->learn(jobs[0], jobs[1], 0.2, 0.3);
    copy->learn(jobs[2], {77, features}, 0.9, kNaN);
  }
  EXPECT_EQ(model->save(), before);
  if (!copy->learns()) {
    EXPECT_EQ(copy->save(), before);
    return;
  }
  EXPECT_NE(copy->save(), before);
  EXPECT_LT(copy->predict(jobs[0], jobs[1]).speed, model->predict(jobs[0], jobs[1]).speed);
  expect_sound(copy->predict({77, features}, jobs[2]));
  EXPECT_THROW(copy->learn(jobs[0], jobs[1], -1, 0.5), std::invalid_argument);
  EXPECT_THROW(copy->learn(jobs[0], jobs[1], 0.5, 0), std::invalid_argument);
}

TEST_P(EveryModel, AWorldMadeOfItHasSpeedsInZeroToOne) {
  const SpeedTable table = table_of(9, 50);
  const auto model = fit(table);
  const auto jobs = jobs_of(table);
  for (std::size_t n = 1; n <= jobs.size(); ++n) {
    std::vector<double> speeds(n, -1);
    model->speeds(std::span(jobs).first(n), speeds);
    for (const double s : speeds) EXPECT_TRUE(s > 0 && s <= 1) << n << " " << s;
    if (n == 1) {
      EXPECT_EQ(speeds[0], 1);
    }
    const auto predicted = model->predict_co_runners(std::span(jobs).first(n));
    ASSERT_EQ(predicted.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      expect_sound(predicted[i]);
      EXPECT_EQ(std::min(1.0, predicted[i].speed), speeds[i]);
    }
  }
  // The order of the residents does not matter.
  const std::vector<PairJob> one{jobs[0], jobs[1], jobs[2]};
  const std::vector<PairJob> other{jobs[2], jobs[0], jobs[1]};
  const auto a = model->predict_co_runners(one);
  const auto b = model->predict_co_runners(other);
  EXPECT_NEAR(a[0].speed, b[1].speed, 1e-12);
  EXPECT_NEAR(a[2].speed, b[0].speed, 1e-12);
}

TEST_P(EveryModel, TwoAreAPair) {
  const SpeedTable table = table_of(6, 30);
  const auto model = fit(table);
  const auto jobs = jobs_of(table);
  const auto co_runners = model->predict_co_runners(std::span(jobs).first(2));
  EXPECT_NEAR(co_runners[0].speed, model->predict(jobs[0], jobs[1]).speed, 1e-12);
  EXPECT_NEAR(co_runners[1].speed, model->predict(jobs[1], jobs[0]).speed, 1e-12);
}

TEST_P(EveryModel, DrawsAreRepeatableAndScatterAroundWhatIsPredicted) {
  const SpeedTable table = table_of(8, 40);
  const auto model = fit(table);
  const auto jobs = jobs_of(table);
  const auto pairs = all_pairs(jobs.size());
  EXPECT_EQ(model->sample(jobs, pairs, 3), model->sample(jobs, pairs, 3));
  const auto predicted = model->predict(jobs, pairs);
  constexpr int kDraws = 200;
  for (std::size_t q = 1; q < pairs.size(); q += 13) {
    double sum = 0;
    for (int d = 0; d < kDraws; ++d) {
      const double speed = model->sample(jobs, pairs, static_cast<std::uint64_t>(d))[q];
      ASSERT_TRUE(std::isfinite(speed) && speed > 0);
      sum += std::log(speed);
    }
    const double spread = std::log(predicted[q].hi / predicted[q].lo);
    EXPECT_NEAR(sum / kDraws, std::log(predicted[q].speed), 0.25 * spread + 1e-9) << q;
  }
}

TEST_P(EveryModel, LittleToLearnFromMeansWideIntervals) {
  const SpeedTable many = table_of(12, 100);
  SpeedTable one = many;
  one.rows = {{0, 1, 0.8, 0.6}};
  SpeedTable half = many;
  half.rows = {{0, 1, 0.8, kNaN}};
  SpeedTable copy = many;
  copy.rows = {{0, 0, 0.7, 0.7}};
  SpeedTable same = many;  // identical jobs, measured alike
  for (std::size_t j = 0; j < same.jobs.size(); ++j) {
    for (std::size_t f = 0; f < 3; ++f) same.values[3 * j + f] = 50;
  }
  for (SpeedTable::Row& row : same.rows) row.speed_a = row.speed_b = 0.75;
  SpeedTable nothing_known = many;
  std::ranges::fill(nothing_known.values, kNaN);
  SpeedTable nameless = many;
  std::ranges::fill(nameless.jobs, kUnknownWorkload);
  SpeedTable slow = many;  // a thousandfold slowdown, and a speed-up by noise
  slow.rows[0].speed_a = 1e-3;
  slow.rows[1].speed_b = 1.9;
  for (const SpeedTable* table : {&one, &half, &copy, &same, &nothing_known, &nameless, &slow}) {
    if (table == &nothing_known && GetParam().name == "contention") {
      // It goes by the utilisation: without any it would be a constant.
      EXPECT_THROW(fit(*table), std::invalid_argument);
      continue;
    }
    const auto model = fit(*table);
    const auto jobs = jobs_of(many);
    const auto pairs = all_pairs(jobs.size());
    for (const SpeedPrediction& p : model->predict(jobs, pairs)) expect_sound(p);
    for (const double s : model->sample(jobs, pairs, 1)) EXPECT_TRUE(std::isfinite(s) && s > 0);
  }
  const auto widest = [&](const SpeedTable& table) {
    const std::vector<double> features{50, 50, 50};
    const SpeedPrediction p =
        fit(table)->predict({kUnknownWorkload, features}, {kUnknownWorkload, features});
    return std::log(p.hi / p.lo);
  };
  EXPECT_GT(widest(one), 0.3) << "one observation promises nothing";
}

TEST_P(EveryModel, RefusesWhatItCannotBeFittedOnOrAsked) {
  const SpeedTable good = table_of(6, 20);
  SpeedTable empty = good;
  empty.rows.clear();
  EXPECT_THROW(fit(empty), std::invalid_argument);
  SpeedTable unmeasured = good;
  for (SpeedTable::Row& row : unmeasured.rows) row.speed_a = row.speed_b = kNaN;
  EXPECT_THROW(fit(unmeasured), std::invalid_argument);
  const auto model = fit(good);
  const std::vector<double> two{1, 2};
  const std::vector<double> infinite{std::numeric_limits<double>::infinity(), 2, 3};
  const auto jobs = jobs_of(good);
  for (const auto& x : {two, infinite}) {
    EXPECT_THROW(model->predict({kUnknownWorkload, x}, jobs[0]), std::invalid_argument);
  }
}

TEST_P(EveryModel, RefusesAStateThatIsNotItsOwn) {
  const SpeedTable table = table_of(6, 20);
  const auto model = fit(table);
  const auto load = [&](const nlohmann::json& state, std::size_t features) {
    std::vector<SpeedTable::Feature> f = table.features;
    f.resize(features, {"more", FeatureScale::kLinear});
    return GetParam().load(state, f, model->workloads());
  };
  EXPECT_EQ(load(model->save(), 3)->save(), model->save());
  EXPECT_THROW(load(nlohmann::json::object(), 3), std::invalid_argument);
  EXPECT_THROW(load(nlohmann::json::array(), 3), std::invalid_argument);
  nlohmann::json more = model->save();
  more["more"] = 1;
  EXPECT_THROW(load(more, 3), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryModel,
                         ::testing::ValuesIn(interference_model_catalog().begin(),
                                             interference_model_catalog().end()),
                         [](const auto& one) {
                           std::string name(one.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// ---- co-runners ----------------------------------------------------------------------------------

/// A model of one number: every job has this excess beside every other.
class Flat final : public InterferenceModel {
 public:
  explicit Flat(double excess) : speed_(1 / (1 + excess)) {}
  std::unique_ptr<InterferenceModel> clone() const override {
    return std::make_unique<Flat>(*this);
  }
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return workloads_; }
  std::vector<SpeedPrediction> predict(std::span<const PairJob>,
                                       std::span<const PairQuery> pairs) const override {
    return std::vector<SpeedPrediction>(pairs.size(), {speed_, 0.1, speed_ / 2, 1});
  }
  double residual_sigma() const override { return 0; }
  nlohmann::json save() const override { return {}; }

 private:
  double speed_;
  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> workloads_;
};

TEST(JudgedJobs, AreAllOfASmallTableAndAHundredEvenlySpacedOfALargeOne) {
  SpeedTable small = table_of(40, 0);
  small.rows = {{3, 7, 0.9, 0.8}, {7, 7, 0.9, 0.9}};
  std::vector<bool> expected(40, false);
  expected[3] = expected[7] = true;
  EXPECT_EQ(judged_jobs(small), expected) << "jobs without a row have no error";

  SpeedTable large = table_of(1000, 0);
  for (std::uint32_t j = 0; j < 999; j += 3) large.rows.push_back({j, j + 1, 0.9, 0.8});
  const std::vector<bool> judged = judged_jobs(large);
  std::size_t count = 0;
  std::size_t last = 0;
  for (std::size_t j = 0; j < judged.size(); ++j) {
    if (!judged[j]) continue;
    EXPECT_NE(j % 3, 2U) << "job " << j << " has no row";
    if (count > 0) EXPECT_LE(j - last, 12U);
    last = j;
    ++count;
  }
  EXPECT_EQ(count, 100U);
}

TEST(CoRunners, ExcessesAddUpInTheNorm) {
  const Flat model(0.2);
  for (const std::size_t n : {2, 3, 5, 9}) {
    const std::vector<PairJob> jobs(n);
    std::vector<double> speeds(n);
    model.speeds(jobs, speeds);
    // (n - 1) equal excesses x: x (n - 1)^(1/p).
    const double excess = 0.2 * std::pow(static_cast<double>(n - 1), 1 / kSlicingRule.pooling);
    for (const double s : speeds) EXPECT_NEAR(1 / s - 1, excess, 1e-12) << n;
    EXPECT_NEAR(model.predict_co_runners(jobs)[0].hi, 1, 1e-12);
    // Pairs are certain, so what is left for a group is the rule's deviation.
    const SpeedPrediction first = model.predict_co_runners(jobs)[0];
    const auto jobs_here = static_cast<double>(n);
    const double least = std::max(0.2 * std::sqrt(jobs_here - 1), 0.2 * jobs_here - 1);
    CoRunnerSpeed most(kMostExcessRule);
    for (std::size_t i = 1; i < n; ++i) most.add(1 / 1.2);
    const double of_rule = std::log(1 / (1 + least) / most.speed()) / std::sqrt(12.0);
    const InterferenceModel& base = model;
    const double of_pair = base.predict(jobs[0], jobs[1]).sd * 1.2;
    EXPECT_NEAR(first.sd / first.speed, n == 2 ? of_pair : std::hypot(of_pair, of_rule), 1e-12);
  }
}

}  // namespace
}  // namespace corun::interference_model_test
