#include "results/timeline/run_trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/results/timeline/trace_rules.hpp"

namespace corun::run_trace_test {
namespace {

using trace_rules::TraceFile;
using trace_rules::TraceReader;

/// Events that a test lists.
class ListedEvents final : public RunEvents {
 public:
  void for_each(const std::function<void(const LogEntry&)>& take) const override {
    for (const LogEntry& entry : log) take(entry);
  }
  std::string_view name(JobId job) const override { return names.at(index(job)); }
  [[noreturn]] void refuse(const std::string& why) const override { throw InputError("log", why); }
  const std::vector<TimelineGpu>& gpus() const override { return cluster; }
  const std::vector<UtilizationStep>& utilization() const override { return use; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"policy", "fifo"}};
  }

  void add(std::int64_t ns, LogKind kind, std::uint32_t job, std::vector<std::uint32_t> on = {}) {
    LogEntry entry{Time{ns}, kind, JobId{job}, {}};
    for (const std::uint32_t gpu : on) entry.gpus.push_back(GpuId{gpu});
    log.push_back(std::move(entry));
  }

  EventLog log;
  std::vector<std::string> names{"a", "b", "c"};
  std::vector<TimelineGpu> cluster;
  std::vector<UtilizationStep> use;
};

std::string text_of(const ListedEvents& events) {
  std::string text;
  RunTrace(events).write([&](std::string_view bytes) { text += bytes; });
  return text;
}

TraceFile read(const ListedEvents& events) {
  TraceFile trace = TraceReader::read(text_of(events));
  EXPECT_EQ(trace.problems, std::vector<std::string>());
  return trace;
}

