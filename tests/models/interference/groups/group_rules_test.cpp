#include "models/interference/groups/group_rules.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "models/interference/catalog.hpp"
#include "models/interference/lookup.hpp"
#include "tests/helpers/effort.hpp"

namespace corun::group_rules_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double in_group(double pair, std::size_t count, const CoRunnerRule& rule) {
  CoRunnerSpeed speed(rule);
  for (std::size_t i = 1; i < count; ++i) speed.add(pair);
  return speed.speed();
}

/// Jobs that were measured with copies of themselves: pairs, and groups of three to five by a rule.
SpeedTable table_by(const CoRunnerRule& rule, Sharing sharing, std::uint32_t jobs, bool has_pairs) {
  SpeedTable table;
  table.campaigns.front().sharing = sharing;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    table.jobs.push_back(static_cast<WorkloadKey>(10 + job));
    const double pair = 1 / (1.05 + 0.9 * job / jobs);
    if (has_pairs) table.rows.push_back({job, job, pair, pair});
    for (const std::size_t count : {3U, 4U, 5U}) {
      table.groups.push_back({std::vector<std::uint32_t>(count, job),
                              std::vector<double>(count, in_group(pair, count, rule)), sharing});
    }
  }
  return table;
}

bool same_curve(const CoRunnerRule& a, const CoRunnerRule& b) {
  return a.pooling == b.pooling && a.idle == b.idle;
}

TEST(GroupRules, PairsAreToldByGroupsOfEqualJobs) {
  const SpeedTable table = table_by(kMpsRule, Sharing::kMps, 8, false);
  const SpeedTable with = with_pairs_of_groups(table);
  ASSERT_EQ(with.rows.size(), 8U);
  for (std::uint32_t job = 0; job < 8; ++job) {
    EXPECT_NEAR(with.rows[job].speed_a, 1 / (1.05 + 0.9 * job / 8), 1e-9);
    EXPECT_EQ(with.rows[job].speed_a, with.rows[job].speed_b);
  }
  // Measured pairs stay, and groups of different jobs tell no pair.
  SpeedTable measured = table_by(kMpsRule, Sharing::kMps, 8, true);
  EXPECT_EQ(with_pairs_of_groups(measured).rows.size(), 8U);
  SpeedTable mixed = table;
  mixed.groups = {{{0, 0, 1}, {0.5, 0.5, 0.5}, Sharing::kMps},
                  {{2, 2, 2}, {kNaN, kNaN, kNaN}, Sharing::kMps}};
  EXPECT_TRUE(with_pairs_of_groups(mixed).rows.empty());
}

TEST(GroupRules, AreLearntWhereGroupsDiffer) {
  const CoRunnerRule other{1, 0};
  const SpeedTable table = table_by(other, Sharing::kTimeSlicing, 8, true);
  const auto model = find_interference_model("measured")->fit(table, {});
  EXPECT_TRUE(same_curve(model->groups().rule(), other));
  EXPECT_EQ(model->groups().campaign.sharing, Sharing::kTimeSlicing);
  EXPECT_EQ(model->groups().rules[static_cast<std::size_t>(Sharing::kMps)], kMpsRule);
  // Their own rule, too few groups, or none: as without groups.
  for (const SpeedTable& same :
       {table_by(kMpsRule, Sharing::kMps, 8, true), table_by(other, Sharing::kMps, 3, true)}) {
    const auto fitted = find_interference_model("measured")->fit(same, {});
    EXPECT_TRUE(same_curve(fitted->groups().rule(), kMpsRule));
  }
}

TEST(GroupRules, ScatterIsThatOfTheGroups) {
  const auto scatter = [](double factor) {
    SpeedTable table = table_by(kMpsRule, Sharing::kMps, 8, true);
    for (std::size_t g = 0; g < table.groups.size(); ++g) {
      for (double& speed : table.groups[g].speeds) speed *= g % 2 == 0 ? factor : 1 / factor;
    }
    return find_interference_model("measured")->fit(table, {})->groups().rule().scatter;
  };
  EXPECT_LT(scatter(1.001), 0.5);
  EXPECT_GT(scatter(1.1), 1.5 * scatter(1.05));
  EXPECT_EQ(scatter(3), 4);
}

// Twelve groups of one family that agree with another rule may be that family's; those of eight families are not.
TEST(GroupRules, OneFamilyDoesNotSpeakForAll) {
  SpeedTable table = table_by({1, 0}, Sharing::kTimeSlicing, 8, true);
  table.families.assign(8, 5);
  const auto one = find_interference_model("measured")->fit(table, {});
  EXPECT_TRUE(same_curve(one->groups().rule(), kSlicingRule));
}

TEST(GroupRules, CopiesAndEnsemblesKeepThem) {
  const SpeedTable table = table_by({1, 0}, Sharing::kTimeSlicing, 8, true);
  const FitOptions little{.effort = test::kLittleEffort};
  for (const char* name : {"ensemble", "gp", "measured"}) {
    const auto model = find_interference_model(name)->fit(table, little);
    EXPECT_EQ(model->clone()->groups().rules, model->groups().rules) << name;
  }
  const InterferenceModelEntry* const ensemble = find_interference_model("ensemble");
  std::vector<const InterferenceModelEntry*> entries{ensemble};
  for (const char* name : {"factors", "gp", "boosted-trees"}) {
    entries.push_back(find_interference_model(name));
  }
  EXPECT_EQ(fit_together(entries, table, little)[0].model->groups().rules,
            ensemble->fit(table, little)->groups().rules);
}

TEST(GroupRules, ImpossibleGroupsAreRefused) {
  const SpeedTable good = table_by(kMpsRule, Sharing::kMps, 2, true);
  const std::vector<SpeedTable::Group> bad{{{0, 1}, {0.5, 0.5}, Sharing::kMps},
                                           {{0, 1, 2}, {0.5, 0.5, 0.5}, Sharing::kMps},
                                           {{0, 1, 1}, {0.5, 0.5}, Sharing::kMps},
                                           {{0, 1, 1}, {0.5, 0.5, 0}, Sharing::kMps},
                                           {{0, 1, 1}, {0.5, 0.5, -1}, Sharing::kMps}};
  for (const SpeedTable::Group& group : bad) {
    SpeedTable table = good;
    table.groups.push_back(group);
    EXPECT_THROW(with_pairs_of_groups(table), std::invalid_argument);
  }
}

}  // namespace
}  // namespace corun::group_rules_test
