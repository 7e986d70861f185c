#include "models/interference/boosted_trees.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/learners/boosting.hpp"
#include "models/learners/exact_boosting.hpp"
#include "sim/rng.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::boosted_trees_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<float> random_rows(std::size_t rows, std::size_t columns, double missing,
                               std::uint64_t seed) {
  Rng rng(seed, Stream::kTest);
  std::vector<float> out;
  for (std::size_t n = 0; n < rows * columns; ++n) {
    const double x = rng.normal();
    out.push_back(rng.uniform() < missing ? kMissing : static_cast<float>(x));
  }
  return out;
}

std::vector<float> bent(const std::vector<float>& rows, std::size_t columns) {
  std::vector<float> target;
  for (std::size_t r = 0; r < rows.size(); r += columns) {
    const float x = std::isnan(rows[r]) ? 2 : rows[r];
    const float y = std::isnan(rows[r + 1]) ? -1 : rows[r + 1];
    target.push_back(std::tanh(x) + (x > 0 ? y : -y));
  }
  return target;
}

TEST(TreeEnsemble, SaysWhatTheLibrarySays) {
  constexpr std::size_t kColumns = 5;
  for (const double missing : {0.0, 0.3}) {
    const std::vector<float> rows = random_rows(300, kColumns, missing, 1);
    const std::vector<float> target = bent(rows, kColumns);
    // A large least number of rows in a leaf ends some branches early; full trees are another case.
    for (const double leaf_weight : {1.0, 25.0}) {
      const GradientBoosting fitted(rows, kColumns, target,
                                    {.rounds = 40, .depth = 6, .leaf_weight = leaf_weight});
      const std::vector<float> asked = random_rows(1001, kColumns, 0.2, 2);
      const std::vector<float> library = fitted.predict(asked);
      const TreeEnsemble trees = fitted.trees();
      trees.check();
      EXPECT_EQ(trees.trees(), 40U);
      const std::vector<double> ours = trees.sums(asked);
      ASSERT_EQ(ours.size(), library.size());
      for (std::size_t r = 0; r < ours.size(); ++r) EXPECT_NEAR(ours[r], library[r], 2e-6);
    }
  }
}

TEST(TreeEnsemble, WalksDownAsAnyoneWould) {
  // One tree of depth 2: x0 < 1 (not known: right); then x1 < 0 (left) or x1 < 5 (left).
  TreeEnsemble trees;
  trees.depth = 2;
  trees.columns = 2;
  trees.test = {1, 2, 2};
  trees.threshold = {1, 0, 5};
  trees.leaf = {10, 20, 30, 40};
  trees.check();
  const std::vector<float> rows{0, -1,       0, 0,        1,        4, 1,
                                5, kMissing, 6, kMissing, kMissing, 0, kMissing};
  EXPECT_EQ(trees.sums(rows), (std::vector<double>{10, 20, 30, 40, 40, 30, 10}));
  TreeEnsemble twice = trees;
  twice.append(trees);
  EXPECT_EQ(twice.sums(rows), (std::vector<double>{20, 40, 60, 80, 80, 60, 20}));

  const auto refused = [&](auto change) {
    TreeEnsemble bad = trees;
    change(bad);
    EXPECT_THROW(bad.check(), std::invalid_argument);
  };
  refused([](TreeEnsemble& t) { t.test[0] = 4; });
  refused([](TreeEnsemble& t) { t.test[2] = -1; });
  refused([](TreeEnsemble& t) { t.leaf.pop_back(); });
  refused([](TreeEnsemble& t) { t.threshold.push_back(0); });
  refused([](TreeEnsemble& t) { t.threshold[1] = kMissing; });
  refused([](TreeEnsemble& t) { t.leaf[1] = kMissing; });
  refused([](TreeEnsemble& t) { t.depth = 40; });
  TreeEnsemble other = trees;
  other.columns = 3;
  EXPECT_THROW(other.append(trees), std::invalid_argument);
}

TEST(GradientBoosting, RefusesWhatItCannotLearn) {
  const std::vector<float> rows(8, 1);
  const std::vector<float> target(4, 1);
  EXPECT_NO_THROW(GradientBoosting(rows, 2, target, {.rounds = 1}));
  EXPECT_THROW(GradientBoosting(rows, 3, target, {}), std::invalid_argument);
  EXPECT_THROW(GradientBoosting(rows, 2, target, {.rounds = 0}), std::invalid_argument);
  EXPECT_THROW(GradientBoosting(rows, 2, target, {.depth = 99}), std::invalid_argument);
  EXPECT_THROW(GradientBoosting(rows, 2, target, {.subsample = 0}), std::invalid_argument);
  EXPECT_THROW(GradientBoosting(rows, 2, target, {.lambda = -1}), std::invalid_argument);
  const std::vector<float> unknown{1, kMissing, 1, 1};
  EXPECT_THROW(GradientBoosting(rows, 2, unknown, {}), std::invalid_argument);
}

