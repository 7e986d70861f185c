#include "traces/csv_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"
#include "traces/logs/cells.hpp"

namespace corun::inline traces {
namespace {

constexpr int kEndOfFile = -1;
constexpr std::size_t kRecordBufferBytes = std::size_t{1} << 16;
constexpr std::size_t kMaxHeaderColumns = 4096;
/// Greater limits protect arithmetic and appear only in messages about values beyond them.
constexpr double kTellingLimit = 1e6;

/// A limit for messages, without exponent.
std::string shown(double value) {
  char digits[400];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  return error == std::errc{} ? std::string(digits, end) : csv_number(value);
}

std::string hex_byte(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

std::string describe(const NumberRule& rule, bool too_large) {
  std::string text(rule.what);
  const bool has_min = std::isfinite(rule.min);
  const bool tells_max = std::isfinite(rule.max) && (too_large || rule.max < kTellingLimit);
  if (has_min && rule.above_min) {
    text += ", above " + shown(rule.min);
    if (tells_max) text += " and up to " + shown(rule.max);
  } else if (has_min && tells_max) {
    text += ", from " + shown(rule.min) + " to " + shown(rule.max);
  } else if (has_min) {
    text += ", " + shown(rule.min) + " or more";
  } else if (tells_max) {
    text += ", " + shown(rule.max) + " or less";
  }
  return text;
}

std::string describe(const IntegerRule& rule) {
  std::string text(rule.what);
  const bool has_min = rule.min != std::numeric_limits<std::int64_t>::min();
  const bool has_max = rule.max != std::numeric_limits<std::int64_t>::max();
  if (has_min && has_max) {
    text += ", from " + std::to_string(rule.min) + " to " + std::to_string(rule.max);
  } else if (has_min) {
    text += ", " + std::to_string(rule.min) + " or more";
  } else if (has_max) {
    text += ", " + std::to_string(rule.max) + " or less";
  }
  return text;
}

bool in_range(double value, const NumberRule& rule) {
  return (rule.above_min ? value > rule.min : value >= rule.min) && value <= rule.max;
}

}  // namespace

/// A double holds nanoseconds exactly for only 104 days, so digits are converted one by one. Digits beyond
/// nine round half up.
Duration exact_seconds(std::string_view text, double value) {
  if (value == 0) return Duration::zero();
  if (text.find_first_of("eE") != std::string_view::npos) return from_seconds(value);
  constexpr int kDigits = 9;
  const std::size_t point = std::min(text.find('.'), text.size());
  std::int64_t ns = 0;
  for (const char digit : text.substr(0, point)) ns = ns * 10 + (digit - '0');
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  for (std::size_t i = 0; i < kDigits; ++i) {
    ns = ns * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  if (fraction.size() > kDigits && fraction[kDigits] >= '5') ++ns;
  return Duration{ns};
}

CsvReader::CsvReader(const std::string& path, std::vector<CsvColumn> columns, CsvOptions options)
    : name_(shown_path(path)),
      columns_(std::move(columns)),
      options_(std::move(options)),
      owned_(open_input(path, "a CSV file")),
      in_(owned_.get()),
      buffer_(kRecordBufferBytes) {
  read_header();
}

CsvReader::CsvReader(std::istream& in, const std::string& name, std::vector<CsvColumn> columns,
                     CsvOptions options)
    : name_(name),
      columns_(std::move(columns)),
      options_(std::move(options)),
      in_(&in),
      buffer_(kRecordBufferBytes) {
  read_header();
}

CsvReader::~CsvReader() = default;

CsvReader::Column CsvReader::column(std::string_view name) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return Column{i};
  }
  throw std::logic_error("CsvReader was given no column '" + std::string(name) + "'");
}

bool CsvReader::has(Column column) const {
  return position_.at(static_cast<std::size_t>(column)) != kAbsent || expression(column);
}

CsvReader::Column CsvReader::add_column(std::string_view name) {
  const auto given = std::ranges::find(columns_, name, &CsvColumn::name);
  if (given != columns_.end()) return Column{static_cast<std::size_t>(given - columns_.begin())};
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) {
    throw std::logic_error("the header has no column '" + std::string(name) + "'");
  }
  columns_.push_back({*found});  // header_ outlives columns_
  factors_.push_back(1);
  expressions_.emplace_back();
  position_.push_back(static_cast<std::size_t>(found - header_.begin()));
  return Column{columns_.size() - 1};
}

