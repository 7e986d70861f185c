#include "live/services/step_server.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/services/load_client.hpp"
#include "sim/error.hpp"
#include "tests/helpers/eventually.hpp"

namespace corun::live::step_server_test {
namespace {

using Json = nlohmann::json;

class CountingDevice : public WorkloadDevice {
 public:
  std::string name() const override { return "Stand-in"; }
  std::string gemm() const override { return "own"; }
  void step() override { ++steps; }
  double checksum() override { return 1.25; }
  int steps = 0;
};

TEST(StepServer, DoesAStepForEachRequestOfTheLoadGenerator) {
  const int port = free_port(std::nullopt, "test");
  WorkloadRun run;
  run.recipe = find_recipe("infer");
  CountingDevice device;
  std::vector<Json> lines;
  std::thread server([&] {
    serve_steps(run, port, 5, device, real_clock(),
                [&](const std::string& line) { lines.push_back(Json::parse(line)); });
  });
  LiveService service;
  service.load = {StepFunction(100), std::chrono::milliseconds{40}};
  service.spacing = Spacing::kEven;
  service.goal = std::chrono::seconds{10};
  LoadClient client(service, port, 0);
  client.start();
  const auto reached = [&](LoadClient::Phase phase) {
    return test::eventually([&] { return client.phase() == phase; });
  };
  EXPECT_TRUE(reached(LoadClient::Phase::kReady));
  // Another server finds the port in use.
  try {
    serve_steps(run, port, 1, device, real_clock(), [](const std::string&) {});
    ADD_FAILURE() << "two servers on one port";
  } catch (const InputError& e) {
    EXPECT_EQ(e.what(), "--serve: port " + std::to_string(port) +
                            " of 127.0.0.1 cannot be listened on: Address already in use; choose "
                            "another one");
  }
  client.begin(true);
  EXPECT_TRUE(reached(LoadClient::Phase::kOver));
  server.join();
  const SentLoad load = client.take();
  EXPECT_EQ(load.count(), 4U);
  EXPECT_EQ(load.answered(), 4U);
  EXPECT_EQ(load.within, 4U);
  EXPECT_TRUE(load.whole);
  EXPECT_EQ(load.unanswered(), "");
  EXPECT_EQ(device.steps, 5) << "the first request asks whether the server is ready";
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["event"], "start");
  EXPECT_EQ(lines[0]["workload"], "infer");
  EXPECT_EQ(lines[0]["port"], port);
  EXPECT_EQ(lines[1], (Json{{"event", "end"}, {"requests", 5}, {"checksum", 1.25}}));
}

TEST(RepeatedRequests, HaveTheSameTimesInEachRoundOfATraceAndNewDrawsOfALoad) {
  LiveService traced;
  traced.trace_file = "requests.csv";
  traced.trace = {Time{0}, from_seconds(0.5)};
  traced.load.end = from_seconds(2);
  std::vector<Time> times(5);
  const auto all = [&](const LiveService& service, bool once) {
    RepeatedRequests requests(service, 0, once);
    std::vector<double> seconds;
    for (std::size_t got = 1; got > 0 && seconds.size() < 5;) {
      got = requests.next(times);
      for (std::size_t i = 0; i < got; ++i) seconds.push_back(to_seconds(times[i]));
    }
    return seconds;
  };
  EXPECT_EQ(all(traced, true), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(all(traced, false), (std::vector<double>{0, 0.5, 2, 2.5, 4, 4.5}));
  LiveService drawn;
  drawn.load = {StepFunction(2), from_seconds(1)};
  const std::vector<double> rounds = all(drawn, false);
  EXPECT_EQ(rounds, all(drawn, false));
  EXPECT_TRUE(std::ranges::is_sorted(rounds));
  EXPECT_GT(rounds.back(), 1);
  LiveService none;  // nothing for ever
  none.load.end = from_seconds(1);
  EXPECT_TRUE(all(none, false).empty());
}

}  // namespace
}  // namespace corun::live::step_server_test
