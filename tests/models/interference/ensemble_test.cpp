#include "models/interference/ensemble.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/catalog.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/fits/few_speeds.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/gp_model.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::ensemble_test {
namespace {

constexpr FitOptions kLittle{.effort = test::kLittleEffort};

/// Sixteen jobs with two features. Some pairs are measured, none with the last two jobs.
SpeedTable small_table() {
  constexpr std::uint32_t kJobs = 16;
  SpeedTable table;
  table.features = {{"sm", FeatureScale::kLog}, {"memory", FeatureScale::kLog}};
  Rng rng(5, Stream::kTest);
  for (std::uint32_t j = 0; j < kJobs; ++j) {
    table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    table.values.push_back(std::exp(rng.normal()));
    table.values.push_back(std::exp(2 + rng.normal()));
  }
  for (std::uint32_t i = 0; i + 2 < kJobs; ++i) {
    for (std::uint32_t j = i; j + 2 < kJobs; ++j) {
      if (rng.uniform() < 0.4) continue;
      const double load = 0.1 * std::log(1 + table.of(i)[0] * table.of(j)[0]);
      table.rows.push_back({i, j, std::exp(-load - 0.05 * std::fabs(rng.normal())),
                            std::exp(-load - 0.05 * std::fabs(rng.normal()))});
    }
  }
  return table;
}

TEST(Ensemble, IsTheSameOfMembersFittedBesideItAndLearnsApartFromThem) {
  const SpeedTable table = small_table();
  std::vector<const InterferenceModelEntry*> entries;
  for (const char* name : {"ensemble", "boosted-trees", "gp", "factors"}) {
    entries.push_back(find_interference_model(name));
  }
  std::vector<FitOutcome> fits = fit_together(entries, table, kLittle);
  const auto alone = entries[0]->fit(table, kLittle);
  EXPECT_EQ(fits[0].model->save(), alone->save());
  EXPECT_EQ(fits[0].model->residual_sigma(), alone->residual_sigma());
  const auto gp = fits[2].model->save();
  const PairJob a{table.jobs[0], {table.of(0), table.features.size()}};
  const PairJob b{table.jobs[1], {table.of(1), table.features.size()}};
  fits[0].model->learn(a, b, 0.2, 0.3);
  EXPECT_NE(fits[0].model->save(), alone->save());
  EXPECT_EQ(fits[2].model->save(), gp);
}

TEST(Ensemble, CopiesLearnApart) {
  const SpeedTable table = small_table();
  const EnsembleModel model = EnsembleModel::fit(table, kLittle);
  const auto before = model.save();
  const PairJob a{table.jobs[0], {table.of(0), table.features.size()}};
  const PairJob b{table.jobs[1], {table.of(1), table.features.size()}};
  const SpeedPrediction was = model.predict(a, b);
  const auto copy = model.clone();
  copy->learn(a, b, 0.2, 0.3);
  EXPECT_NE(copy->predict(a, b).speed, was.speed);
  EXPECT_EQ(model.predict(a, b).speed, was.speed);
  EXPECT_EQ(model.save(), before);
}

/// The ensemble of the table against the equations of its header. Jobs 0, 1, 3 and 7 must be measured, 14 and 15 not. Returns
/// how many of the pairs have a far job.
int expect_averages(const SpeedTable& table) {
  const double bound = constant_deviation_of_few(table);
  const EnsembleModel ensemble = EnsembleModel::fit(table, kLittle);
  std::array<std::unique_ptr<InterferenceModel>, 3> members{
      std::make_unique<FactorModel>(FactorModel::fit(table, kLittle)),
      std::make_unique<GpModel>(GpModel::fit(table, kLittle)),
      std::make_unique<BoostedTrees>(BoostedTrees::fit(table, kLittle))};
  const auto job = [&](std::uint32_t j) {
    return PairJob{table.jobs[j], {table.of(j), table.features.size()}};
  };
  struct Case {
    std::uint32_t of, beside;
    EnsembleModel::Mix mix;
  };
  const EnsembleModel::Mix measured{{0.8, 0.2, 0}, 0.9, true};
  const EnsembleModel::Mix otherwise{{0.9, 0.1, 0}, 0.8, true};
  const EnsembleModel::Mix far{{0, 1, 1}, 2, false};
  const Novelty novelty(table);
  const auto unseen = [&](std::initializer_list<std::uint32_t> jobs) {
    return !table.families.empty() &&
                   std::ranges::any_of(jobs,
                                       [&](std::uint32_t j) {
                                         return novelty.is_far({table.of(j), table.features.size()},
                                                               table.features);
                                       })
               ? far
               : otherwise;
  };
  int bounded = 0;
  int far_pairs = 0;
  for (const Case& c :
       {Case{0, 1, measured}, Case{3, 7, measured}, Case{15, 2, unseen({15})},
        Case{2, 15, unseen({15})}, Case{14, 2, unseen({14})}, Case{14, 15, unseen({14, 15})}}) {
    const bool is_far = c.mix.weight[0] == 0;
    far_pairs += is_far ? 1 : 0;
    double top = 0, bottom = 0, variance = 0;
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (c.mix.weight[m] == 0) continue;
      const SpeedPrediction p = members[m]->predict(job(c.of), job(c.beside));
      const double sd = std::log(p.hi / p.lo) / (2 * kHalfWidth90);
      EXPECT_GT(sd, 0.01);  // so that the least deviation does not apply
      const double counts = c.mix.weight[m] / (c.mix.by_deviation ? sd * sd : 1);
      top -= counts * std::log(p.speed);
      bottom += counts;
      const double counted = is_far ? sd : std::min(sd, bound);
      bounded += counted < sd ? 1 : 0;
      variance += counts * counted * counted;
    }
    const double sd = std::sqrt(c.mix.spread * variance / bottom);
    const SpeedPrediction found = ensemble.predict(job(c.of), job(c.beside));
    EXPECT_NEAR(-std::log(found.speed), top / bottom, 1e-9) << c.of << " beside " << c.beside;
    EXPECT_NEAR(std::log(found.hi / found.lo), 2 * kHalfWidth90 * sd, 1e-9)
        << c.of << " beside " << c.beside;
  }
  EXPECT_EQ(bounded > 0, std::isfinite(bound));
  return far_pairs;
}