TEST(BoostedExactly, GrowsTheTreesOfTheLibraryWhereNothingIsDrawn) {
  constexpr std::size_t kColumns = 5;
  for (const double missing : {0.0, 0.3}) {
    const std::vector<float> rows = random_rows(400, kColumns, missing, 3);
    const std::vector<float> target = bent(rows, kColumns);
    for (const double leaf_weight : {1.0, 25.0}) {
      const BoostingShape shape{.rounds = 30,
                                .depth = 5,
                                .learning_rate = 0.1,
                                .subsample = 1,
                                .columns = 1,
                                .leaf_weight = leaf_weight};
      const TreeEnsemble trees = boosted_exactly(rows, kColumns, target, shape);
      trees.check();
      EXPECT_EQ(trees.trees(), 30U);
      const std::vector<double> ours = trees.sums(rows);
      const std::vector<float> library =
          GradientBoosting(rows, kColumns, target, shape).predict(rows);
      // A row or two may fall on the other side of a split that is worth the same to rounding.
      std::size_t close = 0;
      for (std::size_t r = 0; r < ours.size(); ++r) {
        close += std::abs(ours[r] - library[r]) < 1e-4 ? 1U : 0U;
      }
      EXPECT_GE(close, ours.size() - 8) << missing << ' ' << leaf_weight;
    }
  }
}

TEST(BoostedExactly, DrawsByTheSeed) {
  constexpr std::size_t kColumns = 4;
  const std::vector<float> rows = random_rows(200, kColumns, 0.2, 4);
  const std::vector<float> target = bent(rows, kColumns);
  const BoostingShape shape{.rounds = 60, .learning_rate = 0.1, .leaf_weight = 1};
  const TreeEnsemble one = boosted_exactly(rows, kColumns, target, shape);
  EXPECT_EQ(boosted_exactly(rows, kColumns, target, shape).leaf, one.leaf);
  BoostingShape other = shape;
  other.seed = 2;
  EXPECT_NE(boosted_exactly(rows, kColumns, target, other).leaf, one.leaf);
  double before = 0;
  double after = 0;
  const std::vector<double> said = one.sums(rows);
  for (std::size_t r = 0; r < target.size(); ++r) {
    before += target[r] * target[r];
    after += (target[r] - said[r]) * (target[r] - said[r]);
  }
  EXPECT_LT(after, 0.3 * before);
}

