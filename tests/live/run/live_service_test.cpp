#include "live/services/live_service.hpp"

#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/live/run/live_program.hpp"

/// Services of live mode on a fake box: latency alone and beside jobs, and the ways in which servers fail.
namespace corun::test::live_service_test {
namespace {

using Json = nlohmann::json;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class LiveServices : public LiveProgram {
 protected:
  /// A configuration with the service `web` (words of the fake server after its box, keys of `service`) and jobs.
  std::string services(const std::string& words, const std::string& keys,
                       const std::vector<std::pair<std::string, std::string>>& jobs = {},
                       const std::string& lines = "") const {
    std::string text = "  web: {command: [" + std::string(CORUN_FAKE_SERVER) + ", " + box();
    std::istringstream list(words);
    for (std::string word; list >> word;) text += ", '" + word + "'";
    return config(jobs, text + "], service: {" + keys + "}}\n" + lines);
  }
  Outcome solo(const std::string& words, const std::string& keys) const {
    return run({"solo", services(words, keys), "--repeats", "1", "--warm-up", "0", "--format",
                "json", "--force"});
  }
  /// The line of a run alone that fails.
  std::string failure(const std::string& words, const std::string& keys) const {
    const Outcome outcome = solo(words, keys);
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    EXPECT_TRUE(nothing_left());
    return outcome.err;
  }
  const std::string quick = "rate_per_s: 100, seconds: 0.5, goal_ms: 50, ready_s: 5";
};

TEST_F(LiveServices, SoloMeasuresLatencyAtTheLoad) {
  const Outcome outcome =
      solo("{port} 2 0", "rate_per_s: 40, seconds: 1, goal_ms: 200, spacing: even");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("1 of 1: web: 40 requests, p99 "), 0U) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["solo"], Json::array()) << "a service has no solo time";
  ASSERT_EQ(json["services"].size(), 1U);
  const Json& web = json["services"][0];
  EXPECT_EQ(web["service"], "web");
  EXPECT_EQ(web["beside"], Json::array());
  EXPECT_EQ(web["requests"], 40);
  EXPECT_EQ(web["answered"], 40);
  EXPECT_EQ(web["load_per_s"], 40);
  EXPECT_GE(web["p50_s"], 0.0019);
  EXPECT_LE(web["p50_s"], web["p99_s"]);
  EXPECT_LE(web["p99_s"].get<double>(), 1.01 * web["max_s"].get<double>());
  EXPECT_EQ(web["gpu_util_pct"], 30);
  EXPECT_EQ(web["mem_used_mib"], 1024);
  EXPECT_FALSE(has_result("solo.csv"));

  // The log has each request, when it was due: even, the first half of a gap after the begin.
  const std::string log = result("output/1-1-web.latency.csv");
  EXPECT_EQ(log.find("request,sent_s,latency_ms,state\n1,0.0125,"), 0U) << log;
  EXPECT_EQ(count(log, ",answered\n"), 40U) << log;
  const std::string table = result("services.csv");
  EXPECT_EQ(table.find("service,beside,runs,requests,answered,load_per_s,mean_ms,"), 0U);
  EXPECT_NE(table.find("\nweb,,1,40,40,40,"), std::string::npos) << table;
  const Outcome printed = run({"solo", folder.path("box.yaml"), "--repeats", "1", "--warm-up", "0",
                               "--set", "workloads.web.service.seconds=0.1", "--force"});
  EXPECT_EQ(printed.out.find("Fake V100, time-slicing\n\nservice  beside  runs  requests  load/s "),
            0U)
      << printed.out;
  EXPECT_TRUE(nothing_left());
}

