#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Cells in aligned columns: each column is as wide as its longest cell, two blanks separate
/// columns, and no line ends in blanks.
namespace corun::inline support {

/// Number of characters of a UTF-8 text: continuation bytes do not count.
std::size_t shown_width(std::string_view text);

class TextTable {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };

  /// The last of `columns` holds for all columns that follow. Every row begins with `indent`.
  /// Throws std::invalid_argument if `columns` is empty.
  explicit TextTable(std::vector<Align> columns, std::string indent = "");

  /// A row; cells that are missing at its end are blank.
  void add(std::vector<std::string> cells);

  /// A line between rows that has no columns and widens none of them.
  void add_line(std::string line);

  /// All lines, each with a line end.
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

/// Rows of cells as lines: the first column left-aligned, the others right-aligned.
std::string aligned(std::vector<std::vector<std::string>> rows);

/// A number with `digits` digits after the point; "-" where there is none.
std::string shown(const std::optional<double>& value, int digits);

}  // namespace corun::inline support