/// Rows of small_table() in which jobs 0 to 13 occur once each, with speeds near each other.
SpeedTable few_speeds() {
  SpeedTable table = small_table();
  table.rows.clear();
  for (std::uint32_t j = 0; j < 14; j += 2) {
    table.rows.push_back({j, j + 1, 0.7 + 0.01 * j, 0.8 - 0.008 * j});
  }
  return table;
}

TEST(Ensemble, AveragesItsMembersByWhatIsKnownOfThePair) {
  EXPECT_EQ(expect_averages(small_table()), 0);
}

TEST(Ensemble, OfFewSpeedsNoMemberIsLessSureThanAConstant) {
  EXPECT_EQ(expect_averages(few_speeds()), 0);
}

TEST(Ensemble, TheBoundIsPartOfTheState) {
  const EnsembleModel many = EnsembleModel::fit(small_table(), kLittle);
  EXPECT_FALSE(many.save().contains("widest"));
  const SpeedTable table = few_speeds();
  const EnsembleModel model = EnsembleModel::fit(table, kLittle);
  const nlohmann::json saved = model.save();
  EXPECT_EQ(saved.at("widest"), constant_deviation_of_few(table));
  const auto again = EnsembleModel::load(saved, model.features(), model.workloads());
  EXPECT_EQ(again.save(), saved);
  EXPECT_EQ(model.clone()->save(), saved);
  nlohmann::json without = saved;
  without.erase("widest");
  const auto wider = EnsembleModel::load(without, model.features(), model.workloads());
  const PairJob a{table.jobs[0], {table.of(0), table.features.size()}};
  const PairJob b{table.jobs[3], {table.of(3), table.features.size()}};
  EXPECT_EQ(again.predict(a, b).sd, model.predict(a, b).sd);
  EXPECT_LT(model.predict(a, b).sd, wider.predict(a, b).sd);
  EXPECT_EQ(model.predict(a, b).speed, wider.predict(a, b).speed);
  for (const nlohmann::json& bad : {nlohmann::json(0), nlohmann::json(-1), nlohmann::json("x")}) {
    nlohmann::json other = saved;
    other["widest"] = bad;
    EXPECT_THROW(EnsembleModel::load(other, model.features(), model.workloads()),
                 std::invalid_argument);
  }
}

