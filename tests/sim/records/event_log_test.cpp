#include "sim/records/event_log.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/builders.hpp"

namespace corun::event_log_test {
namespace {

using namespace std::chrono_literals;
using test::G;
using test::J;

const std::string kHeader = "time_ns,event,job,gpus\n";

EventLog sample() {
  return {{0s, LogKind::kArrive, J(0), {}},
          {0s, LogKind::kProfile, J(0), {G(3)}},
          {60s, LogKind::kProfiled, J(0), {}},
          {60s, LogKind::kProbe, J(0), {G(2)}},
          {60s, LogKind::kProbed, J(0), {}},
          {60s, LogKind::kStart, J(0), {G(0), G(11)}},
          {90s, LogKind::kOom, J(0), {}},
          {90s, LogKind::kStart, J(0), {G(0), G(11)}},
          {120s + 1ns, LogKind::kFail, J(0), {}},
          {121s, LogKind::kArrive, J(4000000000U), {}},
          {9000000s, LogKind::kFinish, J(4000000000U), {}}};
}

EventLog read(const std::string& text, const JobFinder& find = {}) {
  std::istringstream in(text);
  return read_event_log(in, "run.csv", find);
}

std::string written(const EventLog& log, const JobNamer& name = {}) {
  std::ostringstream out;
  write_event_log(out, log, name);
  return out.str();
}

void refused(const std::string& text, const std::string& place, const std::string& words) {
  try {
    read(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& e) {
    const std::string what = e.what();
    EXPECT_EQ(what.rfind(place + ": ", 0), 0U) << what;
    EXPECT_NE(what.find(words), std::string::npos) << what;
  }
}

TEST(EventLog, WritesWhatTheHeaderShows) {
  const EventLog log = {{0s, LogKind::kArrive, J(5), {}},
                        {0s, LogKind::kStart, J(5), {G(0)}},
                        {281400ms, LogKind::kFinish, J(5), {}}};
  EXPECT_EQ(written(log, [](JobId) { return std::string("J7-205"); }),
            kHeader + "0,arrive,J7-205,\n0,start,J7-205,0\n281400000000,finish,J7-205,\n");
}

TEST(EventLog, RoundTripByNumberAndByName) {
  EXPECT_EQ(read(written(sample())), sample());
  EXPECT_EQ(read(written({})), EventLog{});
  const auto name = [](JobId j) { return "job-" + std::to_string(index(j)); };
  const auto find = [](const std::string& s) -> std::optional<JobId> {
    if (s.rfind("job-", 0) != 0) return std::nullopt;
    return JobId{static_cast<std::uint32_t>(std::stoul(s.substr(4)))};
  };
  EXPECT_EQ(read(written(sample(), name), find), sample());
}

TEST(EventLog, EveryKindHasItsOwnWord) {
  EXPECT_EQ(written(sample()),
            kHeader +
                "0,arrive,0,\n0,profile,0,3\n60000000000,profiled,0,\n"
                "60000000000,probe,0,2\n60000000000,probed,0,\n60000000000,start,0,0 11\n"
                "90000000000,oom,0,\n90000000000,start,0,0 11\n120000000001,fail,0,\n"
                "121000000000,arrive,4000000000,\n9000000000000000,finish,4000000000,\n");
}

const std::string kReasons = "time_ns,event,job,gpus,why,beside,speed,delay_s\n";

EventLog reasons() {
  EventLog log;
  for (const auto& [at, why] : {std::pair{0s, Why::kAlone},
                                {1s, Why::kShares},
                                {2s, Why::kPart},
                                {3s, Why::kBackfills},
                                {4s, Why::kOverdue},
                                {5s, Why::kShorter}}) {
    log.push_back({at, LogKind::kStart, J(7), {G(1)}, Reason{why, kNoJob, 0.1 + 0.2, 12.5}});
  }
  log[1].reason->beside = J(5);
  log.push_back({6s, LogKind::kPreempt, J(7), {}, Reason{Why::kMakesRoom, J(8), {}, 30.0}});
  log.push_back({7s, LogKind::kFinish, J(8), {}});
  return log;
}

TEST(EventLog, ReasonsHaveColumnsOfTheirOwn) {
  EXPECT_EQ(written(reasons()), kReasons +
                                    "0,start,7,1,alone,,0.30000000000000004,12.5\n"
                                    "1000000000,start,7,1,shares,5,0.30000000000000004,12.5\n"
                                    "2000000000,start,7,1,part,,0.30000000000000004,12.5\n"
                                    "3000000000,start,7,1,backfills,,0.30000000000000004,12.5\n"
                                    "4000000000,start,7,1,overdue,,0.30000000000000004,12.5\n"
                                    "5000000000,start,7,1,shorter,,0.30000000000000004,12.5\n"
                                    "6000000000,preempt,7,,makes-room,8,,30\n"
                                    "7000000000,finish,8,,,,,\n");
  EXPECT_EQ(read(written(reasons())), reasons());
  const auto name = [](JobId j) { return "a, b" + std::to_string(index(j)); };
  const auto find = [](const std::string& s) -> std::optional<JobId> {
    return JobId{static_cast<std::uint32_t>(std::stoul(s.substr(4)))};
  };
  EXPECT_EQ(read(written(reasons(), name), find), reasons());
}

TEST(EventLog, EventsAreTheSameWhateverTheReason) {
  LogEntry other = reasons()[1];
  other.reason.reset();
  EXPECT_NE(other, reasons()[1]);
  EXPECT_TRUE(other.is_same_event(reasons()[1]));
  other.gpus = {G(2)};
  EXPECT_FALSE(other.is_same_event(reasons()[1]));
}

TEST(EventLog, MalformedReasonsAreRefused) {
  refused(kReasons + "0,start,0,0\n", "run.csv:2", "expected 8 fields");
  refused(kReasons + "0,start,0,0,luck,,1,0\n", "run.csv:2", "why is 'luck', expected alone");
  refused(kReasons + "0,start,0,0,alone,x,1,0\n", "run.csv:2", "beside is 'x'");
  refused(kReasons + "0,start,0,0,alone,,1.50,0\n", "run.csv:2", "speed is '1.50'");
  refused(kReasons + "0,start,0,0,alone,,nan,0\n", "run.csv:2", "speed is 'nan'");
  refused(kReasons + "0,start,0,0,alone,,1,inf\n", "run.csv:2", "delay_s is 'inf'");
  refused(kReasons + "0,start,0,0,,,1,\n", "run.csv:2", "expected nothing after an empty why");
}

TEST(EventLog, MalformedLinesAreRefusedWithTheirPlace) {
  refused("", "run.csv", "empty");
  refused("time,event,job,gpus\n", "run.csv:1", "expected the header");
  refused("\n", "run.csv:1", "expected the header");
  refused(kHeader + "0,arrive,0\n", "run.csv:2", "expected 4 fields");
  refused(kHeader + "0,arrive,0,,\n", "run.csv:2", "expected 4 fields");
  refused(kHeader + "\n", "run.csv:2", "expected 4 fields");
  refused(kHeader + "0,arrive,0,\n\n", "run.csv:3", "expected 4 fields");
  refused(kHeader + "x,arrive,0,\n", "run.csv:2", "time_ns is 'x'");
  refused(kHeader + ",arrive,0,\n", "run.csv:2", "time_ns is ''");
  refused(kHeader + "1.5,arrive,0,\n", "run.csv:2", "time_ns is '1.5'");
  refused(kHeader + "-1,arrive,0,\n", "run.csv:2", "time_ns is '-1'");
  refused(kHeader + "99999999999999999999,arrive,0,\n", "run.csv:2", "time_ns");
  refused(kHeader + "5,arrive,0,\n4,arrive,1,\n", "run.csv:3", "goes back");
  refused(kHeader + "0,Arrive,0,\n", "run.csv:2", "event is 'Arrive'");
  refused(kHeader + "0,,0,\n", "run.csv:2", "event is ''");
  refused(kHeader + "0,arrive,J7,\n", "run.csv:2", "job is 'J7'");
  refused(kHeader + "0,arrive,,\n", "run.csv:2", "job is ''");
  refused(kHeader + "0,arrive,-1,\n", "run.csv:2", "job is '-1'");
  refused(kHeader + "0,arrive,4294967296,\n", "run.csv:2", "job is '4294967296'");
  refused(kHeader + "0,start,0,a\n", "run.csv:2", "gpus is 'a'");
  refused(kHeader + "0,start,0,0;1\n", "run.csv:2", "gpus is '0;1'");
  refused(kHeader + "0,start,0,0  1\n", "run.csv:2", "gpus is '0  1'");
  refused(kHeader + "0,start,0, 0\n", "run.csv:2", "gpus is ' 0'");
  refused(kHeader + "0,start,0,0\r\n", "run.csv:2", "gpus is");
}

/// Texts that the writer does not write: a blank that separates nothing.
TEST(EventLog, ATrailingBlankIsRefused) {
  refused(kHeader + "0,start,0,0 \n", "run.csv:2", "gpus is '0 '");
}

/// The same: numbers that the writer would write differently.
TEST(EventLog, NumbersInAnotherSpellingAreRefused) {
  refused(kHeader + "-0,arrive,0,\n", "run.csv:2", "time_ns is '-0'");
  refused(kHeader + "007,arrive,0,\n", "run.csv:2", "time_ns is '007'");
  refused(kHeader + "0,arrive,00,\n", "run.csv:2", "job is '00'");
}

TEST(EventLog, AnUnknownNameIsRefused) {
  try {
    read(kHeader + "0,arrive,J9-1,\n", [](const std::string&) { return std::nullopt; });
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "run.csv:2: job 'J9-1' is not in the workload");
  }
}

}  // namespace
}  // namespace corun::event_log_test
