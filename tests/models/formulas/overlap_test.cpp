#include "models/formulas/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::overlap_test {
namespace {

CorunMeasurement group(const std::vector<std::pair<double, double>>& solo_and_corun) {
  CorunMeasurement row;
  row.source = "group under test";
  for (const auto& [solo, corun] : solo_and_corun) {
    CorunMember m;
    m.solo_s = solo;
    m.corun_s = corun;
    row.members.push_back(m);
  }
  return row;
}

/// The times [s] at which jobs with these solo times [s] end if they run together, each with a constant
/// excess per other resident.
std::vector<double> run_together(const std::vector<double>& solo,
                                 const std::vector<double>& excess) {
  std::vector<double> left = solo;
  std::vector<double> end(solo.size(), -1);
  double now = 0;
  for (std::size_t residents = solo.size(); residents > 0; --residents) {
    const auto speed = [&](std::size_t i) {
      return 1 / (1 + excess[i] * static_cast<double>(residents - 1));
    };
    std::size_t next = solo.size();
    for (std::size_t i = 0; i < solo.size(); ++i) {
      if (end[i] >= 0) continue;
      if (next == solo.size() || left[i] / speed(i) < left[next] / speed(next)) next = i;
    }
    const double step = left[next] / speed(next);
    now += step;
    for (std::size_t i = 0; i < solo.size(); ++i) left[i] -= step * speed(i);
    end[next] = now;
  }
  return end;
}

TEST(OverlapExcess, PairFormulas) {
  // The first ends at 125 s: s = 100 / 125. The second has then done 200 - (300 - 125) = 25 s of work.
  const auto x = overlap_excess(group({{100, 125}, {200, 300}}));
  ASSERT_EQ(x.size(), 2u);
  EXPECT_NEAR(1 / (1 + x[0]), 100.0 / 125, 1e-12);
  EXPECT_NEAR(1 / (1 + x[1]), (200.0 - (300 - 125)) / 125, 1e-12);
  const auto swapped = overlap_excess(group({{200, 300}, {100, 125}}));
  EXPECT_EQ(swapped[0], x[1]);
  EXPECT_EQ(swapped[1], x[0]);
}

TEST(OverlapExcess, FasterThanAloneIsNegative) {
  const auto x = overlap_excess(group({{100, 95}, {100, 110}}));
  EXPECT_NEAR(x[0], 95.0 / 100 - 1, 1e-12);
  EXPECT_NEAR(1 / (1 + x[1]), (100.0 - 15) / 95, 1e-12);
}

TEST(OverlapExcess, PapersPairs) {
  WorkloadKeys keys;
  for (const CorunMeasurement& row : paper_measurements(keys)) {
    if (row.members.size() != 2) continue;
    const auto x = overlap_excess(row);
    const std::size_t i = row.members[0].corun_s <= row.members[1].corun_s ? 0 : 1;
    const CorunMember& first = row.members[i];
    const CorunMember& last = row.members[1 - i];
    EXPECT_NEAR(1 / (1 + x[i]), first.solo_s / first.corun_s, 1e-9) << row.source;
    EXPECT_NEAR(1 / (1 + x[1 - i]), (last.solo_s - (last.corun_s - first.corun_s)) / first.corun_s,
                1e-9)
        << row.source;
    const PairCost cost =
        pair_cost(row.members[0].solo_s, row.members[1].solo_s, 1 / (1 + x[0]), 1 / (1 + x[1]));
    EXPECT_NEAR(cost.corun_a_s, row.members[0].corun_s, 1e-6) << row.source;
    EXPECT_NEAR(cost.corun_b_s, row.members[1].corun_s, 1e-6) << row.source;
  }
}

TEST(OverlapExcess, BinsOfThePapersEndWhenTheyDid) {
  WorkloadKeys keys;
  int bins = 0;
  for (const CorunMeasurement& row : paper_measurements(keys)) {
    if (row.members.size() == 2) continue;
    ++bins;
    std::vector<double> solo;
    for (const CorunMember& m : row.members) solo.push_back(m.solo_s);
    const auto ends = run_together(solo, overlap_excess(row));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_NEAR(ends[i], row.members[i].corun_s, 1e-6) << row.source << " member " << i;
    }
  }
  EXPECT_EQ(bins, 2);
}

TEST(OverlapExcess, EndingTogether) {
  // All end together, so each job has two co-runners to its end.
  const auto x = overlap_excess(group({{100, 200}, {160, 200}, {200, 200}}));
  EXPECT_NEAR(x[0], (200.0 / 100 - 1) / 2, 1e-12);
  EXPECT_NEAR(x[1], (200.0 / 160 - 1) / 2, 1e-12);
  EXPECT_NEAR(x[2], 0, 1e-12);
}

TEST(OverlapExcess, ImpossibleTimesAreRefused) {
  // First row: after the other left at 100 s, the second ran alone for 200 s, with only 150 s of work. Other
  // rows: speeds above twice the solo speed.
  for (const auto& impossible : {group({{100, 100}, {150, 300}}), group({{100, 40}, {100, 140}}),
                                 group({{300, 100}, {50, 100}, {50, 100}})}) {
    try {
      overlap_excess(impossible);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).rfind("group under test: ", 0), 0u) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(PairCost, ByHand) {
  // A ends at 125 s at speed 0.8; B at 0.5 has then done 62.5 of 200 s and continues alone.
  const PairCost c = pair_cost(100, 200, 0.8, 0.5);
  EXPECT_DOUBLE_EQ(c.corun_a_s, 125);
  EXPECT_DOUBLE_EQ(c.corun_b_s, 262.5);
  EXPECT_DOUBLE_EQ(c.isd_a, 0.25);
  EXPECT_DOUBLE_EQ(c.isd_b, 0.3125);
  EXPECT_DOUBLE_EQ(c.ps, (300 - 262.5) / 300);
  const PairCost swapped = pair_cost(200, 100, 0.5, 0.8);
  EXPECT_DOUBLE_EQ(swapped.corun_a_s, 262.5);
  EXPECT_DOUBLE_EQ(swapped.corun_b_s, 125);
}

TEST(PairCost, WithoutInterference) {
  const PairCost c = pair_cost(100, 300, 1, 1);
  EXPECT_EQ(c.corun_a_s, 100);
  EXPECT_EQ(c.corun_b_s, 300);
  EXPECT_EQ(c.isd_a, 0);
  EXPECT_EQ(c.isd_b, 0);
  EXPECT_EQ(c.ps, 0.25);
}

}  // namespace
}  // namespace corun::overlap_test
