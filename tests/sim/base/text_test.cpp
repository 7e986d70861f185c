#include "sim/base/text.hpp"

#include <array>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace corun::text_test {
namespace {

TEST(Nearest, FindsTypingMistakes) {
  const std::vector<std::string_view> known = {"min-slowdown", "max-packing", "fcfs", "ps",
                                               "ramp_s"};
  EXPECT_EQ(nearest("min-slowdwn", known), "min-slowdown");
  EXPECT_EQ(nearest("MIN_SLOWDOWN", known), "min-slowdown");
  EXPECT_EQ(nearest("fcsf", known), "fcfs");
  EXPECT_EQ(nearest("ramp", known), "ramp_s");
  EXPECT_EQ(nearest("PS", known), "ps");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("entirely-else", known), "");
  EXPECT_EQ(nearest(std::string(1000000, 'f'), known), "");
  EXPECT_EQ(nearest("fcfs", {}), "");
}

TEST(Nearest, SaysSo) {
  const std::vector<std::string_view> known = {"a1", "fcfs"};
  EXPECT_EQ(did_you_mean("fcf", known), "did you mean 'fcfs'? known: a1, fcfs");
  EXPECT_EQ(did_you_mean("zzz", known), "known: a1, fcfs");
}

TEST(Printable, IsOneLineOfUtf8) {
  EXPECT_EQ(printable("a\nb\x01\xff ä\xc2\x85"), "a\\x0ab\\x01\\xff ä\\xc2\\x85");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x81\xa6\xe2\x82\xac"),
            "\\xe2\\x80\\xae\\xe2\\x81\\xa6\xe2\x82\xac");
}

TEST(Printable, LinesKeepTheirEnds) {
  EXPECT_EQ(printable_lines("a\tb\r\n\x1b\n"), "a\tb\\x0d\n\\x1b\n");
}

TEST(Text, AnUnfinishedNameIsAGuessAndCaseDoesNotMatter) {
  constexpr std::array<std::string_view, 3> names{"submit_s", "solo_s", "gpus"};
  EXPECT_EQ(nearest("submit", names), "submit_s");
  EXPECT_EQ(nearest("sol", names), "solo_s");
  EXPECT_EQ(nearest("GPUs", names), "gpus");
}

TEST(Text, NumbersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("-3"), -3);
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "9223372036854775808", "x"}) {
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("-1e3"), -1000);
  EXPECT_FALSE(std::signbit(*parse_number("-0")));
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "0x1p3", "1,5", "+1", "1 "}) {
    EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace corun::text_test
