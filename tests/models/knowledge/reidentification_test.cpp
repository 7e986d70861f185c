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
  // The nearest neighbours: 2, 1, 2, 11, 10, 11.
  const std::vector<double> x{1, 2, 4, 10, 11, 20};
  const Reidentification r = on_a_line(x, {0, 0, 1, 1, 1, 0}, 1);
  EXPECT_EQ(r.right, (std::vector<double>{1, 1, 0, 1, 1, 0}));
  EXPECT_DOUBLE_EQ(r.accuracy, 4.0 / 6);
  EXPECT_DOUBLE_EQ(r.majority, 0.5);
  EXPECT_EQ(r.p_value, 1);
}

TEST(Reidentification, VotesAndTheirTies) {
  const std::vector<double> x{0, 1, 3, 6};
  // Of three different votes the nearest wins: for 0 it is 1, for 1 it is 0, for 3 it is 1, for 6 it is 3.
  EXPECT_EQ(on_a_line(x, {7, 7, 8, 9}, 3).right, (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(on_a_line(x, {1, 2, 3, 3}, 3).right, (std::vector<double>{0, 0, 0, 1}));
  // k exceeds the number of other rows, so all vote; 3 and 3 outvote the nearer rows.
  EXPECT_EQ(on_a_line(x, {1, 3, 1, 3}, 99).right, (std::vector<double>{0, 0, 0, 0}));
  // The middle row has two nearest neighbours of different labels: right with probability 1/2.
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
  // The second feature is informative; the first is noise of a larger scale.
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
  // p is a multiple of 1/500.
  EXPECT_NEAR(r.p_value * 500, std::round(r.p_value * 500), 1e-9);
}

TEST(Reidentification, GroupsHideTheirRows) {
  // Every row has a copy. With it a guess is right; without it the other label is nearest.
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
  // Nine families: far above 16 % of the majority and 10 % of permutations, far below 100 %.
  const Reidentification family = reidentify(view, data->family, {}, {.standardise = true});
  EXPECT_NEAR(family.accuracy, 20 / 49.0, 1e-9);
  EXPECT_NEAR(family.majority, 8 / 49.0, 1e-12);
  EXPECT_NEAR(family.permuted, 0.098, 0.01);
  EXPECT_EQ(family.p_value, 0.001);
  // Five tasks: hardly above guessing image classification for all ...
  const Reidentification task = reidentify(view, data->task, {}, {.standardise = true});
  EXPECT_NEAR(task.accuracy, 26 / 49.0, 1e-9);
  EXPECT_NEAR(task.majority, 25 / 49.0, 1e-12);
  // ... but every job of reinforcement learning, which leaves the GPU idle, is identified.
  for (std::size_t r = 0; r < table.rows; ++r) {
    if (data->task[r] != 4) continue;
    EXPECT_EQ(task.right[r], 1) << r;
  }
}

}  // namespace
}  // namespace corun::reidentification_test
