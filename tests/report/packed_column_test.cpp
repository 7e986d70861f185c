#include "report/packed_column.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/report/report_fixture.hpp"

namespace corun::report_test {
namespace {

std::string encoded(const std::string& text) {
  return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(PackedColumn, IsBase64) {
  // RFC 4648, section 10.
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(PackedColumn, HasNoSeamBetweenPieces) {
  std::vector<std::uint8_t> bytes(7'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 2654435761U >> 13);
  }
  EXPECT_TRUE(bytes_of(base64(bytes)) == bytes);
}

TEST(PackedColumn, HoldsLittleEndianNumbers) {
  const std::vector<std::uint32_t> numbers{1, 0x01020304};
  EXPECT_EQ(bytes_of(packed_column<std::uint32_t>(numbers)),
            (std::vector<std::uint8_t>{1, 0, 0, 0, 4, 3, 2, 1}));
}

}  // namespace
}  // namespace corun::report_test
