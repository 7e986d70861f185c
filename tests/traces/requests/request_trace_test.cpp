#include "traces/requests/request_trace.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/public_data.hpp"

/// Traces of requests.
namespace corun::request_trace_test {
namespace {

using namespace std::chrono_literals;

RequestTrace read(const std::string& text) {
  std::istringstream in(text);
  return read_request_trace(in, "r.csv");
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RequestTrace, ReadsSecondsAndDates) {
  EXPECT_EQ(read("arrival_s,context_tokens\n0,4\n0.052,3\n0.052,1\n").arrivals,
            (std::vector<Time>{0s, 52ms, 52ms}));
  EXPECT_EQ(read("TIMESTAMP,ContextTokens\n2023-11-16 18:17:03.9799600,4\n"
                 "2023-11-16 18:18:03.9799600,5\n")
                .arrivals,
            (std::vector<Time>{0s, 60s}));
}

TEST(RequestTrace, RefusesWithThePlace) {
  EXPECT_EQ(
      refusal("arrival_s\n5\n4\n"),
      "r.csv:3:1: column 'arrival_s' is '4', expected a time not before that of the request above "
      "it; sort the file by time");
  for (const char* text : {"", "time\n1\n", "arrival_s,TIMESTAMP\n1,1\n", "arrival_s\n",
                           "arrival_s\nx\n", "arrival_s\n-1\n", "arrival_s\n5e9\n",
                           "arrival_s,b\n,1\n", "TIMESTAMP\nyesterday\n", "TIMESTAMP,a\n,1\n"}) {
    EXPECT_TRUE(refusal(text).starts_with("r.csv:")) << text << refusal(text);
    EXPECT_EQ(refusal(text).find('\n'), std::string::npos) << text;
  }
}

TEST(RequestTrace, ReadsThePublicTraces) {
  struct Known {
    std::string file;
    std::size_t requests;
    double last_s;
  };
  for (const auto& [file, requests, last_s] :
       {Known{"requests/azure2023_llm_code.csv", 8819, 3435.7},
        Known{"requests/azure2023_llm_conv.csv", 19366, 3501.8},
        Known{"requests/mooncake_conversation.csv", 12031, 3536.999}}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
    const RequestTrace trace = read_request_trace(test::public_data(file));
    EXPECT_EQ(trace.arrivals.size(), requests) << file;
    EXPECT_NEAR(to_seconds(trace.arrivals.back()), last_s, 1) << file;
  }
}

}  // namespace
}  // namespace corun::request_trace_test
