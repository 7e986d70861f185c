#include "support/text_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace corun::inline support {

std::size_t shown_width(std::string_view text) {
  constexpr unsigned kKind = 0xC0;
  constexpr unsigned kContinues = 0x80;
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & kKind) != kContinues;
  }));
}

TextTable::TextTable(std::vector<Align> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {
  if (columns_.empty()) throw std::invalid_argument("a table without columns");
}

void TextTable::add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), false}); }

void TextTable::add_line(std::string line) { rows_.push_back({{std::move(line)}, true}); }

TextTable::Align TextTable::align(std::size_t column) const {
  return columns_[std::min(column, columns_.size() - 1)];
}

std::string TextTable::text() const {
  std::vector<std::size_t> width;
  for (const Row& row : rows_) {
    if (row.is_line) continue;
    width.resize(std::max(width.size(), row.cells.size()));
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      width[c] = std::max(width[c], shown_width(row.cells[c]));
    }
  }
  std::string out;
  for (const Row& row : rows_) {
    if (row.is_line) {
      out += row.cells.front() + "\n";
      continue;
    }
    std::string line = indent_;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const std::string blanks(width[c] - shown_width(row.cells[c]), ' ');
      if (c > 0) line += "  ";
      line += align(c) == Align::kLeft ? row.cells[c] + blanks : blanks + row.cells[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string aligned(std::vector<std::vector<std::string>> rows) {
  TextTable table({TextTable::Align::kLeft, TextTable::Align::kRight});
  for (std::vector<std::string>& row : rows) table.add(std::move(row));
  return table.text();
}

std::string shown(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

}  // namespace corun::inline support
