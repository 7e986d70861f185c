#include "support/text_table.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace corun::text_table_test {
namespace {

using enum TextTable::Align;

TEST(TextTable, ColumnsAreAsWideAsTheirLongestCellWithTwoBlanksBetween) {
  TextTable table({kLeft, kRight, kLeft});
  table.add({"policy", "ISD %", "note"});
  table.add({"fcfs", "12.5", "first come"});
  table.add({"min-slowdown", "7.0", ""});
  EXPECT_EQ(table.text(),
            "policy        ISD %  note\n"
            "fcfs           12.5  first come\n"
            "min-slowdown    7.0\n");
}

TEST(TextTable, TheLastAlignmentHoldsForTheColumnsThatFollow) {
  TextTable table({kLeft, kRight}, "  ");
  table.add({"a", "1", "22"});
  table.add({"bb", "333", "4"});
  EXPECT_EQ(table.text(),
            "  a     1  22\n"
            "  bb  333   4\n");
}

TEST(TextTable, CellsMissingAtTheEndOfARowAreBlank) {
  TextTable table({kLeft});
  table.add({"a"});
  table.add({"b", "c"});
  table.add({});
  EXPECT_EQ(table.text(), "a\nb  c\n\n");
}

TEST(TextTable, LinesBetweenRowsWidenNoColumn) {
  TextTable table({kLeft});
  table.add({"fcfs", "in order"});
  table.add_line("    window: the most jobs to look at ");
  table.add({"random", "drawn"});
  EXPECT_EQ(table.text(),
            "fcfs    in order\n"
            "    window: the most jobs to look at \n"
            "random  drawn\n");
}

TEST(TextTable, WidthsCountCharactersAndNotBytes) {
  EXPECT_EQ(shown_width("J\xc3\xb6"
                        "b"),
            3U);
  TextTable table({kLeft, kLeft});
  table.add(
      {"J\xc3\xb6"
       "b",
       "1"});
  table.add({"Job", "2"});
  EXPECT_EQ(table.text(),
            "J\xc3\xb6"
            "b  1\n"
            "Job  2\n");
}

TEST(TextTable, NoRowsAreNoText) {
  EXPECT_EQ(TextTable({kLeft}).text(), "");
  EXPECT_THROW(TextTable({}), std::invalid_argument);
}

TEST(Aligned, FirstColumnStandsLeftOthersRight) {
  EXPECT_EQ(aligned({{"job", "s", "MiB"}, {"a", "12.5", "7"}, {"longer", "3", "1024"}}),
            "job        s   MiB\n"
            "a       12.5     7\n"
            "longer     3  1024\n");
}

TEST(Aligned, RowsMayBeShorterAndEndWithoutBlanks) {
  EXPECT_EQ(aligned({{"a", "b"}, {"alone"}, {"x", ""}}), "a      b\nalone\nx\n");
  EXPECT_EQ(aligned({}), "");
}

TEST(Aligned, WhatIsNotThereIsADash) {
  EXPECT_EQ(shown(2.345, 1), "2.3");
  EXPECT_EQ(shown(-2.5, 0), "-2");
  EXPECT_EQ(shown(std::nullopt, 3), "-");
}

}  // namespace
}  // namespace corun::text_table_test