TEST(BoostedExactly, SplitsWhereItIsWorthMost) {
  // One split: rows with 1 or less have 0, others 6, unknown ones 6.
  const std::vector<float> rows{0, 1, 2, 3, kMissing};
  const std::vector<float> target{0, 0, 6, 6, 6};
  const TreeEnsemble tree = boosted_exactly(rows, 1, target,
                                            {.rounds = 1,
                                             .depth = 1,
                                             .learning_rate = 1,
                                             .subsample = 1,
                                             .columns = 1,
                                             .lambda = 0,
                                             .leaf_weight = 1});
  EXPECT_EQ(tree.test, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(tree.threshold, (std::vector<float>{1.5F}));
  EXPECT_EQ(tree.leaf, (std::vector<float>{0, 6}));
  // Known and unknown rows apart.
  const std::vector<float> known{4, 4, 4, kMissing, kMissing};
  const std::vector<float> apart{1, 1, 1, 5, 5};
  const TreeEnsemble two = boosted_exactly(known, 1, apart,
                                           {.rounds = 1,
                                            .depth = 1,
                                            .learning_rate = 1,
                                            .subsample = 1,
                                            .columns = 1,
                                            .lambda = 0,
                                            .leaf_weight = 1});
  EXPECT_EQ(two.sums(known), (std::vector<double>{1, 1, 1, 5, 5}));
}

TEST(BoostedExactly, RefusesWhatItCannotLearn) {
  const std::vector<float> rows(8, 1);
  const std::vector<float> target(4, 1);
  EXPECT_NO_THROW(boosted_exactly(rows, 2, target, {.rounds = 1}));
  EXPECT_THROW(boosted_exactly(rows, 3, target, {}), std::invalid_argument);
  EXPECT_THROW(boosted_exactly(rows, 2, target, {.rounds = 0}), std::invalid_argument);
  EXPECT_THROW(boosted_exactly(rows, 2, target, {.parallel = 2}), std::invalid_argument);
  const std::vector<float> infinite(8, std::numeric_limits<float>::infinity());
  EXPECT_THROW(boosted_exactly(infinite, 2, target, {}), std::invalid_argument);
}

/// t_ij = 0.5 u_i u_j + 0.2 max(0, log-ratio of sizes) + effects of the jobs beyond their features.
struct World {
  SpeedTable table;
  std::vector<double> t;
  std::size_t jobs;

  PairJob known(std::size_t j) const { return {table.jobs[j], {table.of(j), 2}}; }
  PairJob by_features(std::size_t j) const { return {kUnknownWorkload, {table.of(j), 2}}; }
  double log_slowdown(std::size_t i, std::size_t j) const { return t[i * jobs + j]; }
};

World world(std::size_t jobs, double share, std::uint64_t seed, double noise = 0.03) {
  World w{{}, {}, jobs};
  w.table.features = {{"utilisation", FeatureScale::kLinear}, {"size", FeatureScale::kLog}};
  Rng rng(seed, Stream::kTest);
  std::vector<double> own;
  for (std::size_t j = 0; j < jobs; ++j) {
    w.table.jobs.push_back(static_cast<WorkloadKey>(100 + j));
    w.table.values.push_back(rng.uniform());
    w.table.values.push_back(std::exp(rng.normal()));
    own.push_back(0.15 * rng.normal());
  }
  const auto& x = w.table.values;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t j = 0; j < jobs; ++j) {
      const double ratio = std::log(x[2 * j + 1] / x[2 * i + 1]);
      w.t.push_back(0.2 + 0.5 * x[2 * i] * x[2 * j] + 0.2 * std::max(0.0, ratio) + own[i]);
    }
  }
  for (std::uint32_t a = 0; a < jobs; ++a) {
    for (std::uint32_t b = a; b < jobs; ++b) {
      if (rng.uniform() >= share) continue;
      const auto speed = [&](std::size_t i, std::size_t j) {
        return std::exp(-w.log_slowdown(i, j) + noise * rng.normal());
      };
      const double of_a = speed(a, b);
      w.table.rows.push_back({a, b, of_a, a == b ? of_a : speed(b, a)});
    }
  }
  return w;
}

/// Removes the rows of the jobs from `first` on.
SpeedTable without(const World& w, std::size_t first) {
  SpeedTable table = w.table;
  std::erase_if(table.rows, [&](const auto& row) { return row.a >= first || row.b >= first; });
  return table;
}

bool same_bits(const SpeedPrediction& a, const SpeedPrediction& b) {
  return std::bit_cast<std::array<std::uint64_t, 4>>(a) ==
         std::bit_cast<std::array<std::uint64_t, 4>>(b);
}

std::vector<PairQuery> all_pairs(std::size_t jobs) {
  std::vector<PairQuery> out;
  for (std::size_t i = 0; i < jobs; ++i) {
    for (std::size_t j = 0; j < jobs; ++j) out.push_back({i, j});
  }
  return out;
}

void expect_possible(const SpeedPrediction& p) {
  EXPECT_TRUE(std::isfinite(p.speed) && std::isfinite(p.sd) && std::isfinite(p.hi));
  EXPECT_GT(p.speed, 0);
  EXPECT_GT(p.sd, 0);
  EXPECT_GT(p.lo, 0);
  EXPECT_LT(p.lo, p.speed);
  EXPECT_LT(p.speed, p.hi);
}

TEST(BoostedTrees, LearnsPairsAndCarriesToUnseenJobs) {
  constexpr std::size_t kJobs = 40;
  constexpr std::size_t kSeen = 32;
  const World w = world(kJobs, 0.6, 3);
  const BoostedTrees model = BoostedTrees::fit(without(w, kSeen), {});
  double spread = 0;
  double seen_error = 0;
  double unseen_error = 0;
  double seen = 0;
  double unseen = 0;
  double level = 0;
  for (const double t : w.t) level += t / static_cast<double>(w.t.size());
  for (std::size_t i = 0; i < kJobs; ++i) {
    for (std::size_t j = 0; j < kJobs; ++j) {
      const double off =
          std::fabs(std::log(model.predict(w.known(i), w.known(j)).speed) + w.log_slowdown(i, j));
      spread += std::fabs(w.log_slowdown(i, j) - level);
      const bool both = i < kSeen && j < kSeen;
      (both ? seen_error : unseen_error) += off;
      (both ? seen : unseen) += 1;
    }
  }
  spread /= static_cast<double>(w.t.size());
  EXPECT_LT(seen_error / seen, 0.3 * spread);
  EXPECT_LT(unseen_error / unseen, 0.75 * spread);
  EXPECT_EQ(model.workloads().size(), kSeen);
  EXPECT_EQ(model.features(), w.table.features);
  EXPECT_GT(model.residual_sigma(), 0.02);
  EXPECT_LT(model.residual_sigma(), 1);
}