TEST_F(LiveServices, CorunMeasuresLatencyAndTheJobsSlowdown) {
  // The job takes 1.5 times as long beside the service, whose requests take four times as long beside the job.
  const std::string file =
      services("- 5 3", "rate_per_s: 20, seconds: 0.6, goal_ms: 1000, spacing: even",
               {{"train", "0.8 60 4096 25 0.5"}});
  const Outcome outcome =
      run({"corun", file, "--repeats", "1", "--warm-up", "0", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["together"], Json::array()) << "a service has no ISD";
  EXPECT_FALSE(has_result("measured.corun.csv"));
  ASSERT_EQ(json["services"].size(), 2U) << json.dump();
  const Json& alone = json["services"][0];
  const Json& beside = json["services"][1];
  EXPECT_EQ(alone["beside"], Json::array());
  EXPECT_EQ(beside["beside"], (Json{"train"}));
  EXPECT_EQ(alone["requests"], 12);
  // The load is repeated as long as the job runs: 1.2 s and more.
  EXPECT_GE(beside["requests"], 23);
  EXPECT_EQ(beside["answered"], beside["requests"]);
  EXPECT_NEAR(beside["load_per_s"], 20, 1.5);
  EXPECT_GT(beside["p50_s"].get<double>(), 1.5 * alone["p50_s"].get<double>());
  EXPECT_GT(beside["beside_isd"][0], 0.2);
  EXPECT_EQ(json["solo"].size(), 1U);
  EXPECT_TRUE(nothing_left());
}

TEST_F(LiveServices, RequestsArePostedAndComeFromATraceOrByRates) {
  folder.write("requests.csv", "arrival_s\n0\n0.05\n0.1\n0.9\n");
  const std::string post = "path: /predict, body: '{\"x\": 1}', goal_ms: 500, ";
  const Outcome traced =
      solo("- 1 0 post closing", post + "requests: requests.csv, rate_factor: 2, seconds: 0.3");
  ASSERT_EQ(traced.code, 0) << traced.err;
  const std::string log = result("output/1-1-web.latency.csv");
  EXPECT_EQ(count(log, "\n"), 4U) << log;
  EXPECT_NE(log.find("\n2,0.025,"), std::string::npos) << log;
  EXPECT_NE(log.find("\n3,0.05,"), std::string::npos) << log;
  const Outcome rates =
      solo("- 1 0 post", post + "rate_per_s: [[0, 10], [0.2, 100]], seconds: 0.4, spacing: even");
  ASSERT_EQ(rates.code, 0) << rates.err;
  EXPECT_EQ(Json::parse(rates.out)["services"][0]["requests"], 22);
  // Without the body the server refuses, and never becomes ready. A second is enough for it on a busy machine.
  EXPECT_EQ(failure("- 1 0 post", "rate_per_s: 10, seconds: 1, goal_ms: 5, ready_s: 1"),
            "1 of 1: web: failed (the server did not answer within 1 s (service.ready_s): it "
            "answers HTTP 400)\n");
}

TEST_F(LiveServices, AServerThatDoesNotBecomeReadyIsToldInALine) {
  const std::string keys = "rate_per_s: 10, seconds: 1, goal_ms: 5, ready_s: 1";
  const std::string line =
      "1 of 1: web: failed (the server did not answer within 1 s (service.ready_s): ";
  EXPECT_EQ(failure("- 1 0 deaf", keys), line + "Connection refused)\n");
  EXPECT_EQ(failure("- 1 0 mute", keys), line + "it takes connections and does not answer)\n");
  EXPECT_EQ(failure("- 1 0 sick", keys), line + "it answers HTTP 503)\n");
  EXPECT_EQ(failure("- 1 0 strange", keys), line + "it answers something else than HTTP)\n");
  EXPECT_EQ(failure("- 1 0 busy", keys),
            "1 of 1: web: failed (the server ended before its load: exit code 67)\n");
}

TEST_F(LiveServices, RequestsWithoutAnAnswerFailARun) {
  EXPECT_EQ(failure("- 1 0 ill", "rate_per_s: 20, seconds: 0.5, goal_ms: 5, spacing: even"),
            "1 of 1: web: failed (9 of 10 requests were not answered: 9 error (HTTP 503))\n");
  EXPECT_EQ(count(result("output/1-1-web.latency.csv"), ",error\n"), 9U);
  // What was answered counts all the same, among all requests.
  EXPECT_NE(result("services.csv").find("\nweb,,1,10,1,20,"), std::string::npos)
      << result("services.csv");
  EXPECT_EQ(failure("- 1 0 forgetful",
                    "rate_per_s: 20, seconds: 0.5, goal_ms: 5, timeout_ms: 200, spacing: even"),
            "1 of 1: web: failed (6 of 10 requests were not answered: 6 timeout)\n");
  EXPECT_EQ(failure("- 1 0 mute", "rate_per_s: 20, seconds: 0.5, goal_ms: 5, ready_s: 0.1")
                .find("1 of 1: web: failed (the server did not answer"),
            0U);
}

TEST_F(LiveServices, AServerThatEndsOrIsTooSlowEndsTheRun) {
  EXPECT_EQ(failure("- 1 0 brief", "rate_per_s: 50, seconds: 60, goal_ms: 5"),
            "1 of 1: web: failed (the server ended during its load: exit code 4)\n");
  const std::string slow =
      failure("- 100 0", "rate_per_s: 200, seconds: 60, goal_ms: 5, open: 20, spacing: even");
  EXPECT_EQ(slow.find("1 of 1: web: failed (20 requests were open after 0.1 s (service.open): the "
                      "server is slower than its load)"),
            0U)
      << slow;
  EXPECT_FALSE(has_result("services.csv")) << "a load that was cut short measures nothing";
}

TEST_F(LiveServices, AServiceThatFailsEndsTheJobsBesideIt) {
  const std::string file = services("- 1 0 brief", quick, {{"train", "60 60 4096 25 0.5"}});
  const Outcome outcome = run(
      {"corun", file, "--repeats", "1", "--warm-up", "0", "--set", "workloads.train.timeout_s=1"});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("train+web: stopped (stopped as asked), failed (the server ended "
                             "during its load: exit code 4)"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(nothing_left());
}

TEST_F(LiveServices, CtrlCAndAKillLeaveNothing) {
  const std::string file = services("- 1 0 stubborn", "rate_per_s: 50, seconds: 60, goal_ms: 5");
  for (const int signal : {SIGINT, SIGKILL}) {
    Background corun(live({"solo", file, "--warm-up", "0", "--force"}), folder.path());
    ASSERT_TRUE(eventually([&] { return on_gpu() == 1 || !corun.running(); })) << corun.err();
    usleep(200'000);  // in its load
    corun.signal(signal);
    EXPECT_EQ(corun.wait(), signal == SIGINT ? 130 : 128 + SIGKILL) << corun.err();
    EXPECT_TRUE(eventually([&] { return nothing_left(); }));
  }
}

TEST_F(LiveServices, MistakesAreOneLineWithTheirPlace) {
  const auto line = [&](const std::string& keys, const std::string& lines = "") {
    const Outcome outcome = run({"solo", services("- 1 0", keys, {}, lines)});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(line("rate_per_s: 1, goal_ms: 5").find("a service without a length; add seconds: 30"),
            std::string::npos);
  EXPECT_NE(line("seconds: 1, goal_ms: 5").find("a service without a load; add either"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: 1, seconds: 1").find("a service without a goal; add goal_ms"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: 1, seconds: 1, goal: 5").find("unknown key 'goal': did you mean"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: -1, seconds: 1, goal_ms: 5")
                .find("found '-1', expected a number of requests per second from 0 to 100000"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: [[0, 1], [0, 2]], seconds: 1, goal_ms: 5")
                .find("found '0', expected a later time than that of the rate before"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: 100000, seconds: 1000, goal_ms: 5")
                .find("gives 1e+08 requests, expected 10000000 at most"),
            std::string::npos);
  EXPECT_NE(line("requests: none.csv, goal_ms: 5").find("none.csv"), std::string::npos);
  EXPECT_NE(line("rate_per_s: 1, seconds: 1, goal_ms: 5, path: predict")
                .find("expected a path that begins with '/'"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: 1, seconds: 1, goal_ms: 5, open: 1.5")
                .find("expected a number of requests, whole"),
            std::string::npos);
  EXPECT_NE(line("rate_per_s: 1, seconds: 1, goal_ms: 5", "queue: [web]\n")
                .find("found the service 'web', expected a job that ends by itself"),
            std::string::npos);
  // A port that another program has.
  int port = 0;
  for (int tried = 20'000; port == 0; ++tried) {
    try {
      port = live::free_port(tried, "test");
    } catch (const std::exception&) {
    }
  }
  Background other(
      live({"solo", services("- 1 0", "rate_per_s: 1, seconds: 60, goal_ms: 5, port: " +
                                          std::to_string(port))}),
      folder.path());
  ASSERT_TRUE(eventually([&] {
    return on_gpu() == 1 && std::filesystem::exists(folder.path("out/output")) && [&] {
      try {
        live::free_port(port, "test");
        return false;
      } catch (const std::exception&) {
        return true;
      }
    }();
  })) << other.err();
  const Outcome taken = run(
      {"solo", folder.path("box.yaml"), "--set", "live.gpus=[1]", "--output", folder.path("out2")});
  EXPECT_EQ(taken.code, 2);
  EXPECT_NE(taken.err.find("port " + std::to_string(port) +
                           " of 127.0.0.1 cannot be used: Address already in use; leave "
                           "service.port out"),
            std::string::npos)
      << taken.err;
  other.kill(SIGINT);
  EXPECT_TRUE(eventually([&] { return nothing_left(); }));
}

}  // namespace
}  // namespace corun::test::live_service_test
