#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"

/// `corun service`.
namespace corun::service_command_test {
namespace {

const std::string kTimes = CORUN_SOURCE_DIR "/examples/service_times.csv";
const std::string kTrace = CORUN_SOURCE_DIR "/examples/requests.csv";

test::Outcome service(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"service", "--times", kTimes});
  return test::run_corun(arguments);
}

TEST(ServiceCommand, OneServerHasTheClosedForm) {
  // M/M/1: 4 ms of service at 125 requests/s, so 8 ms on average; half of the requests within 8 ln 2.
  for (const char* method : {"simulation", "approximation"}) {
    const auto run =
        service({"--model", "classify", "--slice", "7g", "--rate", "125", "--service",
                 "exponential", "--goal", "5.545", "--method", method, "--format", "json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto row = nlohmann::json::parse(run.out).at("rows").at(0);
    EXPECT_NEAR(row.at("mean_s").get<double>(), 0.008, 0.0002) << method;
    EXPECT_NEAR(row.at("within_goal").get<double>(), 0.5, 0.01) << method;
    EXPECT_NEAR(row.at("utilisation").get<double>(), 0.5, 0.01) << method;
    EXPECT_FALSE(row.at("meets_goal").get<bool>());
    const std::string used = method == std::string("simulation") ? "simulation" : "formula 100 %";
    EXPECT_EQ(row.at("method").get<std::string>(), used);
  }
}

TEST(ServiceCommand, SaysHowManyReplicasMeetTheGoal) {
  const std::vector<std::string> asked{"--model", "classify",   "--slice", "1g",      "--rate",
                                       "100,150", "--replicas", "4,2,1",   "--batch", "16",
                                       "--wait",  "5",          "--goal",  "60"};
  const auto run = service(asked);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("100 requests/s: 1 replica meets the goal"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("150 requests/s: 2 replicas meet the goal"), std::string::npos) << run.out;
  EXPECT_EQ(service(asked).out, run.out);
}

TEST(ServiceCommand, StretchIsWhatCoRunnersCost) {
  const auto mean = [](const char* stretch) {
    const auto run = service({"--model", "detect", "--trace", kTrace, "--stretch", stretch,
                              "--replicas", "10", "--format", "json"});
    return nlohmann::json::parse(run.out).at("rows").at(0).at("mean_s").get<double>();
  };
  EXPECT_NEAR(mean("1"), 0.014, 1e-9);  // nothing waits
  EXPECT_NEAR(mean("1.5"), 0.021, 1e-9);
}

TEST(ServiceCommand, WritesARowPerLoadAndReplicas) {
  const auto run = service({"--model", "detect", "--trace", kTrace, "--rate-factor", "1,2",
                            "--replicas", "1,2,3", "--format", "csv"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 7);
  EXPECT_TRUE(run.out.starts_with("requests_per_s,replicas,requests,")) << run.out;
}

TEST(ServiceCommand, RefusesInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--model", "detect"}, "--rate: give either --rate or --trace"},
      {{"--model", "detect", "--rate", "1", "--trace", kTrace}, "--rate: give either"},
      {{"--model", "none", "--rate", "1"}, "model of a service: found 'none'"},
      {{"--model", "classify", "--rate", "1"}, "was measured more than once"},
      {{"--model", "detect", "--rate", "x"}, "--rate: found 'x'"},
      {{"--model", "detect", "--rate", "1,,2"}, "--rate: found ''"},
      {{"--model", "detect", "--rate", "1", "--replicas", "1.5"}, "--replicas: found 1.5"},
      {{"--model", "detect", "--rate", "1", "--replicas", "0"}, "--replicas: found '0'"},
      {{"--model", "detect", "--rate", "1", "--batch", "9"}, "--batch: found 9"},
      {{"--model", "detect", "--rate", "1", "--goal", "-1"}, "--goal: found '-1'"},
      {{"--model", "detect", "--rate", "1", "--stretch", "0"}, "--stretch: found '0'"},
      {{"--model", "detect", "--trace", kTimes},
       "service_times.csv:1:1: found a header with neither"},
      {{"--model", "detect", "--trace", kTrace, "--method", "approximation"}, "--method: a trace"},
  };
  for (const auto& [arguments, expected] : cases) {
    const auto run = service(arguments);
    EXPECT_EQ(run.code, 2) << expected;
    EXPECT_NE(run.err.find(expected), std::string::npos) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "") << expected;
  }
}

}  // namespace
}  // namespace corun::service_command_test
