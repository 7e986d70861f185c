// Accuracy on measured groups of three copies of a job and more, from pairs or from smaller groups: a change that increases
// the error, or changes the coverage of the 90 % intervals, fails here. The goals are those of docs/models.md, "More than two
// residents"; the model is `measured`, so that the groups' formulas are what is tested.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/catalog.hpp"
#include "sim/base/half_width.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/tables/measurements.hpp"

namespace corun::group_accuracy_test {
namespace {

/// Speed of one member: measured, predicted, and its relative deviation.
struct Member {
  double measured = 1, predicted = 1, deviation = 0;
  double excess() const { return 1 / measured - 1; }
  double error() const { return 1 / predicted - 1 / measured; }
};

/// The groups of `asked` by MPS, predicted by a fit to `known`.
std::vector<Member> predicted(const SpeedTable& known, const SpeedTable& asked) {
  const auto model = find_interference_model("measured")->fit(known, {});
  std::vector<Member> out;
  for (const SpeedTable::Group& group : asked.groups) {
    if (group.sharing != Sharing::kMps) continue;
    std::vector<PairJob> residents;
    for (const std::uint32_t job : group.jobs) {
      residents.push_back({asked.jobs[job], {asked.of(job), asked.features.size()}});
    }
    const SpeedPrediction first =
        model->by_rule(residents, model->groups().rules[static_cast<std::size_t>(Sharing::kMps)])
            .front();
    out.push_back({group.speeds.front(), first.speed, first.sd / first.speed});
  }
  return out;
}

struct Figures {
  double mae = 0, bias = 0, covered = 0;  ///< of ISD [fraction]; share within the 90 % interval
};

Figures figures_of(const std::vector<Member>& members) {
  Figures out;
  const auto n = static_cast<double>(members.size());
  for (const Member& one : members) {
    out.mae += std::fabs(one.error()) / n;
    out.bias += one.error() / n;
    const double off = std::fabs(std::log(one.measured / one.predicted));
    out.covered += off <= kHalfWidth90 * one.deviation ? 1 / n : 0;
  }
  return out;
}

TEST(GroupAccuracy, ParvaGpusGroupsFromPairs) {
  const char* file = "coruns/parvagpu_groups.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const SpeedTable all = read_measurements(test::public_data(file), keys).speeds;
  SpeedTable pairs = all;
  pairs.groups.clear();
  const Figures with_batches = figures_of(predicted(pairs, all));
  EXPECT_LE(with_batches.mae, 0.095);
  EXPECT_LE(std::fabs(with_batches.bias), 0.03);
  EXPECT_GE(with_batches.covered, 0.88);
  EXPECT_LE(with_batches.covered, 0.96);
  pairs.programs.clear();
  const Figures without = figures_of(predicted(pairs, all));
  EXPECT_LE(without.mae, 0.11);
  EXPECT_LE(std::fabs(without.bias), 0.03);
  EXPECT_GE(without.covered, 0.86);
}

TEST(GroupAccuracy, LargerGroupsOfNosFromThree) {
  const char* file = "coruns/nos_groups.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  const SpeedTable all = read_measurements(test::public_data(file), keys).speeds;
  SpeedTable three = all;
  std::erase_if(three.groups, [](const SpeedTable::Group& group) {
    return group.jobs.size() != 3 || group.sharing != Sharing::kMps;
  });
  std::size_t larger = 0;
  for (const Member& one : predicted(three, all)) {
    if (one.excess() < 1) continue;  // MIG, and the three that are known
    ++larger;
    EXPECT_LE(std::fabs(one.error()), 0.08 * one.excess()) << one.measured;
  }
  EXPECT_EQ(larger, 2U);
}

}  // namespace
}  // namespace corun::group_accuracy_test