TEST(BoostedTrees, IntervalsHoldWhatTheyPromise) {
  constexpr std::size_t kJobs = 50;
  constexpr std::size_t kSeen = 38;
  double seen = 0;
  double seen_within = 0;
  double unseen = 0;
  double unseen_within = 0;
  for (const std::uint64_t seed : {5U, 6U, 7U}) {
    const World w = world(kJobs, 0.5, seed);
    const BoostedTrees model = BoostedTrees::fit(without(w, kSeen), {});
    Rng rng(seed, Stream::kTest, 9);
    for (std::size_t i = 0; i < kJobs; ++i) {
      for (std::size_t j = 0; j < kJobs; ++j) {
        const SpeedPrediction p = model.predict(w.known(i), w.known(j));
        const double speed = std::exp(-w.log_slowdown(i, j) + 0.03 * rng.normal());
        const double within = p.lo <= speed && speed <= p.hi ? 1 : 0;
        const bool both = i < kSeen && j < kSeen;
        (both ? seen : unseen) += 1;
        (both ? seen_within : unseen_within) += within;
      }
    }
  }
  EXPECT_GT(seen_within / seen, 0.88);  // half of these pairs were fitted
  EXPECT_GT(unseen_within / unseen, 0.84);
  EXPECT_LT(unseen_within / unseen, 0.97);
}

TEST(BoostedTrees, OneSeedOneModelWhateverTheThreads) {
  const World w = world(15, 0.7, 11);
  const auto saved = [&](std::uint64_t seed, int threads) {
    return BoostedTrees::fit(w.table,
                             {.seed = seed, .threads = threads, .effort = test::kLittleEffort})
        .save();
  };
  EXPECT_EQ(saved(4, 1), saved(4, 3));
  EXPECT_NE(saved(4, 1), saved(5, 1));
}

TEST(BoostedTrees, TheSameBitsInAnyBatchAndAfterAFile) {
  World w = world(20, 0.6, 12);
  w.table.values[2 * 3] = kNaN;
  w.table.values[2 * 4 + 1] = kNaN;
  const BoostedTrees model = BoostedTrees::fit(without(w, 17), {});
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < 20; ++j) jobs.push_back(j % 5 == 0 ? w.by_features(j) : w.known(j));
  // More rows than a block, and not a multiple of a block.
  std::vector<PairQuery> pairs;
  for (int times = 0; times < 6; ++times) {
    for (const PairQuery& q : all_pairs(20)) pairs.push_back(q);
  }
  const std::vector<SpeedPrediction> batch = model.predict(jobs, pairs);
  const auto bytes = nlohmann::json::to_msgpack(model.save());
  const BoostedTrees read =
      BoostedTrees::load(nlohmann::json::from_msgpack(bytes), model.features(), model.workloads());
  const std::vector<SpeedPrediction> again = read.predict(jobs, pairs);
  const auto copy = model.clone();
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    expect_possible(batch[q]);
    EXPECT_TRUE(same_bits(batch[q], again[q]));
    if (q % 37 == 0) {
      EXPECT_TRUE(same_bits(batch[q], model.predict(jobs[pairs[q].of], jobs[pairs[q].beside])));
      EXPECT_TRUE(same_bits(batch[q], copy->predict(jobs[pairs[q].of], jobs[pairs[q].beside])));
    }
  }
  EXPECT_EQ(read.save(), model.save());
  EXPECT_EQ(read.residual_sigma(), model.residual_sigma());
}

TEST(BoostedTrees, AKnownJobGoesByItsKey) {
  const World w = world(20, 0.8, 13);
  const BoostedTrees model = BoostedTrees::fit(w.table, {});
  const std::vector<double> nonsense{-5, 1};
  const PairJob other{w.table.jobs[2], nonsense};
  EXPECT_TRUE(same_bits(model.predict(w.known(2), w.known(3)), model.predict(other, w.known(3))));
  EXPECT_FALSE(same_bits(model.predict(w.known(2), w.known(3)),
                         model.predict(w.by_features(2), w.known(3))));
}

