#include "live/jobs/measurement_output.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/formulas/overlap.hpp"
#include "traces/tables/corun_csv.hpp"
#include "traces/workload_names.hpp"

namespace corun::live::measurement_output_test {
namespace {

/// Jobs that started together and took these times [s].
MeasuredCoRunners ran(int number, const CoRunners& members, const std::vector<double>& times) {
  MeasuredCoRunners set{members, number, "", {}};
  for (const double time : times) {
    RunOutcome outcome;
    outcome.ending.exit = from_seconds(time);
    outcome.samples = 3;
    set.outcomes.push_back(outcome);
  }
  return set;
}

// On a busy machine a run alone may take longer than one together: `corun live run` refused the file of the pair.
TEST(MeasurementOutput, CoRunsThatNoSpeedsExplainAreToldAndLeftOut) {
  LiveConfig config;
  config.workloads = {{"a", {}}, {"b", {}}, {"slow-alone", {}}};
  MeasuredSession session;
  session.gpu_name = "T4";
  session.sharing = "time-slicing";
  session.sets = {ran(1, {0}, {10}),         ran(2, {1}, {10}),          ran(3, {2}, {30}),
                  ran(4, {0, 1}, {14, 15}),  ran(5, {0, 2}, {14, 14.5}), ran(6, {1, 2}, {14, 40}),
                  ran(7, {0, 1}, {100, 12}), ran(8, {1, 2}, {14, 14.9})};
  std::istringstream file(measured_corun_csv(session, config));
  WorkloadKeys keys;
  const CorunFile read = read_corun_csv(file, "measured.corun.csv", keys);
  EXPECT_EQ(read.groups, (std::vector<std::string>{"4", "6"}));
  for (const CorunMeasurement& pair : read.measurements) EXPECT_NO_THROW(overlap_excess(pair));
  const std::string left_out = "run 5 (a+slow-alone), run 7 (a+b), run 8 (b+slow-alone)";
  const std::string table = measurement_table(session, config, {});
  EXPECT_NE(
      table.find("no speeds explain their times beside those alone (did something else run?): " +
                 left_out + "\n"),
      std::string::npos)
      << table;
  const Json json = measurement_json(session, config);
  EXPECT_EQ(json["without_speeds"],
            (Json{"run 5 (a+slow-alone)", "run 7 (a+b)", "run 8 (b+slow-alone)"}));
  session.sets.resize(4);
  EXPECT_EQ(measurement_table(session, config, {}).find("no speeds"), std::string::npos);
  session.sets = {session.sets[0], ran(3, {2}, {30}), ran(5, {0, 2}, {14, 14.5})};
  EXPECT_EQ(measured_corun_csv(session, config), "") << "a file without rows would be refused";
}

TEST(MeasurementOutput, ProfilesOfFewSamplesAreTold) {
  LiveConfig config;
  config.workloads = {{"once", {}}, {"twice", {}}, {"never-alone", {}}};
  MeasuredSession session;
  session.sets = {ran(1, {0}, {10}), ran(2, {1}, {10}), ran(3, {1}, {10}),
                  ran(4, {0, 2}, {12, 12})};
  const std::string table = measurement_table(session, config, {});
  EXPECT_NE(table.find("profiles of few samples, which may have missed memory: once (3); shorten"),
            std::string::npos)
      << table;
  session.sets.erase(session.sets.begin());
  EXPECT_EQ(measurement_table(session, config, {}).find("few samples"), std::string::npos);
}

}  // namespace
}  // namespace corun::live::measurement_output_test
