#include <string>
#include <vector>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/scenarios.hpp"

/// external-shares: a program that gives shares of time: the same as a built-in policy, and its mistakes.
namespace corun::test::external_shares_test {
namespace {

OwnedWorkload forty_jobs() {
  std::vector<JobSpec> jobs;
  for (int i = 0; i < 40; ++i) {
    jobs.push_back(job(seconds(50 + 70 * i % 230)).gpus(1 + i % 2).at(seconds(3 * i)));
  }
  return workload(std::move(jobs));
}

RunResult simulate(const std::string& name, const OwnedWorkload& w,
                   const std::vector<std::string>& command, const std::string& sharing = "none") {
  const PolicyEntry& entry = *find_policy(name);
  Parameters parameters(entry.parameters);
  parameters.set("round_s", 20.0);
  parameters.set("reset_s", 60.0);
  if (!command.empty()) {
    parameters.set("command", command);
    parameters.set("space_sharing", sharing);
  }
  const ShareWorld world(0.5);
  const auto policy = make_policy(entry, w, world, 1, parameters);
  RunOptions options;
  options.traits = entry.traits_for(parameters);
  return run(cluster(2, 2), w, world, *policy, options);
}

TEST(ExternalShares, TheExampleDoesAsIsolated) {
  const OwnedWorkload w = forty_jobs();
  const std::vector<std::string> example{"python3", CORUN_SOURCE_DIR "/examples/shares.py"};
  const RunResult expected = simulate("isolated", w, {});
  EXPECT_GT(expected.log.size(), 200U);
  EXPECT_EQ(simulate("external-shares", w, example).log, expected.log);
  // Pairs without a share change nothing.
  EXPECT_EQ(simulate("external-shares", w, example, "pairs").log, expected.log);
}

/// Error of the run of a program that gives this answer to two jobs on one GPU type.
std::string error_of(const std::string& answer, const std::string& protocol = "corun-shares") {
  const std::string python = "import sys\nsys.stdin.readline()\nprint('{\"protocol\": \"" +
                             protocol + "\", \"version\": 1}', flush=True)\n" +
                             "for line in sys.stdin:\n    print('" + answer + "', flush=True)\n";
  const OwnedWorkload w = workload({job(seconds(10)), job(seconds(5)).gpus(4)});
  try {
    simulate("external-shares", w, {"python3", "-c", python});
  } catch (const PolicyError& e) {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the program was not reaped";
    return e.what();
  }
  return "no error";
}

TEST(ExternalShares, MistakesAreRefusedInOneLine) {
  const auto expect = [](const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  };
  expect(error_of("", "corun-policy"), "expected {\"protocol\": \"corun-shares\", \"version\": 1}");
  expect(error_of("hello"), "found 'hello', expected one JSON object");
  expect(error_of("[]"), "expected {\"shares\": [[...], ...]}");
  expect(error_of("{\"shares\": [[0.5]], \"more\": 1}"), "expected {\"shares\": [[...], ...]}");
  expect(error_of("{\"shares\": [[0.5]]}"), "expected a row of shares for each of the 2 units");
  for (const char* const row : {"0.5", "[]", "[0.5, 0.5]", "[\"a\"]", "[null]"}) {
    expect(error_of("{\"shares\": [[0.5], " + std::string(row) + "]}"),
           "expected rows of 1 numbers, one for each GPU type");
  }
  expect(error_of("{\"shares\": [[0.5], [-0.5]]}"),
         "found the share -0.5 of unit 1 (job 1) on GPU type 0, expected 0 to 1");
  expect(error_of("{\"shares\": [[1.5], [0]]}"), "found the share 1.5 of unit 0");
  expect(error_of("{\"shares\": [[1], [1]]}"),
         "found shares of 5 GPUs of type 0, expected at most 4");
  // Valid as long as both jobs are there.
  expect(error_of("{\"shares\": [[0.5], [0.5]]}"), "a row of shares for each of the 1 units");
}

}  // namespace
}  // namespace corun::test::external_shares_test