bool CsvReader::next() { return read_record(); }

bool CsvReader::read_record() {
  record_.clear();
  fields_.clear();
  if (width_ > 1 || (width_ == 1 && options_.is_log)) {
    const std::size_t first_empty = line_;
    while (peek() == '\n' || peek() == '\r') {
      if (take() == '\r' && peek() != '\n') {
        fail_at(line_, 1,
                "a carriage return without a line feed, expected LF or CRLF line ends; convert the "
                "file");
      }
    }
    if (line_ != first_empty && !options_.is_log && peek() != kEndOfFile) {
      fail_at(first_empty, 1,
              "the line is empty, expected " + std::to_string(width_) +
                  " fields as in the header; remove it");
    }
  }
  if (peek() == kEndOfFile) return false;
  record_line_ = line_;
  const auto skip_blanks = [&] {
    while (options_.is_log && (peek() == ' ' || (peek() == '\t' && options_.separator != '\t'))) {
      take();
    }
  };
  const std::size_t max_fields = width_ > 0 ? width_ : kMaxHeaderColumns;
  const int separator = static_cast<unsigned char>(options_.separator);
  for (;;) {
    skip_blanks();
    Field field{record_.size(), 0, line_, column_};
    if (fields_.size() == max_fields) {
      fail_at(field.line, field.column,
              "the row goes on after " + std::to_string(max_fields) + " fields, expected " +
                  std::to_string(max_fields) +
                  " as in the header; remove the rest, or quote a field that contains the "
                  "separator");
    }
    int byte = kEndOfFile;
    if (peek() == '"') {
      read_quoted(field);
      skip_blanks();
      const std::size_t line = line_;
      const std::size_t column = column_;
      byte = take();
      if (byte == '\r' && peek() == '\n') byte = take();
      if (byte != separator && byte != '\n' && byte != kEndOfFile) {
        fail_at(line, column,
                "text after the closing quote, expected the end of the field; write a quote inside "
                "a field twice");
      }
    } else {
      for (;;) {
        take_plain();
        const std::size_t line = line_;
        const std::size_t column = column_;
        byte = take();
        if (byte == '\r' && peek() == '\n') byte = take();
        if (byte == separator || byte == '\n' || byte == kEndOfFile) break;
        if (byte == '"') {
          fail_at(line, column,
                  "a quote inside a bare field, expected none; quote the whole field and write the "
                  "quote twice");
        }
        if (byte == '\r') {
          fail_at(line, column,
                  "a carriage return without a line feed, expected LF or CRLF line ends; convert "
                  "the file");
        }
        record_.push_back(static_cast<char>(byte));
        if (record_.size() > kMaxRecordBytes) {
          fail_at(field.line, field.column,
                  "the record is longer than 1 MiB, expected rows of a CSV file; is this one?");
        }
      }
    }
    while (options_.is_log && record_.size() > field.begin &&
           (record_.back() == ' ' || record_.back() == '\t')) {
      record_.pop_back();
    }
    field.end = record_.size();
    fields_.push_back(field);
    if (byte == separator) continue;
    if (width_ > 0 && fields_.size() < width_) {
      fail_at(record_line_, 1,
              "the row has " + std::to_string(fields_.size()) +
                  (fields_.size() == 1 ? " field" : " fields") + ", expected " +
                  std::to_string(width_) + " fields as in the header; add what is missing");
    }
    return true;
  }
}

void CsvReader::read_quoted(const Field& field) {
  take();  // the opening quote
  for (;;) {
    const int byte = take();
    if (byte == kEndOfFile) {
      fail_at(field.line, field.column,
              "the quote is never closed, expected a closing quote before the end of the file; "
              "close it");
    }
    if (byte == '"') {
      if (peek() != '"') return;
      take();
    }
    record_.push_back(static_cast<char>(byte));
    if (record_.size() > kMaxRecordBytes) {
      fail_at(field.line, field.column,
              "the record is longer than 1 MiB, expected rows of a CSV file; is the quote closed?");
    }
  }
}

