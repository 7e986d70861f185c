#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "policies/shares/max_min.hpp"
#include "policies/shares/max_throughput.hpp"
#include "tests/policies/shares/gavel_case.hpp"

/// The optimum of each program that the runs of Gavel's simulator recorded.
namespace corun {
namespace {

constexpr double kGap = 1e-6;

struct Tally {
  std::size_t compared = 0;
  double worst = 0;
};

/// A line per program in the file that CORUN_PROGRAM_GAPS names: case, what the peer's solver said, the gap
/// (experiments/peers/objectives.py).
void note(const GavelCase& c, const std::string& status, double gap) {
  const char* const path = std::getenv("CORUN_PROGRAM_GAPS");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app) << c.name << ',' << status << ',' << gap << '\n';
}

/// Compares an objective with the recorded one, where the peer's solver called it optimal.
void compare(const GavelCase& c, const GavelCase::Allocation& at, std::size_t program, double ours,
             Tally& tally, double least = 1e-9) {
  ASSERT_LT(program, at.objectives.size()) << c.name << " at " << at.at_s;
  const double theirs = at.objectives[program];
  const double gap = std::abs(ours - theirs) / std::max(std::abs(theirs), least);
  note(c, at.statuses[program], gap);
  if (at.statuses[program] != "optimal") {
    std::printf("%s at %.3f s, program %zu: %s, gap %.2g\n", c.name.c_str(), at.at_s, program,
                at.statuses[program].c_str(), gap);
    return;
  }
  EXPECT_LE(gap, kGap) << c.name << " at " << at.at_s << ", program " << program << ": " << ours
                       << ", recorded " << theirs;
  ++tally.compared;
  tally.worst = std::max(tally.worst, gap);
}

GavelCase::Rates rates_of(const GavelCase& c, GavelCase::Rates blind) {
  return c.has("perf") || c.has("packed") ? GavelCase::Rates::kOwn : blind;
}

class ProgramsPeers : public testing::Test {
 protected:
  void SetUp() override {
    cases_ = gavel_cases();
    if (cases_.empty()) GTEST_SKIP() << test::not_checked("peers3/gavel");
  }
  void TearDown() override {
    if (!cases_.empty()) EXPECT_GT(tally_.compared, 0U);
    RecordProperty("programs", static_cast<int>(tally_.compared));
    std::printf("%zu programs, greatest gap %.2g\n", tally_.compared, tally_.worst);
  }
  std::vector<GavelCase> cases_;
  Tally tally_;
};

TEST_F(ProgramsPeers, MaxMin) {
  for (const GavelCase& c : cases_) {
    if (!c.has("max_min_fairness") || c.has("water_filling")) continue;
    ProgramBasis basis;
    for (const auto& at : c.allocations) {
      if (at.objectives.empty()) continue;
      const ShareProblem problem =
          c.problem(at, c.has("packed"), rates_of(c, GavelCase::Rates::kOne));
      compare(c, at, 0, max_min(problem, &basis).objective, tally_);
    }
  }
}

TEST_F(ProgramsPeers, WaterFilling) {
  for (const GavelCase& c : cases_) {
    if (!c.has("water_filling")) continue;
    for (const auto& at : c.allocations) {
      if (at.objectives.empty()) continue;
      const ShareProblem problem =
          c.problem(at, c.has("packed"), rates_of(c, GavelCase::Rates::kOne));
      const WaterFilling filled = water_filling(problem);
      // The peer ends a filling at a 0/1 program that its solver calls infeasible; on packed problems it solves one
      // more program after the last, whose answer changes no share.
      for (std::size_t p = 0; p < filled.objectives.size() && p < at.objectives.size(); ++p) {
        if (p % 2 == 1) {
          note(c, at.statuses[p], std::abs(filled.objectives[p] - std::round(at.objectives[p])));
          if (at.statuses[p] == "optimal")
            EXPECT_EQ(filled.objectives[p], std::round(at.objectives[p]))
                << c.name << " at " << at.at_s << " " << p;
          if (at.statuses[p] != "optimal") break;
        } else {
          compare(c, at, p, filled.objectives[p], tally_);
        }
      }
      if (!c.has("packed") && at.statuses.back() == "optimal")
        EXPECT_EQ(filled.objectives.size(), at.objectives.size()) << c.name << " at " << at.at_s;
    }
  }
}

TEST_F(ProgramsPeers, MaxThroughput) {
  const std::map<std::string, double> price{{"v100", 0.74}, {"p100", 0.43}, {"k80", 0.135}};
  for (const GavelCase& c : cases_) {
    if (!c.has("max_sum")) continue;
    std::vector<double> prices;
    for (const auto& type : c.types) {
      if (c.has("cost")) prices.push_back(price.at(type));
    }
    ProgramBasis basis;
    for (const auto& at : c.allocations) {
      if (at.objectives.empty()) continue;
      compare(
          c, at, 0,
          max_throughput(c.problem(at, false, GavelCase::Rates::kOwn), prices, &basis).objective,
          tally_);
    }
  }
}

TEST_F(ProgramsPeers, MakespanFindsTheSameTimes) {
  for (const GavelCase& c : cases_) {
    if (!c.has("min_total_duration")) continue;
    ProgramBasis basis;
    for (const auto& at : c.allocations) {
      if (at.objectives.empty()) continue;
      const ShareProblem problem =
          c.problem(at, c.has("packed"), rates_of(c, GavelCase::Rates::kFlat));
      const Makespan found = min_makespan(problem, &basis);
      std::vector<bool> theirs;
      for (const auto& status : at.statuses) theirs.push_back(status == "optimal");
      EXPECT_EQ(found.found, theirs) << c.name << " at " << at.at_s;
      note(c, "bisection", found.found == theirs ? 0 : 1);
      ++tally_.compared;
    }
  }
}

TEST_F(ProgramsPeers, FinishTimeFairness) {
  for (const GavelCase& c : cases_) {
    if (!c.has("finish_time_fairness")) continue;
    ProgramBasis basis;
    std::map<std::uint32_t, std::pair<double, double>>
        isolated;  // time, rate at the last allocation
    std::map<std::uint32_t, double> left;
    for (const auto& at : c.allocations) {
      if (at.jobs.empty()) isolated.clear();
      if (at.objectives.empty()) continue;
      ShareProblem problem = c.problem(at, c.has("packed"), rates_of(c, GavelCase::Rates::kFlat));
      const std::vector<double> rates = isolated_rates(problem);
      for (std::size_t i = 0; i < at.jobs.size(); ++i) {
        const std::uint32_t j = at.jobs[i];
        auto& [time_s, rate] = isolated[j];
        if (rate > 0) time_s += (left[j] - at.steps_left.at(j)) / rate;
        problem.jobs[i].isolated_s = time_s;
        rate = rates[i];
        left[j] = at.steps_left.at(j);
      }
      compare(c, at, 0, finish_time_fairness(problem, &basis).objective, tally_);
    }
  }
}

}  // namespace
}  // namespace corun
