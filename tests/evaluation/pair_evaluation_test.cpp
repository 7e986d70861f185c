#include "evaluation/pair_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "models/interference/factor_model.hpp"
#include "sim/error.hpp"
#include "sim/rng.hpp"

namespace corun::pair_evaluation_test {
namespace {

/// Jobs with one feature; the slowdown of a job is the product of both features, with a little
/// noise.
Measurements planted(std::size_t jobs, double noise) {
  Rng rng(1, Stream::kTest);
  Measurements table;
  table.source = "planted";
  table.speeds.features = {{"load", FeatureScale::kLinear}};
  for (std::size_t j = 0; j < jobs; ++j) {
    table.speeds.jobs.push_back(static_cast<WorkloadKey>(j));
    table.speeds.values.push_back(static_cast<double>(j) / static_cast<double>(jobs));
    table.names.push_back("j" + std::to_string(j));
    table.families.push_back("f" + std::to_string(j % 4));
  }
  for (std::uint32_t a = 0; a < jobs; ++a) {
    for (std::uint32_t b = a + 1; b < jobs; ++b) {
      const double heat = table.speeds.values[a] * table.speeds.values[b];
      const auto speed = [&] { return std::exp(-heat + noise * rng.normal()); };
      const double first = speed();
      table.speeds.rows.push_back({a, b, first, speed()});
      table.scored.push_back(true);
      table.solo_s.push_back({std::nan(""), std::nan("")});
    }
  }
  return table;
}

/// The model `factors` with few sweeps, under another name.
const InterferenceModelEntry kQuick{
    "factors", "", [](const SpeedTable& table, const FitOptions&) {
      FactorOptions o;
      o.chains_per_kind = 1;
      o.chains = {{3, 0.05}};
      o.sweeps = 120;
      o.burn_in = 40;
      return std::unique_ptr<InterferenceModel>(
          std::make_unique<FactorModel>(FactorModel::fit(table, o)));
    }};
const std::vector<const InterferenceModelEntry*> kModels{find_interference_model("cluster-mean"),
                                                         &kQuick};

const PairScore& of(const PairEvaluation& e, const std::string& name) {
  for (const PairScore& s : e.scores) {
    if (s.predictor == name) return s;
  }
  throw std::logic_error(name);
}

TEST(PairEvaluation, FindsWhoPredicts) {
  const Measurements table = planted(26, 0.02);
  PairEvaluationOptions options;
  options.models = kModels;
  options.queues = 10;
  for (const PairSplit split : {PairSplit::kPairs, PairSplit::kJob, PairSplit::kFamily}) {
    const PairEvaluation e = evaluate_pairs(table, split, options);
    EXPECT_EQ(e.pairs, 325u);
    EXPECT_EQ(e.folds, split == PairSplit::kPairs ? 5u : split == PairSplit::kJob ? 26u : 4u);
    const PairScore& factors = of(e, "factors");
    EXPECT_LT(factors.mae, 0.35 * of(e, "mean").mae) << name_of(split);
    EXPECT_LT(factors.mae, of(e, "cluster-mean").mae) << name_of(split);
    EXPECT_GT(factors.spearman, 0.95);
    EXPECT_GT(factors.covered, 0.85);
    // The error over folds is not far below that of 650 independent co-runs, and is small.
    const double coin = std::sqrt(factors.covered * (1 - factors.covered) / 650);
    EXPECT_GT(factors.covered_error, 0.3 * coin) << name_of(split);
    EXPECT_LT(factors.covered_error, 0.1) << name_of(split);
    EXPECT_TRUE(std::isnan(of(e, "mean").covered_error));
    EXPECT_LT(factors.regret, 0.2);
    EXPECT_NEAR(of(e, "median").regret, 1, 0.6) << "a constant knows nothing of pairs";
    EXPECT_GT(e.random_isd, e.best_isd);
  }
}

TEST(PairEvaluation, PapersPairsWithPublishedProfilesAreScoredAloneAndAllAreFitted) {
  WorkloadKeys keys;
  const Measurements all = papers_pair_table(keys);
  WorkloadKeys again;
  const Measurements published = papers_pair_table(again, PapersScored::kPublished);
  EXPECT_EQ(std::ranges::count(all.scored, true), 114);
  EXPECT_EQ(std::ranges::count(published.scored, true), 107);
  ASSERT_EQ(published.speeds.rows.size(), all.speeds.rows.size());
  for (std::size_t r = 0; r < all.speeds.rows.size(); ++r) {
    const SpeedTable::Row& row = published.speeds.rows[r];
    const auto encoder = [&](std::size_t job) { return published.names[job].starts_with("AE-"); };
    EXPECT_EQ(published.scored[r], !encoder(row.a) && !encoder(row.b)) << published.names[row.a];
  }
}

/// Unpredictable speeds, each pair measured three times: a model that repeats a measurement of the
/// same pair must not score well.
TEST(PairEvaluation, RepeatedMeasurementsStayTogether) {
  Measurements table = planted(12, 0);
  Rng rng(2, Stream::kTest);
  for (SpeedTable::Row& row : table.speeds.rows) {
    row.speed_a = 0.2 + 0.8 * rng.uniform();
    row.speed_b = 0.2 + 0.8 * rng.uniform();
  }
  const std::vector<SpeedTable::Row> once = table.speeds.rows;
  for (const SpeedTable::Row& row : once) {
    table.speeds.rows.push_back({row.b, row.a, row.speed_b, row.speed_a});
    table.speeds.rows.push_back(row);
  }
  table.scored.assign(table.speeds.rows.size(), true);
  table.solo_s.assign(table.speeds.rows.size(), {std::nan(""), std::nan("")});
  PairEvaluationOptions options;
  options.models = {find_interference_model("measured")};
  const PairEvaluation e = evaluate_pairs(table, PairSplit::kPairs, options);
  EXPECT_GT(of(e, "measured").mae, 0.9 * of(e, "median").mae);
}

TEST(PairEvaluation, LearningCurvesAndProbesAreDealtAsAsked) {
  const Measurements table = planted(20, 0.02);
  PairEvaluationOptions options;
  options.models = kModels;
  options.rows = 10;
  const double few = of(evaluate_pairs(table, PairSplit::kPairs, options), "factors").mae;
  options.rows = 0;
  const double all = of(evaluate_pairs(table, PairSplit::kPairs, options), "factors").mae;
  EXPECT_LT(all, 0.7 * few);
  options.models = {
      find_interference_model("low-rank")};  // uses keys only, so probes are its only data
  const PairEvaluation blind = evaluate_pairs(table, PairSplit::kJob, options);
  options.probes = 6;
  const PairEvaluation probed = evaluate_pairs(table, PairSplit::kJob, options);
  EXPECT_LT(of(probed, "low-rank").mae, 0.7 * of(blind, "low-rank").mae);
  EXPECT_LT(probed.pairs, blind.pairs) << "a pair that is a probe of both its jobs is not scored";
  EXPECT_GT(probed.pairs, blind.pairs * 3 / 4);
}

TEST(PairEvaluation, SameBytesOnAnyNumberOfThreads) {
  const Measurements table = planted(12, 0.05);
  PairEvaluationOptions options;
  options.models = kModels;
  const PairEvaluation one = evaluate_pairs(table, PairSplit::kJob, options);
  options.threads = 3;
  const PairEvaluation three = evaluate_pairs(table, PairSplit::kJob, options);
  for (std::size_t p = 0; p < one.scores.size(); ++p) {
    EXPECT_EQ(one.scores[p].mae, three.scores[p].mae);
    EXPECT_EQ(one.scores[p].rmse, three.scores[p].rmse);
  }
}

TEST(PairEvaluation, RefusesWhatCannotBeSplit) {
  PairEvaluationOptions options;
  options.models = kModels;
  Measurements nameless = planted(8, 0);
  for (std::string& family : nameless.families) family.clear();
  EXPECT_THROW(evaluate_pairs(nameless, PairSplit::kFamily, options), InputError);
  Measurements unscored = planted(8, 0);
  unscored.scored.assign(unscored.scored.size(), false);
  EXPECT_THROW(evaluate_pairs(unscored, PairSplit::kPairs, options), InputError);
  Measurements lonely = planted(2, 0);  // holding out the only pair leaves none
  EXPECT_THROW(evaluate_pairs(lonely, PairSplit::kJob, options), InputError);
}

}  // namespace
}  // namespace corun::pair_evaluation_test