int CsvReader::peek() {
  if (at_ == filled_ && !refill()) return kEndOfFile;
  return static_cast<unsigned char>(buffer_[at_]);
}

int CsvReader::take() {
  const int byte = peek();
  check_utf8(byte == kEndOfFile ? '\n' : static_cast<unsigned char>(byte), line_, column_);
  if (byte == kEndOfFile) return kEndOfFile;
  ++at_;
  ++column_;
  if (byte == '\n') {
    ++line_;
    column_ = 1;
  }
  return byte;
}

/// Moves bytes without special meaning from the buffer to the record, all at once: byte by byte, reading a
/// trace would take half as long again.
void CsvReader::take_plain() {
  if (utf8_pending_ > 0) return;
  const std::size_t begin = at_;
  const std::size_t room = kMaxRecordBytes - std::min(record_.size(), kMaxRecordBytes);
  const std::size_t end = std::min(filled_, begin + room);
  while (at_ < end) {
    const auto byte = static_cast<unsigned char>(buffer_[at_]);
    if (byte < 0x20 || byte >= 0x7f || byte == '"' || buffer_[at_] == options_.separator) break;
    ++at_;
  }
  record_.append(buffer_.data() + begin, at_ - begin);
  column_ += at_ - begin;
}

bool CsvReader::refill() {
  at_ = 0;
  filled_ = 0;
  if (in_->good()) {
    in_->read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    filled_ = static_cast<std::size_t>(in_->gcount());
  }
  if (in_->bad()) fail_at(line_, column_, "reading failed, expected a readable CSV file");
  return filled_ > 0;
}

/// The well-formed byte sequences of the Unicode standard (table 3-7), without control characters.
void CsvReader::check_utf8(unsigned char byte, std::size_t line, std::size_t column) {
  const auto refuse_byte = [&] {
    fail_at(line, column,
            "byte " + hex_byte(byte) +
                " is not text, expected UTF-8 without control characters; "
                "is this a CSV file?");
  };
  if (utf8_pending_ > 0) {
    if (byte < utf8_low_ ||
        byte > utf8_high_) {  // the byte that began the character is the wrong one
      byte = utf8_lead_;
      column = utf8_lead_column_;
      refuse_byte();
    }
    --utf8_pending_;
    utf8_low_ = 0x80;
    utf8_high_ = 0xbf;
    return;
  }
  if (byte < 0x80) {
    const bool control = byte < 0x20 || byte == 0x7f;
    if (control && byte != '\t' && byte != '\n' && byte != '\r') refuse_byte();
    return;
  }
  if (byte < 0xc2 || byte > 0xf4) refuse_byte();
  utf8_lead_ = byte;
  utf8_lead_column_ = column;
  utf8_pending_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  if (byte == 0xc2) utf8_low_ = 0xa0;   // below are the C1 control characters
  if (byte == 0xe0) utf8_low_ = 0xa0;   // below are longer forms of shorter characters
  if (byte == 0xed) utf8_high_ = 0x9f;  // above are surrogates
  if (byte == 0xf0) utf8_low_ = 0x90;
  if (byte == 0xf4) utf8_high_ = 0x8f;
}

void CsvReader::fail_at(std::size_t line, std::size_t column, const std::string& message) const {
  throw InputError(name_ + ":" + std::to_string(line) + ":" + std::to_string(column), message);
}

const CsvReader::Field* CsvReader::field(Column column) const {
  const std::size_t position = position_.at(static_cast<std::size_t>(column));
  return position < fields_.size() ? &fields_[position] : nullptr;
}

std::string_view CsvReader::at_position(std::size_t position) const {
  if (position >= fields_.size()) return {};
  const Field& f = fields_[position];
  return {record_.data() + f.begin, f.end - f.begin};
}

std::string_view CsvReader::raw(Column column) const {
  const std::string_view found = at_position(position_.at(static_cast<std::size_t>(column)));
  return options_.is_log && is_absent(found) ? std::string_view{} : found;
}

