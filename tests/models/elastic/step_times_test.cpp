#include "models/elastic/step_times.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/elastic/triangulation.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

/// Step times between measured ones: in closed form, and those that Pollux' simulator took.
namespace corun::step_times_test {
namespace {

MeasuredStep placed(std::vector<int> on_nodes, double local, double step_s, double sync_s) {
  MeasuredStep step;
  step.nodes = static_cast<int>(on_nodes.size());
  step.gpus = 0;
  for (const int gpus : on_nodes) step.gpus += gpus;
  step.on_nodes = std::move(on_nodes);
  step.local_batch = local;
  step.step_s = step_s;
  step.sync_s = sync_s;
  return step;
}

MeasuredStep counted(int nodes, int gpus, double local, double step_s) {
  MeasuredStep step;
  step.nodes = nodes;
  step.gpus = gpus;
  step.local_batch = local;
  step.step_s = step_s;
  step.sync_s = step_s / 2;
  return step;
}

StepTime at(const StepTimes& times, const std::vector<int>& on_nodes, double local) {
  return times.at(on_nodes, local);
}

TEST(StepTimes, AMeasuredPlacementIsLinearInTheLocalBatch) {
  ProgramOnType measured;
  measured.placements = {placed({1, 2, 3}, 8, 2, 1), placed({1, 2, 3}, 4, 1, 0.25)};
  const StepTimes times(measured);
  EXPECT_DOUBLE_EQ(at(times, {1, 2, 3}, 5).step_s, 1.25);
  EXPECT_DOUBLE_EQ(at(times, {1, 2, 3}, 6).sync_s, 0.625);
  EXPECT_DOUBLE_EQ(at(times, {1, 2, 3}, 8).step_s, 2);
}

TEST(StepTimes, RotationsOfAPlacementAreTheSameRing) {
  ProgramOnType measured;
  measured.placements = {placed({2, 3, 1}, 4, 1, 0), placed({1, 3, 2}, 4, 5, 0)};
  const StepTimes times(measured);
  EXPECT_DOUBLE_EQ(at(times, {3, 1, 2}, 4).step_s, 1);
  EXPECT_DOUBLE_EQ(at(times, {1, 2, 3}, 4).step_s, 1);
  EXPECT_DOUBLE_EQ(at(times, {3, 2, 1}, 4).step_s, 5) << "the other direction";
}

TEST(StepTimes, BeyondTheMeasuredBatchesTheNearestHolds) {
  ProgramOnType measured;
  measured.placements = {placed({1}, 8, 2, 1), placed({1}, 4, 1, 0.25)};
  const StepTimes times(measured);
  EXPECT_DOUBLE_EQ(at(times, {1}, 1).step_s, 1);
  EXPECT_DOUBLE_EQ(at(times, {1}, 100).step_s, 2);
}

// step = nodes + 2 GPUs + 3 local batch on all corners of a box: linear interpolation is exact in any triangulation.
TEST(StepTimes, OtherPlacementsAreLinearInNodesGpusAndLocalBatch) {
  ProgramOnType measured;
  for (const int nodes : {1, 9}) {
    for (const int gpus : {10, 20}) {
      for (const double local : {1.0, 33.0}) {
        measured.others.push_back(counted(nodes, gpus, local, nodes + 2 * gpus + 3 * local));
      }
    }
  }
  const StepTimes times(measured);
  const StepTime time = at(times, {4, 4, 4, 1}, 7);
  EXPECT_NEAR(time.step_s, 4 + 26 + 21, 1e-9);
  EXPECT_NEAR(time.sync_s, (4 + 26 + 21) / 2.0, 1e-9);
  EXPECT_NEAR(at(times, std::vector<int>(12, 1), 7).step_s, 9 + 24 + 21, 1e-9)
      << "more nodes than were measured count as the most that were";
  EXPECT_NEAR(at(times, {40}, 33).step_s, 1 + 40 + 99, 1e-9) << "more GPUs likewise";
}

// Two placements of three nodes and six GPUs: 2 s and 4 s. Another one takes the mean.
TEST(StepTimes, PlacementsOfEquallyManyNodesAndGpusCountByTheirMean) {
  ProgramOnType measured;
  measured.placements = {placed({1, 1, 4}, 4, 2, 1), placed({2, 2, 2}, 4, 4, 3)};
  measured.others = {counted(1, 1, 4, 1), counted(4, 4, 4, 1), counted(1, 1, 9, 1),
                     counted(4, 4, 9, 1), counted(4, 9, 9, 1), counted(1, 9, 4, 1)};
  const StepTimes times(measured);
  EXPECT_DOUBLE_EQ(at(times, {1, 1, 4}, 4).step_s, 2);
  EXPECT_NEAR(at(times, {1, 2, 3}, 4).step_s, 3, 1e-9);
  EXPECT_NEAR(at(times, {1, 2, 3}, 4).sync_s, 2, 1e-9);
}

TEST(StepTimes, OutsideOfThePointsTheNearestHolds) {
  ProgramOnType measured;
  measured.placements = {placed({1}, 4, 1, 0), placed({2}, 4, 3, 0)};  // a line: no volume
  const StepTimes times(measured);
  EXPECT_DOUBLE_EQ(at(times, {3}, 4).step_s, 3);
  EXPECT_DOUBLE_EQ(at(times, {1, 1}, 4).step_s, 3);
}

TEST(StepTimes, NothingMeasuredIsRefused) {
  EXPECT_THROW(StepTimes(ProgramOnType{}), std::invalid_argument);
}

/// A program as the simulator's own files have it, with all digits.
StepTimes recorded(const std::string& program) {
  const std::string folder = test::public_data("peers3/adaptdl-osdi21/inputs/") + program + "/";
  const NumberRule seconds{"a number of seconds"};
  ProgramOnType measured;
  CsvReader placements(folder + "placements.csv",
                       {{"placement"}, {"local_bsz"}, {"step_time"}, {"sync_time"}});
  while (placements.next()) {
    std::vector<int> on_nodes;
    for (const char digit : placements.text(placements.column("placement"))) {
      on_nodes.push_back(digit - '0');
    }
    measured.placements.push_back(
        placed(on_nodes, placements.required_number(placements.column("local_bsz"), {"a number"}),
               placements.required_number(placements.column("step_time"), seconds),
               placements.required_number(placements.column("sync_time"), seconds)));
  }
  CsvReader others(folder + "scalability.csv",
                   {{"num_nodes"}, {"num_replicas"}, {"local_bsz"}, {"step_time"}, {"sync_time"}});
  while (others.next()) {
    const auto whole = [&](const char* name) {
      return static_cast<int>(others.integer(others.column(name), {"a number"}).value());
    };
    MeasuredStep step = counted(whole("num_nodes"), whole("num_replicas"), whole("local_bsz"), 0);
    step.step_s = others.required_number(others.column("step_time"), seconds);
    step.sync_s = others.required_number(others.column("sync_time"), seconds);
    measured.others.push_back(step);
  }
  return StepTimes(measured);
}

TEST(StepTimes, AreThoseOfTheSimulatorOfPollux) {
  const std::string file = "peers3/adaptdl-osdi21/goodput-vectors/step_times.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  std::map<std::string, StepTimes> programs;
  CsvReader csv(test::public_data(file),
                {{"app"}, {"placement"}, {"local_bsz"}, {"step_s"}, {"sync_s"}});
  std::size_t rows = 0;
  for (; csv.next(); ++rows) {
    const std::string app(csv.text(csv.column("app")));
    const std::string placement(csv.text(csv.column("placement")));
    std::vector<int> on_nodes;
    for (const char c : placement) {
      if (c != '-') on_nodes.push_back(c - '0');
    }
    if (!programs.contains(app)) programs.emplace(app, recorded(app));
    const StepTime time =
        at(programs.at(app), on_nodes, csv.required_number(csv.column("local_bsz"), {"a number"}));
    const double step_s = csv.required_number(csv.column("step_s"), {"a number"});
    const double sync_s = csv.required_number(csv.column("sync_s"), {"a number"});
    EXPECT_NEAR(time.step_s, step_s, 1e-6 * step_s) << app << " on " << placement;
    EXPECT_NEAR(time.sync_s, sync_s, 1e-6 * sync_s) << app << " on " << placement;
  }
  EXPECT_GT(rows, 0U);
}

TEST(Triangulation, WeightsAddUpAndReproduceThePoint) {
  std::vector<Triangulation::Point> points;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      for (int z = 0; z < 4; ++z) points.push_back({1.0 * x, 2.0 * y, 0.5 * z * z});
    }
  }
  const Triangulation grid(points);
  for (double t = 0.01; t < 1; t += 0.07) {
    const Triangulation::Point at{3 * t, 6 * t * t, 4.5 * (1 - t)};
    const auto weights = grid.at(at);
    ASSERT_TRUE(weights.has_value());
    Triangulation::Point sum{};
    double all = 0;
    for (const auto& w : *weights) {
      EXPECT_GE(w.weight, -1e-9);
      all += w.weight;
      for (std::size_t d = 0; d < 3; ++d) sum[d] += w.weight * grid.points()[w.point][d];
    }
    EXPECT_NEAR(all, 1, 1e-12);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(sum[d], at[d], 1e-9);
  }
  EXPECT_FALSE(grid.at({-0.5, 1, 1}).has_value());
}

TEST(Triangulation, PointsOnAPlaneAreRefused) {
  std::vector<Triangulation::Point> flat;
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) flat.push_back({1.0 * x, 1.0 * y, 0});
  }
  EXPECT_THROW(Triangulation{flat}, std::invalid_argument);
  EXPECT_THROW(Triangulation({{0, 0, 0}, {1, 1, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace corun::step_times_test
