#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Cells in aligned columns, as the tables of our output have them: every column as wide as its longest
/// cell, two blanks between, no blanks at the end of a line.
namespace corun {

/// Characters that a terminal shows for a text in UTF-8: bytes that go on with a character do not count.
std::size_t shown_width(std::string_view text);

class TextTable {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };

  /// The last of `columns`, of which there is one at least, holds for all that follow it. Every row
  /// begins with `indent`.
  explicit TextTable(std::vector<Align> columns, std::string indent = "");

  /// A row; cells that are missing at its end are blank.
  void add(std::vector<std::string> cells);

  /// A line between rows that has no columns and widens none.
  void add_line(std::string line);

  /// All lines, each with its end.
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool is_line = false;  ///< its one cell is the line
  };

  Align align(std::size_t column) const;

  std::vector<Align> columns_;
  std::string indent_;
  std::vector<Row> rows_;
};

/// Rows of cells as lines: the first column to the left, the others to the right.
std::string aligned(std::vector<std::vector<std::string>> rows);

/// A number with so many digits behind the point; "-" where there is none.
std::string shown(const std::optional<double>& value, int digits);

}  // namespace corun