std::string_view CsvReader::cell(Column column) const {
  return at_position(position_.at(static_cast<std::size_t>(column)));
}

bool CsvReader::converts(Column column) const {
  const auto& expression = this->expression(column);
  return factor(column) != 1 || (expression && expression->converts());
}

std::optional<CellValue> CsvReader::value(
    Column column, const std::function<std::optional<CellValue>(std::string_view)>& read,
    const std::string& expected) const {
  const auto read_cell = [&](std::string_view text) {
    const auto value = read(text);
    const bool comma = options_.is_log && options_.separator == ';' && !value;
    return comma ? read(with_decimal_point(text)) : value;
  };
  std::optional<CellValue> value;
  if (const auto& expression = this->expression(column)) {
    value = expression->value([&](std::size_t position) -> std::optional<CellValue> {
      const std::string_view text = at_position(position);
      if (is_absent(text)) return std::nullopt;
      const auto found = read_cell(text);
      if (!found) {
        const Field& f = fields_[position];
        fail_at(f.line, f.column,
                "column '" + printable(header_[position]) + "' is '" + printable(text) +
                    "', expected " + expected + " for " +
                    printable(columns_[static_cast<std::size_t>(column)].name) + "; correct it");
      }
      return found;
    });
  } else {
    const std::string_view text = raw(column);
    if (text.empty()) return std::nullopt;
    value = read_cell(text);
    if (!value) refuse(column, expected);
  }
  if (value && factor(column) != 1) *value = {value->number * factor(column)};
  return value;
}

std::string_view CsvReader::text(Column column) const {
  const std::string_view value = raw(column);
  if (value.find_first_of("\r\n\t") != std::string_view::npos) {
    refuse(column, "text on one line, without tabs");
  }
  return value;
}

std::string_view CsvReader::required_text(Column column, std::string_view what) const {
  const std::string_view value = text(column);
  if (value.empty()) refuse(column, std::string(what));
  return value;
}

std::optional<double> CsvReader::number(Column column, const NumberRule& rule) const {
  const auto read = [](std::string_view text) -> std::optional<CellValue> {
    const auto found = parse_number(text);
    return found ? std::optional(CellValue{*found}) : std::nullopt;
  };
  std::optional<double> value;
  if (expression(column) || (options_.is_log && options_.separator == ';')) {
    const auto found = this->value(column, read, describe(rule, false));
    if (!found) return std::nullopt;
    value = found->number;
  } else {
    const std::string_view found = raw(column);
    if (found.empty()) return std::nullopt;
    value = parse_number(found);
    if (value && factor(column) != 1) *value *= factor(column);
  }
  if (!value || !in_range(*value, rule)) refuse(column, describe(rule, value && *value > rule.max));
  return value;
}

double CsvReader::required_number(Column column, const NumberRule& rule) const {
  const std::optional<double> value = number(column, rule);
  if (!value) refuse(column, describe(rule, false), "fill it in");
  return *value;
}

