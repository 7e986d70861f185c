#include "models/knowledge/reidentification.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/rng.hpp"
#include "tests/models/knowledge/alnair_data.hpp"

namespace corun::reidentification_test {
namespace {

using Labels = std::vector<int>;

Reidentification on_a_line(const std::vector<double>& x, const Labels& labels, int k,
                           const Labels& groups = {}) {
  return reidentify({x, x.size(), 1}, labels, groups, {.neighbours = k, .permutations = 0});
}

TEST(Reidentification, NearestNeighbourByHand) {
  // Nearest of each: 2, 1, 2, 11, 10, 11.
  const std::vector<double> x{1, 2, 4, 10, 11, 20};
  const Reidentification r = on_a_line(x, {0, 0, 1, 1, 1, 0}, 1);
  EXPECT_EQ(r.right, (std::vector<double>{1, 1, 0, 1, 1, 0}));
  EXPECT_DOUBLE_EQ(r.accuracy, 4.0 / 6);
  EXPECT_DOUBLE_EQ(r.majority, 0.5);
  EXPECT_EQ(r.p_value, 1);
}

TEST(Reidentification, VotesAndTheirTies) {
  const std::vector<double> x{0, 1, 3, 6};
  // Of three different votes the nearest wins: of 0 it is 1, of 1 it is 0, of 3 it is 1, of 6 it is 3.
  EXPECT_EQ(on_a_line(x, {7, 7, 8, 9}, 3).right, (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(on_a_line(x, {1, 2, 3, 3}, 3).right, (std::vector<double>{0, 0, 0, 1}));
  // k above the number of others: all of them vote, 3 and 3 outvote what is nearer.
  EXPECT_EQ(on_a_line(x, {1, 3, 1, 3}, 99).right, (std::vector<double>{0, 0, 0, 0}));
  // The middle row has two nearest of different label: right half the time.
  EXPECT_EQ(on_a_line({-1, 0, 1}, {0, 0, 1}, 1).right[1], 0.5);
  EXPECT_EQ(on_a_line({0, 0, 0, 0}, {0, 0, 1, 1}, 1).right, (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(on_a_line({0, 0, 0, 0}, {0, 0, 0, 1}, 1).right, (std::vector<double>{1, 1, 1, 0}));
}

TEST(Reidentification, OrderOfRowsDoesNotMatter) {
  Rng rng(1, Stream::kTest);
  std::vector<double> x;
  Labels labels;
  for (int i = 0; i < 30; ++i) {
    x.push_back(rng.below(8));  // many ties
    labels.push_back(static_cast<int>(rng.below(3)));
  }
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(std::span<std::size_t>(order));
  std::vector<double> shuffled;
  Labels shuffled_labels;
  for (const std::size_t i : order) {
    shuffled.push_back(x[i]);
    shuffled_labels.push_back(labels[i]);
  }
  for (const int k : {1, 3, 5}) {
    const Reidentification a = on_a_line(x, labels, k);
    const Reidentification b = on_a_line(shuffled, shuffled_labels, k);
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(b.right[i], a.right[order[i]]);
    EXPECT_NEAR(a.accuracy, b.accuracy, 1e-12);
  }
}

TEST(Reidentification, StandardisingFreesItFromUnits) {
  // The second feature tells; the first is noise in a small unit.
  Rng rng(2, Stream::kTest);
  std::vector<double> x;
  Labels labels;
  for (int i = 0; i < 40; ++i) {
    labels.push_back(i % 2);
    x.push_back(1000 * rng.normal());
    x.push_back(10.0 * (i % 2) + rng.normal());
  }
  const MatrixView view{x, 40, 2};
  const Reidentification raw = reidentify(view, labels);
  const Reidentification standardised = reidentify(view, labels, {}, {.standardise = true});
  EXPECT_LT(raw.accuracy, 0.75);
  EXPECT_GT(standardised.accuracy, 0.95);
  EXPECT_EQ(standardised.p_value, 0.001);
  EXPECT_NEAR(standardised.permuted, 0.5, 0.05);
}

TEST(Reidentification, FeaturesThatSayNothingAreNoBetterThanPermutations) {
  Rng rng(3, Stream::kTest);
  std::vector<double> x;
  Labels labels;
  for (int i = 0; i < 60; ++i) {
    x.push_back(rng.normal());
    labels.push_back(i % 4);
  }
  const ReidentificationOptions options{.neighbours = 3, .permutations = 499, .seed = 5};
  const Reidentification r = reidentify({x, 60, 1}, labels, {}, options);
  EXPECT_GT(r.p_value, 0.02);
  EXPECT_NEAR(r.permuted, 0.24, 0.03);
  const Reidentification again = reidentify({x, 60, 1}, labels, {}, options);
  EXPECT_EQ(r.p_value, again.p_value);
  EXPECT_EQ(r.permuted, again.permuted);
  // p is a whole number of parts of 500.
  EXPECT_NEAR(r.p_value * 500, std::round(r.p_value * 500), 1e-9);
}

TEST(Reidentification, GroupsHideTheirRows) {
  // Every row has a twin. Beside it a guess is right, without it the other label is nearest.
  const std::vector<double> x{0, 0.1, 1, 1.1};
  const Labels labels{0, 0, 1, 1};
  EXPECT_EQ(on_a_line(x, labels, 1).accuracy, 1);
  EXPECT_EQ(on_a_line(x, labels, 1, {5, 5, 6, 6}).accuracy, 0);
  EXPECT_EQ(on_a_line(x, labels, 1, {1, 2, 3, 4}).accuracy, 1);
}

TEST(Reidentification, Refuses) {
  const std::vector<double> x{1, 2, 3, 4};
  const auto refuses = [](const auto& call) { EXPECT_THROW(call(), std::invalid_argument); };
  refuses([&] { reidentify({x, 4, 1}, Labels{0, 1, 0}); });
  refuses([&] { reidentify({x, 4, 1}, Labels{0, 1, 0, 1}, Labels{1}); });
  refuses([&] { reidentify({x, 4, 1}, Labels{0, 1, 0, 1}, Labels{1, 1, 1, 1}); });
  refuses([&] { reidentify({x, 4, 1}, Labels{0, 1, 0, 1}, {}, {.neighbours = 0}); });
  refuses([&] { reidentify({x, 4, 1}, Labels{0, 1, 0, 1}, {}, {.permutations = -1}); });
  refuses([&] { reidentify({x, 1, 4}, Labels{0}); });
  refuses([&] { reidentify({x, 4, 2}, Labels{0, 1, 0, 1}); });
  const std::vector<double> bad{1, NAN, 3, 4};
  refuses([&] { reidentify({bad, 4, 1}, Labels{0, 1, 0, 1}); });
}

TEST(ReidentificationOfThePapersData, ThePrivateFeaturesGiveAwayTheModelInPart) {
  const auto data = read_alnair();
  if (!data) GTEST_SKIP() << test::not_checked(kAlnairFile);
  const MatrixView table = data->view();
  std::vector<double> features;
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (const std::string_view name : {"MGUP", "MGMAP", "MaGTSAMP"}) {
      features.push_back(table(r, data->column(name)));
    }
  }
  const MatrixView view{features, table.rows, 3};
  // Nine families: far above the majority's 16 % and the permutations' 10 %, far from certain.
  const Reidentification family = reidentify(view, data->family, {}, {.standardise = true});
  EXPECT_NEAR(family.accuracy, 20 / 49.0, 1e-9);
  EXPECT_NEAR(family.majority, 8 / 49.0, 1e-12);
  EXPECT_NEAR(family.permuted, 0.098, 0.01);
  EXPECT_EQ(family.p_value, 0.001);
  // Five tasks: hardly above the guess that all is image classification ...
  const Reidentification task = reidentify(view, data->task, {}, {.standardise = true});
  EXPECT_NEAR(task.accuracy, 26 / 49.0, 1e-9);
  EXPECT_NEAR(task.majority, 25 / 49.0, 1e-12);
  // ... while every job of reinforcement learning, which idles the GPU, is told.
  for (std::size_t r = 0; r < table.rows; ++r) {
    if (data->task[r] != 4) continue;
    EXPECT_EQ(task.right[r], 1) << r;
  }
}

}  // namespace
}  // namespace corun::reidentification_test
