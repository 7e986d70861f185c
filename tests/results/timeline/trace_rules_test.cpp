#include "tests/results/timeline/trace_rules.hpp"

#include <string>

#include <gtest/gtest.h>

// The reader that judges traces finds each kind of fault.
namespace corun::trace_rules_test {
namespace {

using trace_rules::TraceReader;

const std::string kNames =
    R"({"ph":"M","ts":0,"pid":1,"tid":1,"name":"process_name","args":{"name":"p"}},)"
    R"({"ph":"M","ts":0,"pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}})";

std::string first_problem(const std::string& events) {
  const auto trace = TraceReader::read("{\"traceEvents\":[" + kNames + (events.empty() ? "" : ",") +
                                       events + "]}");
  return trace.problems.empty() ? "" : trace.problems.front();
}

TEST(TraceRules, AcceptSlicesThatNestAndFollowOneAnother) {
  EXPECT_EQ(first_problem(""), "");
  EXPECT_EQ(first_problem(R"({"ph":"B","ts":1.5,"pid":1,"tid":1,"name":"a"},)"
                          R"({"ph":"B","ts":1.5,"pid":1,"tid":1,"name":"b"},)"
                          R"({"ph":"E","ts":2,"pid":1,"tid":1},{"ph":"E","ts":2,"pid":1,"tid":1},)"
                          R"({"ph":"i","ts":2,"pid":1,"tid":1,"name":"c","s":"t"},)"
                          R"({"ph":"C","ts":2,"pid":1,"tid":1,"name":"d","args":{"n":1}})"),
            "");
  EXPECT_EQ(first_problem(R"({"ph":"X","ts":0,"dur":4,"pid":1,"tid":1,"name":"a"},)"
                          R"({"ph":"X","ts":0,"dur":2,"pid":1,"tid":1,"name":"b"},)"
                          R"({"ph":"X","ts":2,"dur":2,"pid":1,"tid":1,"name":"c"})"),
            "");
}

TEST(TraceRules, FindEachFault) {
  const auto finds = [](const std::string& problem, const std::string& events) {
    EXPECT_EQ(first_problem(events).find(problem), 0U) << events << ": " << first_problem(events);
  };
  finds("no ts", R"({"ph":"B","pid":1,"tid":1,"name":"a"})");
  finds("no pid", R"({"ph":"B","ts":1,"tid":1,"name":"a"})");
  finds("no tid", R"({"ph":"B","ts":1,"pid":1,"name":"a"})");
  finds("no ph", R"({"ts":1,"pid":1,"tid":1,"name":"a"})");
  finds("time", R"({"ph":"i","ts":"1","pid":1,"tid":1,"name":"a","s":"t"})");
  finds("no name", R"({"ph":"B","ts":1,"pid":1,"tid":1})");
  finds("slices without an end", R"({"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"})");
  finds("an end without", R"({"ph":"E","ts":1,"pid":1,"tid":1})");
  finds("time goes back", R"({"ph":"B","ts":2,"pid":1,"tid":1,"name":"a"},)"
                          R"({"ph":"E","ts":1,"pid":1,"tid":1})");
  finds("slices that overlap", R"({"ph":"X","ts":0,"dur":2,"pid":1,"tid":1,"name":"a"},)"
                               R"({"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"b"})");
  finds("scope", R"({"ph":"i","ts":1,"pid":1,"tid":1,"name":"a"})");
  finds("a counter that is no number",
        R"({"ph":"C","ts":1,"pid":1,"tid":1,"name":"a","args":{"n":"1"}})");
  finds("a counter without", R"({"ph":"C","ts":1,"pid":1,"tid":1,"name":"a"})");
  finds("a thread without a name", R"({"ph":"i","ts":1,"pid":1,"tid":2,"name":"a","s":"t"})");
  finds("a process without a name",
        R"({"ph":"C","ts":1,"pid":2,"tid":1,"name":"a","args":{"n":1}})");
  finds("unknown phase", R"({"ph":"?","ts":1,"pid":1,"tid":1,"name":"a"})");
  finds("metadata", R"({"ph":"M","ts":0,"pid":1,"tid":1,"name":"thread_name","args":{}})");
  EXPECT_EQ(TraceReader::read("{\"traceEvents\":[").problems.size(), 1U);
  EXPECT_EQ(TraceReader::read("{\"traceEvents\":[{\"ph\":\"\xff\"}]}").problems.size(), 1U);
}

}  // namespace
}  // namespace corun::trace_rules_test