std::optional<std::int64_t> CsvReader::integer(Column column, const IntegerRule& rule) const {
  if (options_.is_log && (converts(column) || expression(column))) {
    constexpr double kLargest = 9e15;  // whole doubles
    const auto value = number(column, {rule.what, -kLargest, kLargest});
    if (!value) return std::nullopt;
    const double whole = std::round(*value);
    const bool near = std::abs(*value - whole) <= 1e-9 * std::max(1.0, std::abs(whole));
    if (!near || whole < static_cast<double>(rule.min) || whole > static_cast<double>(rule.max)) {
      refuse(column, describe(rule));
    }
    return static_cast<std::int64_t>(whole);
  }
  const std::string_view found = raw(column);
  if (found.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
  const std::string_view rest(
      end, found.data() + found.size());  // ".0" of programs that know no integers
  const bool whole = rest.empty() || (options_.is_log && rest == ".0");
  if (error != std::errc{} || !whole || value < rule.min || value > rule.max) {
    refuse(column, describe(rule));
  }
  return value;
}

std::optional<Duration> CsvReader::seconds(Column column, const NumberRule& rule) const {
  NumberRule bounded = rule;
  bounded.min = std::max(rule.min, 0.0);
  bounded.max = std::min(rule.max, kMaxTimeSeconds);
  const std::optional<double> value = number(column, bounded);
  if (!value) return std::nullopt;
  const std::string_view digits = raw(column);
  const bool exact =
      factor(column) == 1 && !digits.empty() && digits.find(',') == std::string_view::npos;
  const Duration time = exact ? exact_seconds(digits, *value) : from_seconds(*value);
  if (bounded.above_min && time <= from_seconds(bounded.min)) {
    refuse(column, describe(bounded, false) + " by a nanosecond or more");
  }
  return time;
}

Duration CsvReader::required_seconds(Column column, const NumberRule& rule) const {
  const std::optional<Duration> value = seconds(column, rule);
  if (!value) refuse(column, describe(rule, false), "fill it in");
  return *value;
}

std::string CsvReader::place(Column column) const {
  const Field* f = field(column);
  return name_ + ":" + std::to_string(f == nullptr ? record_line_ : f->line) + ":" +
         std::to_string(f == nullptr ? 1 : f->column);
}

std::string CsvReader::theirs(Column column) const {
  const std::string_view ours = columns_[static_cast<std::size_t>(column)].name;
  const std::size_t position = position_.at(static_cast<std::size_t>(column));
  if (position != kAbsent) return header_[position];
  const auto renamed = std::ranges::find(options_.renamed, ours, &RenamedColumn::ours);
  return std::string(expression(column) && renamed != options_.renamed.end()
                         ? std::string_view(renamed->theirs)
                         : ours);
}

std::string CsvReader::found(Column column) const {
  const auto& expression = this->expression(column);
  if (!expression) return std::string(cell(column));
  const std::string text =
      expression->shown([&](std::size_t position) { return std::string(at_position(position)); });
  const auto value = expression->value([&](std::size_t position) -> std::optional<CellValue> {
    const std::string cell = with_decimal_point(at_position(position));
    if (const auto number = parse_number(cell)) return CellValue{*number};
    if (const auto date = parse_date(cell)) return CellValue{to_seconds(date->time)};
    if (const auto length = parse_duration(cell)) return CellValue{to_seconds(*length)};
    if (const auto gpus = parse_gpus(cell)) return CellValue{*gpus};
    if (const auto mib = parse_memory_mib(cell)) return CellValue{*mib};
    return std::nullopt;
  });
  return value ? text + " = " + csv_number(value->number * factor(column)) : text;
}

void CsvReader::refuse(Column column, const std::string& expected,
                       const std::string& advice) const {
  const std::string found = this->found(column);
  const CsvColumn& known = columns_[static_cast<std::size_t>(column)];
  const std::string ours = printable(known.name);
  const std::string theirs = printable(this->theirs(column));
  const bool renamed = theirs != ours;
  std::string hint = advice;
  if (hint.empty()) {
    hint = found.empty()    ? "fill it in"
           : known.required ? "correct it"
                            : "correct it or leave it empty";
    if (options_.has_columns_option && !known.required && !found.empty()) {
      hint += "; --columns " + theirs + "= leaves the column out";
    }
  }
  fail(column, "column '" + theirs + (renamed ? "' (" + ours + ")" : "'") + " is " +
                   (found.empty() ? "empty" : "'" + printable(found) + "'") + ", expected " +
                   expected + "; " + hint);
}

void CsvReader::fail(Column column, const std::string& message) const {
  throw InputError(place(column), message);
}

bool looks_like_fractions(std::span<const double> values) {
  constexpr std::size_t kFewest = 3;
  return values.size() >= kFewest && std::ranges::all_of(values, [](double v) { return v <= 1; }) &&
         std::ranges::any_of(values, [](double v) { return v != std::floor(v); });
}

std::string csv_seconds(Duration value) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  std::string text = std::to_string(value.count() / kPerSecond);
  std::string fraction = std::to_string(std::abs(value.count() % kPerSecond));
  fraction.insert(0, 9 - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

}  // namespace corun::inline traces