/// small_table() with a fixed cost of its own for each of four families.
SpeedTable table_of_families(double apart) {
  SpeedTable table = small_table();
  Rng rng(9, Stream::kTest);
  std::vector<double> own;
  for (int f = 0; f < 4; ++f) own.push_back(apart * rng.normal());
  for (std::uint32_t j = 0; j < table.jobs.size(); ++j) table.families.push_back(1 + j % 4);
  for (SpeedTable::Row& row : table.rows) {
    row.speed_a *= std::exp(-std::fabs(own[row.a % 4]));
    row.speed_b *= std::exp(-std::fabs(own[row.b % 4]));
  }
  return table;
}

TEST(Ensemble, AveragesOtherMembersForJobsFarFromAllOfKnownFamilies) {
  SpeedTable table = table_of_families(0.6);
  for (double& x : std::span(table.values).last(table.features.size())) x *= 1000;
  EXPECT_EQ(expect_averages(table), 3);
}

double deviation_for(const InterferenceModel& model, const SpeedTable& table,
                     std::uint64_t family) {
  const PairJob unseen{9999, {table.of(0), table.features.size()}, family};
  const PairJob seen{table.jobs[1], {table.of(1), table.features.size()}, table.family_of(1)};
  return deviation_of(model.predict(unseen, seen));
}

// Features do not tell the families' costs, so held-out families are predicted worse than their deviations say.
TEST(Ensemble, IntervalsOfNewFamiliesAreAsWideAsHeldOutFamiliesNeed) {
  const SpeedTable table = table_of_families(0.6);
  const EnsembleModel model = EnsembleModel::fit(table, kLittle);
  EXPECT_GT(deviation_for(model, table, 77), 1.3 * deviation_for(model, table, 0));
  EXPECT_EQ(deviation_for(model, table, 2), deviation_for(model, table, 0)) << "a known family";
  const auto again = EnsembleModel::load(model.save(), model.features(), model.workloads());
  EXPECT_EQ(deviation_for(again, table, 77), deviation_for(model, table, 77));
  nlohmann::json other = model.save();
  other["families"][0] = "zz";
  EXPECT_THROW(EnsembleModel::load(other, model.features(), model.workloads()),
               std::invalid_argument);
  other = model.save();
  other["new_family_factor"] = 0;
  EXPECT_THROW(EnsembleModel::load(other, model.features(), model.workloads()),
               std::invalid_argument);
}

TEST(Ensemble, WithoutFamiliesNoFamilyIsNew) {
  const SpeedTable table = small_table();
  const EnsembleModel model = EnsembleModel::fit(table, kLittle);
  EXPECT_EQ(deviation_for(model, table, 77), deviation_for(model, table, 0));
  SpeedTable wrong = table;
  wrong.families = {1};
  EXPECT_THROW(EnsembleModel::fit(wrong, kLittle), std::invalid_argument);
}

// The first prediction for a far job fits boosted-trees, on whichever thread.
TEST(Ensemble, ManyMayAskAboutAFarJobAtOnce) {
  const SpeedTable table = table_of_families(0.6);
  const double expected = deviation_for(EnsembleModel::fit(table, kLittle), table, 77);
  const EnsembleModel model = EnsembleModel::fit(table, kLittle);
  const EnsembleModel copy = model;
  std::array<double, 8> found{};
  parallel_for(found.size(), 4, [&](std::size_t i) {
    found[i] = deviation_for(i % 2 == 0 ? model : copy, table, 77);
  });
  for (const double f : found) EXPECT_EQ(f, expected);
}

TEST(Ensemble, RefusesAtOnceWhatBoostedTreesWouldRefuseLater) {
  SpeedTable table = small_table();
  table.jobs.push_back(4711);  // in no row
  table.values.resize(table.jobs.size() * table.features.size(),
                      std::numeric_limits<double>::infinity());
  EXPECT_THROW(EnsembleModel::fit(table, kLittle), std::invalid_argument);
}

}  // namespace
}  // namespace corun::ensemble_test
