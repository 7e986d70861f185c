#include "models/limited_json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace corun::limited_json_test {
namespace {

using Json = nlohmann::json;

TEST(LimitedJson, DepthAndValuesAreLimited) {
  const JsonLimits limits{3, 6};
  EXPECT_EQ(json_problem("[[[1]]]", limits), "");
  EXPECT_NE(json_problem("[[[[]]]]", limits), "");
  EXPECT_EQ(json_problem("[[[]],[[]]]", limits), "");
  EXPECT_EQ(json_problem("[1,2,3,4,5]", limits), "");
  EXPECT_NE(json_problem("[1,2,3,4,5,6]", limits), "");
  EXPECT_NE(json_problem(R"({"a":1,"b":2,"c":3})", limits), "");
  EXPECT_NE(json_problem(std::string(1'000'000, '['), limits), "");
}

TEST(LimitedJson, AKeyStandsOnceInAnObject) {
  const JsonLimits limits{4, 20};
  EXPECT_EQ(json_problem(R"([{"a":1},{"a":{"a":2}}])", limits), "");
  EXPECT_EQ(json_problem(R"({"b":{},"a":1,"a":2})", limits), "the key 'a' twice in an object");
}

TEST(LimitedJson, WhatIsNoJsonIsNothing) {
  const JsonLimits limits{3, 6};
  for (const char* text : {"", "{", "[1] 2", "nul", "\"\xff\""}) {
    EXPECT_FALSE(parse_limited_json<Json>(text, limits)) << text;
  }
  EXPECT_EQ(parse_limited_json<Json>("[1, {\"a\": 2}]", limits), Json::parse("[1, {\"a\": 2}]"));
}

TEST(LimitedJson, ReadsCbor) {
  const auto cbor = Json::input_format_t::cbor;
  EXPECT_EQ(json_problem("\x81\x81\x01", {2, 3}, cbor), "");
  EXPECT_NE(json_problem("\x81\x81\x01", {1, 3}, cbor), "");
  EXPECT_NE(json_problem("\x81\x81\x01", {2, 2}, cbor), "");
  EXPECT_NE(json_problem(std::string(1'000'000, '\x81'), {16, 1U << 20U}, cbor), "");
}

}  // namespace
}  // namespace corun::limited_json_test
