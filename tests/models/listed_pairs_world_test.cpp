#include "models/listed_pairs_world.hpp"

#include <gtest/gtest.h>

#include "tests/helpers/builders.hpp"

namespace corun::listed_pairs_world_test {
namespace {

using test::J;

class ListedPairsWorldTest : public testing::Test {
 protected:
  std::vector<double> speeds(std::vector<JobId> residents, JobId newcomer) {
    std::vector<double> out(residents.size());
    provenance_ = world_.speeds({residents, residents, newcomer}, 7, out);
    return out;
  }
  static ListedPairs list() {
    ListedPairs pairs;
    pairs.add(1, 2, 0.5, 1.25);
    pairs.add(1, 2, 0.1, 0.1);  // a second row has no effect
    pairs.add(2, 1, 0.75, 0.25);
    pairs.add(1, 3, 0.6, 0.4);
    return pairs;
  }
  // Jobs 0 to 3 are of workloads 1, 2, 3 and 4.
  ListedPairsWorld world_{std::make_shared<ListedPairs>(list()), {1, 2, 3, 4}};
  Provenance provenance_ = Provenance::kAlone;
};

TEST_F(ListedPairsWorldTest, TheNewcomerIsLookedUpFirst) {
  EXPECT_EQ(speeds({J(0), J(1)}, J(0)), (std::vector{0.5, 1.25}));
  EXPECT_EQ(speeds({J(0), J(1)}, J(1)), (std::vector{0.25, 0.75}));
  EXPECT_EQ(provenance_, Provenance::kMeasured);
}

TEST_F(ListedPairsWorldTest, ARowIsTurnedRoundWhereOnlyTheOtherOrderIsListed) {
  EXPECT_EQ(speeds({J(0), J(2)}, J(0)), (std::vector{0.6, 0.4}));
  EXPECT_EQ(speeds({J(0), J(2)}, J(2)), (std::vector{0.6, 0.4}));
}

TEST_F(ListedPairsWorldTest, WhatIsNotListedCostsNothing) {
  EXPECT_EQ(speeds({J(0), J(3)}, J(3)), (std::vector{1.0, 1.0}));
  EXPECT_EQ(provenance_, Provenance::kModelled);
  EXPECT_EQ(speeds({J(0)}, J(0)), (std::vector{1.0}));
  EXPECT_EQ(provenance_, Provenance::kAlone);
}

TEST_F(ListedPairsWorldTest, OfMoreThanTwoTheLeastSpeedCounts) {
  // Pairs (2, 1) turned: .25 and .75; (1, 3): .6 and .4; (3, 2): not listed.
  EXPECT_EQ(speeds({J(0), J(1), J(2)}, J(2)), (std::vector{0.25, 0.75, 0.4}));
}

}  // namespace
}  // namespace corun::listed_pairs_world_test
