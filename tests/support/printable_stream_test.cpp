#include "support/printable_stream.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "support/json.hpp"

namespace corun::printable_stream_test {
namespace {

TEST(PrintableStream, EscapesWhatATerminalWouldObey) {
  std::ostringstream target;
  {
    const PrintableStream printed(target);
    target << "a\x1b[31m\r\n\tä\x7f\xff " << 'c' << "\xe2\x80\xae";
  }
  EXPECT_EQ(target.str(), "a\\x1b[31m\\x0d\n\tä\\x7f\\xff c\\xe2\\x80\\xae");
  target << '\x1b';
  EXPECT_EQ(target.str().back(), '\x1b');
}

TEST(PrintableStream, ACharacterMayComeInPieces) {
  std::ostringstream target;
  {
    const PrintableStream printed(target);
    for (const char byte : std::string("ä\xf0\x9f\x98\x80\xe2\x80\xaex\xe2\x80")) target.put(byte);
  }
  EXPECT_EQ(target.str(), "ä\xf0\x9f\x98\x80\\xe2\\x80\\xaex\\xe2\\x80");
}

TEST(JsonText, HoldsTheSameStringWithoutControlCharacters) {
  const std::string name = "ä\x7f\xc2\x9b\xe2\x80\xae\x1b";
  EXPECT_EQ(json_line(name), "\"ä\\u007f\\u009b\\u202e\\u001b\"");
  EXPECT_EQ(Json::parse(json_text(name)), name);
}

}  // namespace
}  // namespace corun::printable_stream_test
