#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

/// Recorded runs of the simulator of Pollux under its policies tiresias and optimus, and its published results: mean JCT
/// within 1 %, 95 % of the jobs within 5 %. (The measured step times have six digits here, and all of them there, so that ends of
/// epochs, which are rounded to seconds, differ now and then; DESIGN 4.22.)
namespace corun::elastic_peers_test {
namespace {

using Jct = std::map<std::string, double>;  ///< [s] by job

Jct ours(const std::string& policy, std::vector<std::string> settings) {
  const Experiment experiment(
      read_config(CORUN_SOURCE_DIR "/experiments/peers/pollux-" + policy + ".yaml",
                  parse_overrides(settings), policy_catalog()),
      test::public_data(""));
  const auto trace = experiment.make_trace(0);
  const PolicyRun run = experiment.run_policy(*trace, 0, experiment.policies().front(), {});
  EXPECT_EQ(run.failure, "");
  Jct jct;
  for (std::size_t j = 0; j < trace->jobs.size() && j < run.record.jobs.size(); ++j) {
    const JobRecord& record = run.record.jobs[j];
    jct[trace->jobs[j].name] = to_seconds(record.finish - record.submit);
  }
  return jct;
}

void expect_near(const Jct& found, const Jct& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double sum = 0, expected_sum = 0;
  std::size_t near = 0;
  for (const auto& [job, seconds] : expected) {
    ASSERT_TRUE(found.contains(job)) << job;
    sum += found.at(job);
    expected_sum += seconds;
    near += std::abs(found.at(job) - seconds) <= 0.05 * seconds;
  }
  EXPECT_NEAR(sum, expected_sum, 0.01 * expected_sum);
  EXPECT_GE(static_cast<double>(near), 0.95 * static_cast<double>(expected.size()));
}

/// A number of summary.json.
std::string number_in(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t at = text.find("\"" + key + "\": ");
  EXPECT_NE(at, std::string::npos) << key;
  const std::size_t from = at + key.size() + 4;
  return text.substr(from, text.find_first_of(",\n", from) - from);
}

class RecordedRuns : public testing::TestWithParam<const char*> {};

TEST_P(RecordedRuns, JctAreThoseOfThePeer) {
  const std::string policy = GetParam();
  const std::string root = "peers3/adaptdl-osdi21";
  if (!test::has_public_data(root)) GTEST_SKIP() << test::not_checked(root);
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::public_data(root))) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(policy)) continue;
    SCOPED_TRACE(name);
    ++cases;
    const std::string summary = entry.path().string() + "/summary.json";
    const Jct found = ours(policy, {"workload.path=" + root + "/" + name + "/jobs_in.csv",
                                    "workload.interference=" + number_in(summary, "interference"),
                                    "cluster.machines=" + number_in(summary, "nodes") + "x" +
                                        number_in(summary, "gpus_per_node") + ":aws"});
    Jct expected;
    CsvReader csv(entry.path().string() + "/jobs_out.csv", {{"job", true}, {"jct_s", true}},
                  kAnyColumns);
    while (csv.next()) {
      expected[std::string(csv.text(csv.column("job")))] =
          csv.required_number(csv.column("jct_s"), {"a number of seconds"});
    }
    expect_near(found, expected);
  }
  EXPECT_GT(cases, 0U);
}

/// Workload 1 of load 1.0; agreement.py has the others.
TEST_P(RecordedRuns, JctAreThosePublished) {
  const std::string policy = GetParam();
  const std::string results = "elastic/pollux/results_jct.csv";
  if (!test::has_public_data(results)) GTEST_SKIP() << test::not_checked(results);
  const Jct found = ours(
      policy, {"workload.path=elastic/pollux/workloads_pollux.csv", "workload.part=pollux-1.0/1"});
  Jct expected;
  CsvReader csv(test::public_data(results),
                {{"experiment", true},
                 {"policy", true},
                 {"load", true},
                 {"workload", true},
                 {"job", true},
                 {"jct_s", true}},
                kAnyColumns);
  while (csv.next()) {
    if (csv.text(csv.column("experiment")) != "jobload" ||
        csv.text(csv.column("policy")) != policy || csv.text(csv.column("load")) != "1.0" ||
        csv.text(csv.column("workload")) != "1") {
      continue;
    }
    expected[std::string(csv.text(csv.column("job")))] =
        csv.required_number(csv.column("jct_s"), {"a number of seconds"});
  }
  expect_near(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Pollux, RecordedRuns, testing::Values("tiresias", "optimus"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace corun::elastic_peers_test
