#include "models/limited_json.hpp"

#include <cstdint>
#include <string>
#include <vector>

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

// The library would read the parts by calls within calls until the stack ends.
TEST(LimitedJson, CborHasNoStringsInParts) {
  const auto cbor = Json::input_format_t::cbor;
  const JsonLimits limits{16, 1U << 20U};
  const std::string in_parts = "a string in parts, which the library would nest calls for";
  for (const char part : {'\x5f', '\x7f'}) {
    EXPECT_EQ(json_problem(std::string(1'000'000, part), limits, cbor), in_parts);
    EXPECT_EQ(json_problem(std::string("\x82\x18\x20") + part, limits, cbor), in_parts);
    // Within a string or a number it is none.
    EXPECT_EQ(json_problem(std::string("\x82\x61") + '\x7f' + "\x18\x7f", limits, cbor), "");
    EXPECT_EQ(json_problem(std::string("\x81\x41") + part, limits, cbor), "");
  }
  EXPECT_NE(json_problem("\x7a\xff\xff\xff\xff", limits, cbor), "");
  EXPECT_NE(json_problem("\x7b\xff", limits, cbor), "");
  const Json all = {{"list", {1, -2.5, "text", nullptr, true}}, {"map", Json::object()}};
  const std::vector<std::uint8_t> bytes = Json::to_cbor(all);
  EXPECT_EQ(json_problem({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits, cbor),
            "");
}

}  // namespace
}  // namespace corun::limited_json_test