std::string error_of(const ListedEvents& events) {
  try {
    const RunTrace trace(events);
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

/// "track: name [start, end) end", one per slice.
std::vector<std::string> shown(const TraceFile& trace) {
  std::vector<std::string> lines;
  for (const auto& s : trace.slices) {
    const auto number = [](double x) { return nlohmann::json(x).dump(); };
    lines.push_back(trace.threads.at(s.track) + ": " + s.name + " [" + number(s.start_us) + ", " +
                    number(s.end_us) + ") " + s.args.at("end").get<std::string>());
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> instants_on(const TraceFile& trace, const std::string& thread) {
  std::vector<std::string> names;
  for (const auto& i : trace.instants) {
    if (trace.threads.at(i.track) == thread) names.push_back(i.name);
  }
  return names;
}

// GPU 0:  a a a a .     GPU 1:  . . . c c
//         . b b b b
TEST(RunTrace, GivesEachResidentALaneOfItsGpu) {
  ListedEvents events;
  events.cluster = {{0, 0, "V100"}, {7, 0, "T4"}};
  for (const std::uint32_t job : {0, 1, 2}) events.add(0, LogKind::kArrive, job);
  events.add(0, LogKind::kStart, 0, {0});
  events.add(1500, LogKind::kStart, 1, {0});
  events.add(3000, LogKind::kStart, 2, {1});
  events.add(4001, LogKind::kFinish, 0, {0});
  events.add(5000, LogKind::kFinish, 1, {0});
  events.add(6000, LogKind::kFinish, 2, {1});
  const TraceFile trace = read(events);
  EXPECT_EQ(shown(trace), (std::vector<std::string>{"GPU 0 (V100), lane 2: b [1.5, 5.0) finish",
                                                    "GPU 0 (V100): a [0.0, 4.001) finish",
                                                    "GPU 1 (T4): c [3.0, 6.0) finish"}));
  EXPECT_EQ(trace.processes, (std::map<std::int64_t, std::string>{
                                 {1, "cluster: fifo"}, {2, "node 0"}, {9, "node 7"}}));
  EXPECT_EQ(instants_on(trace, "decisions"),
            (std::vector<std::string>{"start a", "start b", "start c"}));
  EXPECT_EQ(instants_on(trace, "submissions"),
            (std::vector<std::string>{"submit a", "submit b", "submit c"}));
  EXPECT_EQ(instants_on(trace, "failures"), std::vector<std::string>());
  for (const auto& i : trace.instants) {
    if (i.name != "start b") continue;
    EXPECT_EQ(i.args.dump(), R"({"beside":["a"],"gpus":[0],"job":1})");
  }
}

TEST(RunTrace, CountsWhatHoldsAfterEachInstant) {
  ListedEvents events;
  for (const std::uint32_t job : {0, 1, 2}) events.add(0, LogKind::kArrive, job);
  events.add(0, LogKind::kStart, 0, {0});
  events.add(0, LogKind::kStart, 1, {0});
  events.add(2000, LogKind::kFinish, 0, {0});
  events.add(2000, LogKind::kStart, 2, {1});
  events.add(3000, LogKind::kFinish, 1, {0});
  events.add(3000, LogKind::kFinish, 2, {1});
  events.use = {{Time{0}, 0.5},
                {Time{1000}, std::numeric_limits<double>::quiet_NaN()},
                {Time{2500}, 0.25},
                {Time{9000}, 0}};
  const TraceFile trace = read(events);
  const auto counter = [&](const std::string& name) {
    std::vector<std::pair<double, double>> values;
    for (const auto& sample : trace.counters.at(name))
      values.emplace_back(sample.at_us, sample.value);
    return values;
  };
  using Values = std::vector<std::pair<double, double>>;
  EXPECT_EQ(counter("jobs waiting"), (Values{{0, 1}, {2, 0}, {3, 0}}));
  EXPECT_EQ(counter("jobs running"), (Values{{0, 2}, {2, 2}, {3, 0}}));
  EXPECT_EQ(counter("GPUs busy"), (Values{{0, 1}, {2, 2}, {3, 0}}));
  EXPECT_EQ(counter("GPUs shared"), (Values{{0, 1}, {2, 0}, {3, 0}}));
  EXPECT_EQ(counter("GPU utilisation %"), (Values{{0, 50}, {2.5, 25}}));
}

TEST(RunTrace, MarksPreemptionOutOfMemoryAndGivingUp) {
  ListedEvents events;
  for (const std::uint32_t job : {0, 1}) events.add(0, LogKind::kArrive, job);
  events.add(0, LogKind::kProfile, 0, {0});
  events.add(1000, LogKind::kProfiled, 0, {0});
  events.add(1000, LogKind::kProbe, 0, {0});
  events.add(1000, LogKind::kProbe, 1, {0});
  events.add(2000, LogKind::kProbed, 0, {0});
  events.add(2000, LogKind::kProbed, 1, {0});
  events.add(2000, LogKind::kStart, 0, {0, 1});
  events.add(2000, LogKind::kStart, 1, {0});
  events.add(3000, LogKind::kOom, 1, {0});
  events.add(3000, LogKind::kPreempt, 0, {0, 1});
  events.add(3000, LogKind::kStart, 1, {0});
  events.add(4000, LogKind::kFail, 1, {0});
  events.add(4000, LogKind::kStart, 0, {1, 0});
  const TraceFile trace = read(events);
  EXPECT_EQ(shown(trace),
            (std::vector<std::string>{
                "GPU 0, lane 2: b (probe) [1.0, 2.0) probed",
                "GPU 0, lane 2: b [2.0, 3.0) out of memory", "GPU 0: a (probe) [1.0, 2.0) probed",
                "GPU 0: a (profiling) [0.0, 1.0) profiled", "GPU 0: a [2.0, 3.0) preempted",
                "GPU 0: a [4.0, 4.0) not in the file", "GPU 0: b [3.0, 4.0) given up",
                "GPU 1: a [2.0, 3.0) preempted", "GPU 1: a [4.0, 4.0) not in the file"}));
  EXPECT_EQ(instants_on(trace, "failures"),
            (std::vector<std::string>{"out of memory: b", "given up: b"}));
  EXPECT_EQ(instants_on(trace, "GPU 0"), (std::vector<std::string>{"preempted: a", "given up: b"}));
  EXPECT_EQ(instants_on(trace, "GPU 1"), std::vector<std::string>{"preempted: a"});
  EXPECT_EQ(instants_on(trace, "decisions"),
            (std::vector<std::string>{"profile a", "probe a", "probe b", "start a", "start b",
                                      "preempt a", "start b", "start a"}));
}

// Names are text of others: any bytes.
TEST(RunTrace, KeepsNamesAsText) {
  ListedEvents events;
  events.names = {"<script>alert(1)</script>\"\\", "\xe2\x80\xae\x1b[31m\n\r\t\x01\x7f\xc2\x9b",
                  std::string(10'000, 'x') + "\xff"};
  events.cluster = {{0, 0, "\"<b>\n\xe2\x80\xae"}};
  for (const std::uint32_t job : {0, 1, 2}) {
    events.add(job * 1000, LogKind::kArrive, job);
    events.add(job * 1000, LogKind::kStart, job, {0});
  }
  const TraceFile trace = read(events);
  ASSERT_EQ(trace.slices.size(), 3U);
  std::vector<std::string> names;
  for (const auto& slice : trace.slices) names.push_back(slice.name);
  EXPECT_EQ(names, (std::vector<std::string>{events.names[0], events.names[1],
                                             std::string(10'000, 'x') + "\xef\xbf\xbd"}));
}

TEST(RunTrace, HasSlicesThatFollowOneAnotherAtTimesOfManyYears) {
  ListedEvents events;
  const std::int64_t start = 9'000'000'000'000'000'123;
  for (const std::uint32_t job : {0, 1, 2}) {
    if (job > 0) events.add(start + job, LogKind::kFinish, job - 1, {0});
    events.add(start + job, LogKind::kArrive, job);
    events.add(start + job, LogKind::kStart, job, {0});
  }
  events.add(start + 3, LogKind::kFinish, 2, {0});
  read(events);
  EXPECT_NE(text_of(events).find("\"ts\":9000000000000000.123,"), std::string::npos);
}

TEST(RunTrace, RefusesEventsThatCannotBe) {
  using Entry = std::tuple<LogKind, std::uint32_t, std::vector<std::uint32_t>>;
  const auto error = [](const std::vector<Entry>& entries) {
    ListedEvents events;
    std::int64_t ns = 0;
    for (const auto& [kind, job, gpus] : entries) events.add(ns++, kind, job, gpus);
    return error_of(events);
  };
  const Entry arrives{LogKind::kArrive, 0, {}};
  const Entry starts{LogKind::kStart, 0, {0}};
  EXPECT_EQ(error({arrives, starts}), "");
  EXPECT_EQ(error({arrives, {LogKind::kFail, 0, {}}}), "");
  EXPECT_EQ(error({starts}), "log: a job cannot start that did not arrive before");
  EXPECT_EQ(error({arrives, arrives}), "log: a job cannot arrive that arrived before");
  EXPECT_EQ(error({arrives, starts, starts}), "log: a job cannot start that is on a GPU");
  EXPECT_EQ(error({arrives, {LogKind::kStart, 0, {}}}), "log: a job starts without a GPU");
  EXPECT_EQ(error({{LogKind::kArrive, 0, {1}}}), "log: a job arrives on a GPU, expected none");
  EXPECT_EQ(error({arrives, {LogKind::kStart, 0, {1, 1}}}), "log: the job is already on GPU 1");
  EXPECT_EQ(error({arrives, starts, {LogKind::kFinish, 0, {1}}}), "log: the job is not on GPU 1");
  EXPECT_EQ(error({arrives, starts, {LogKind::kFinish, 0, {}}}),
            "log: a job leaves its GPUs, expected which");
  EXPECT_EQ(error({arrives, {LogKind::kOom, 0, {0}}}), "log: a job cannot oom that is on no GPU");
  EXPECT_EQ(error({arrives, starts, {LogKind::kFinish, 0, {0}}, starts}),
            "log: a job cannot start that has ended");
  EXPECT_EQ(error({arrives, {LogKind::kStart, 0, {4'294'967'294}}}),
            "log: gpu is 4294967294, expected a number below 10000000");
  ListedEvents events;
  events.cluster = {{0, 0, "V100"}};
  events.add(0, LogKind::kArrive, 0);
  events.add(0, LogKind::kStart, 0, {1});
  EXPECT_EQ(error_of(events), "log: GPU 1 is not in the cluster");
}

}  // namespace
}  // namespace corun::run_trace_test