TEST(BoostedTrees, HostileTables) {
  const FitOptions options;
  SpeedTable empty;
  EXPECT_THROW(BoostedTrees::fit(empty, options), std::invalid_argument);
  // One row: a wide interval.
  SpeedTable one;
  one.features = {{"x", FeatureScale::kLinear}};
  one.jobs = {1, 2};
  one.values = {kNaN, 1e300};
  one.rows = {{0, 1, 0.5, kNaN}};
  const BoostedTrees lonely = BoostedTrees::fit(one, options);
  const SpeedPrediction p = lonely.predict({1, {}}, {2, {}});
  EXPECT_NEAR(p.speed, 0.5, 1e-6);
  EXPECT_LT(p.lo, 0.35);
  EXPECT_GT(p.hi, 0.7);
  EXPECT_EQ(BoostedTrees::load(lonely.save(), lonely.features(), lonely.workloads()).save(),
            lonely.save());
  // Identical jobs, no features, tiny and huge speeds.
  SpeedTable same;
  same.jobs = {1, 2, 3, kUnknownWorkload};
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a; b < 4; ++b) same.rows.push_back({a, b, 0.7, 0.7});
  }
  const BoostedTrees constant = BoostedTrees::fit(same, options);
  EXPECT_NEAR(constant.predict({1, {}}, {9, {}}).speed, 0.7, 1e-6);
  same.rows[0].speed_a = 1e-320;
  same.rows[1].speed_b = 1e308;
  const BoostedTrees extreme = BoostedTrees::fit(same, options);
  for (const WorkloadKey key : {1U, 9U}) expect_possible(extreme.predict({key, {}}, {2, {}}));

  const auto refused = [&](auto change) {
    SpeedTable bad = one;
    change(bad);
    EXPECT_THROW(BoostedTrees::fit(bad, options), std::invalid_argument);
  };
  refused([](SpeedTable& t) { t.rows[0].speed_a = 0; });
  refused([](SpeedTable& t) { t.rows[0].speed_a = kInfinity; });
  refused([](SpeedTable& t) { t.rows[0].speed_a = kNaN; });
  refused([](SpeedTable& t) { t.rows[0].b = 2; });
  refused([](SpeedTable& t) { t.jobs[1] = 1; });
  refused([](SpeedTable& t) { t.values.pop_back(); });
  refused([](SpeedTable& t) { t.values[0] = kInfinity; });
  refused([](SpeedTable& t) {
    t.features[0].scale = FeatureScale::kLog;
    t.values[0] = 0;
  });
  const std::vector<double> two{1, 2};
  EXPECT_THROW(lonely.predict({9, two}, {1, {}}), std::invalid_argument);
  EXPECT_THROW(lonely.predict({9, {&kInfinity, 1}}, {1, {}}), std::invalid_argument);
  const std::array<PairJob, 1> jobs{PairJob{1, {}}};
  const std::array<PairQuery, 1> pairs{{{0, 1}}};
  EXPECT_THROW(lonely.predict(jobs, pairs), std::invalid_argument);
}

TEST(BoostedTrees, HostileFiles) {
  const World w = world(8, 1, 14);
  const BoostedTrees model = BoostedTrees::fit(w.table, {});
  const nlohmann::json good = model.save();
  const auto refused = [&](const nlohmann::json& state) {
    EXPECT_THROW(BoostedTrees::load(state, model.features(), model.workloads()),
                 std::invalid_argument);
  };
  for (const auto& [key, value] : good.items()) {
    nlohmann::json state = good;
    state.erase(key);
    refused(state);
    state["other"] = 1;
    refused(state);
    for (const nlohmann::json& nonsense :
         {nlohmann::json(-1), nlohmann::json("x"), nlohmann::json::binary({1, 2, 3}),
          nlohmann::json::array({1, 2, 3}),
          nlohmann::json::binary(std::vector<std::uint8_t>(24, 255))}) {
      state = good;
      state[key] = nonsense;
      refused(state);
    }
  }
  EXPECT_THROW(BoostedTrees::load(good, {}, model.workloads()), std::invalid_argument);
  EXPECT_THROW(BoostedTrees::load(good, model.features(), {1}), std::invalid_argument);
  EXPECT_THROW(BoostedTrees::load(nlohmann::json::array(), model.features(), model.workloads()),
               std::invalid_argument);
}

}  // namespace
}  // namespace corun::boosted_trees_test
