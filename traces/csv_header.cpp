// The header of a CSV file: which column is where, and which are computed.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

/// "; did you mean 'x'?", or nothing if no name is near.
std::string suggestion(std::string_view found, const std::vector<std::string_view>& known) {
  const std::string_view near = nearest(found, known);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

std::string join(const std::vector<CsvColumn>& columns, bool required_only) {
  std::string text;
  for (const CsvColumn& column : columns) {
    if (required_only && !column.required) continue;
    if (!text.empty()) text += ", ";
    text += column.name;
  }
  return text;
}

}  // namespace

void CsvReader::read_header() {
  constexpr int kMark[] = {0xef, 0xbb, 0xbf};
  if (peek() == kMark[0]) {
    for (const int byte : kMark) {
      if (take() != byte)
        fail_at(1, 1, "half a byte order mark, expected a header; is this a CSV file?");
    }
    column_ = 1;
  }
  position_.assign(columns_.size(), kAbsent);
  factors_.assign(columns_.size(), 1);
  expressions_.assign(columns_.size(), {});
  if (!options_.header.empty()) {
    use_header(options_.header);
    return;
  }
  if (!read_record()) {
    const std::string required = join(columns_, true);
    fail_at(1, 1,
            "the file is empty, expected a header line" +
                (required.empty() ? "" : " with " + required) + "; write one");
  }
  for (const Field& field : fields_) {
    header_.emplace_back(record_.data() + field.begin, field.end - field.begin);
  }
  add_expressions();
  std::vector<std::pair<std::string_view, std::size_t>> seen;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::string_view name = header_[i];
    const auto renamed = std::ranges::find(options_.renamed, name, &RenamedColumn::theirs);
    if (renamed != options_.renamed.end()) {
      if (renamed->ours.empty()) continue;
      name = renamed->ours;
    }
    seen.emplace_back(name, i);
    name_column(name, i, renamed == options_.renamed.end() ? nullptr : &*renamed, fields_[i]);
  }
  std::ranges::sort(seen);
  std::size_t repeated = kAbsent;
  std::size_t first = kAbsent;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (seen[i].first != seen[i - 1].first || seen[i].second >= repeated) continue;
    repeated = seen[i].second;
    first = seen[i - 1].second;
  }
  if (repeated != kAbsent) {
    const Field& field = fields_[repeated];
    fail_at(field.line, field.column,
            "column '" + printable(header_[repeated]) +
                "' is named a second time (first at column " +
                std::to_string(fields_[first].column) + "), expected each once; remove one");
  }
  std::string missing;
  std::size_t missing_count = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].required || position_[i] != kAbsent || expressions_[i]) continue;
    missing += (missing_count++ == 0 ? "'" : ", '") + std::string(columns_[i].name) + "'";
  }
  if (missing_count > 0 && !options_.has_columns_option) {
    const bool one = missing_count == 1;
    fail_at(record_line_, 1,
            "the header has no column" + std::string(one ? " " : "s ") + missing +
                ", expected at least " + join(columns_, true) + (one ? "; add it" : "; add them"));
  }
  width_ = fields_.size();
}

/// Makes the column of the header at `position` readable under `name`.
void CsvReader::name_column(std::string_view name, std::size_t position,
                            const RenamedColumn* renamed, const Field& field) {
  const double factor = renamed == nullptr ? 1 : renamed->factor;
  const auto known = std::ranges::find(columns_, name, &CsvColumn::name);
  if (known != columns_.end()) {
    const auto column = static_cast<std::size_t>(known - columns_.begin());
    if (expressions_[column] && renamed == nullptr) {
      unknown_.emplace_back(name);  // --columns gives ours another meaning
      return;
    }
    position_[column] = position;
    factors_[column] = factor;
  } else if (std::ranges::any_of(options_.beginnings,
                                 [&](std::string_view b) { return name.starts_with(b); })) {
    begun_.push_back({Column{columns_.size()}, begun_names_.emplace_back(name)});
    columns_.push_back({begun_.back().name});
    position_.push_back(position);
    factors_.push_back(factor);
    expressions_.emplace_back();
  } else if (options_.ignore_unknown) {
    if (std::ranges::find(in_expressions_, position) == in_expressions_.end()) {
      unknown_.emplace_back(name);
    }
  } else {
    std::vector<std::string_view> names;
    for (const CsvColumn& column : columns_) names.push_back(column.name);
    fail_at(field.line, field.column,
            "unknown column '" + printable(name) + "', expected columns among " +
                join(columns_, false) + suggestion(name, names));
  }
}

/// The renamed columns that are no names of the header are arithmetic on them.
void CsvReader::add_expressions() {
  for (const RenamedColumn& renamed : options_.renamed) {
    if (std::ranges::find(header_, renamed.theirs) != header_.end()) continue;
    std::string problem;
    auto expression = ColumnExpression::parse(renamed.theirs, header_, problem);
    const bool is_arithmetic = renamed.theirs.find_first_of("+-*/()\"") != std::string::npos;
    if (!expression || renamed.ours.empty()) {
      fail_renamed(renamed, is_arithmetic && !renamed.ours.empty() ? problem : "");
    }
    in_expressions_.insert(in_expressions_.end(), expression->fields().begin(),
                           expression->fields().end());
    auto known = std::ranges::find(columns_, renamed.ours, &CsvColumn::name);
    if (known == columns_.end()) {  // one that begins as options_.beginnings say
      begun_.push_back({Column{columns_.size()}, begun_names_.emplace_back(renamed.ours)});
      columns_.push_back({begun_.back().name});
      position_.push_back(kAbsent);
      factors_.push_back(1);
      expressions_.emplace_back();
      known = columns_.end() - 1;
    }
    const auto column = static_cast<std::size_t>(known - columns_.begin());
    expressions_[column] = std::move(expression);
    factors_[column] = renamed.factor;
  }
}

void CsvReader::fail_renamed(const RenamedColumn& renamed, const std::string& problem) const {
  if (header_.size() == 1 && header_[0].empty()) {
    fail_at(record_line_, 1,
            "the first line is empty, expected the names of the columns; remove it");
  }
  const std::string use = renamed.ours.empty() ? "left out" : "read as " + renamed.ours;
  if (!problem.empty()) {
    fail_at(record_line_, 1,
            "'" + printable(renamed.theirs) + "' cannot be " + use + ": " + problem +
                "; expected a column, or numbers and columns with + - * / ( )");
  }
  const std::vector<std::string_view> names(header_.begin(), header_.end());
  fail_at(record_line_, 1,
          "the header has no column '" + printable(renamed.theirs) + "', expected it to be " + use +
              "; " + did_you_mean(renamed.theirs, names));
}

void CsvReader::use_header(const std::vector<std::string>& names) {
  header_ = names;
  width_ = names.size();
  record_line_ = 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto found = std::ranges::find(names, columns_[i].name);
    if (found != names.end()) {
      position_[i] = static_cast<std::size_t>(found - names.begin());
    } else if (columns_[i].required) {
      throw std::logic_error("the header given to CsvReader lacks a required column");
    }
  }
}

}  // namespace corun::inline traces
