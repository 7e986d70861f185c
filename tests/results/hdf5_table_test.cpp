#include "results/hdf5_table.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

/// A column holds its values whole, or the file is not made.
namespace corun::hdf5_table_test {
namespace {

struct Row {
  std::int64_t number;
  std::string text;
};

std::string file_with(const Row& row) {
  using C = hdf5::Columns<Row>;
  return hdf5::file_image([&](hid_t file) {
    hdf5::TableOf<Row> table(
        file, "t", "a table",
        {C::int32("number", "of 32 bits", [](const Row& r) { return r.number; }),
         C::text("text", "of 3 bytes", 3, [](const Row& r) { return r.text; })});
    table.add(row);
    table.finish();
  });
}

std::string refusal_of(const Row& row) {
  try {
    file_with(row);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(TableOf, RefusesANumberThatItsColumnWouldNarrow) {
  EXPECT_FALSE(file_with({2147483647, "abc"}).empty());
  EXPECT_EQ(refusal_of({2147483648, "a"}),
            "column number of table t cannot hold the number 2147483648");
  EXPECT_EQ(refusal_of({-2147483649, "a"}),
            "column number of table t cannot hold the number -2147483649");
}

TEST(TableOf, RefusesATextThatItsColumnWouldCut) {
  EXPECT_EQ(refusal_of({1, "abcd"}), "column text of table t cannot hold a text of 4 bytes");
}

}  // namespace
}  // namespace corun::hdf5_table_test
