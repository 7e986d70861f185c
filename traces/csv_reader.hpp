#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/csv_text.hpp"
#include "sim/time.hpp"
#include "traces/logs/column_expression.hpp"

/// Strict streaming CSV.
///
/// Accepted: RFC 4180 with LF or CRLF line ends, a UTF-8 byte order mark, line breaks inside
/// quotes, a last line without line end, empty lines at the end of the file. A header is required and columns are looked up by its
/// names. Refused, each with FILE:LINE:COLUMN: unknown, missing or repeated columns, renamed columns that
/// the header lacks, rows of another length than the header, quotes that are not closed or stand inside a
/// bare field, control bytes, bytes that are not UTF-8, records above kMaxRecordBytes. A file may be compressed
/// (input_file.hpp). Lines and columns (in bytes) count from 1. Every mistake of the file is an InputError
/// of one line: place, what was found, what was expected, what to do.
namespace corun::inline traces {

/// Bytes. A longer record has a quote that was never closed, or the file is no CSV.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;

/// Largest time that readers accept [s]: seconds since 1970 fit, and the end of any trace fits in a
/// Duration.
inline constexpr double kMaxTimeSeconds = 4e9;

struct CsvColumn {
  std::string_view name;
  bool required = false;  ///< the header must have it; a field may still be empty
};

/// A column that is read under another name than the file gives it.
struct RenamedColumn {
  std::string theirs;  ///< in the header, or arithmetic on its columns (logs/column_expression.hpp)
  std::string ours;    ///< of the columns that the reader knows; empty: the column is left out
  double factor = 1;   ///< above 0; number() and seconds() multiply by it, integer() does not

  bool operator==(const RenamedColumn&) const = default;
};

struct CsvOptions {
  char separator = ',';
  bool ignore_unknown = false;  ///< for public formats with columns that are not read
  /// The columns of a file without header line, as from another reader's header(); the required ones must
  /// be among them (std::logic_error). Empty: the first line is the header.
  std::vector<std::string> header = {};
  /// Refused if the header lacks one of them.
  std::vector<RenamedColumn> renamed = {};
  /// Users rename columns by --columns: advice says so, and missing columns are left to the caller.
  bool has_columns_option = false;
  /// The file is a log that others wrote: blanks around fields and names carry no meaning, texts such as "NaN"
  /// (is_absent(), logs/cells.hpp) are empty fields, empty lines are skipped, whole numbers may end in ".0", and
  /// with the separator ';' a comma is a decimal mark.
  bool is_log = false;
  /// Beginnings of names, such as "solo_s@": all columns of the header with such names are known, too.
  std::vector<std::string_view> beginnings = {};
};

/// For files with columns that are not read, such as public formats.
inline const CsvOptions kAnyColumns{',', true};
/// The same for logs of jobs.
inline const CsvOptions kLogColumns{.ignore_unknown = true, .is_log = true};

/// Range of a numeric field, and its text in messages: "expected {what}, 0 or more".
struct NumberRule {
  std::string_view what;  ///< "a number of seconds"
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is refused
};

struct IntegerRule {
  std::string_view what;  ///< "a whole number of GPUs"
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Reads one file from front to back, one record at a time, in memory bounded by one record.
class CsvReader {
 public:
  /// Handle of a known column; valid only for the reader that returned it.
  enum class Column : std::size_t {};

  /// Opens the file and reads its header. InputError if the file is missing, a directory, unreadable or
  /// empty, or if its header does not consist of `columns`.
  explicit CsvReader(const std::string& path, std::vector<CsvColumn> columns,
                     CsvOptions options = {});
  /// The same from an open stream; `name` stands for the file in messages. The stream must outlive the
  /// reader.
  CsvReader(std::istream& in, const std::string& name, std::vector<CsvColumn> columns,
            CsvOptions options = {});
  ~CsvReader();
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  /// `name` must be one of the columns given to the constructor (std::logic_error).
  Column column(std::string_view name) const;
  /// Whether the header has the column. A column that it lacks reads as empty fields.
  bool has(Column column) const;
  /// The names of the header, in file order, as the file gives them.
  const std::vector<std::string>& header() const { return header_; }
  /// The names of the header that are no known columns and are not left out by `renamed`, in file order.
  const std::vector<std::string>& unknown() const { return unknown_; }
  /// Makes a column of the header readable that was not given to the constructor (ignore_unknown). `name`
  /// must be in header() (std::logic_error); a column given or added before is returned again.
  Column add_column(std::string_view name);

  struct NamedColumn {
    Column column;
    std::string_view name;  ///< ours, if it is renamed; valid as long as the reader
  };
  /// The columns that are known by CsvOptions::beginnings, in file order.
  const std::vector<NamedColumn>& begun_columns() const { return begun_; }

  /// Moves to the next record; false at the end of the file.
  bool next();
  /// Line on which the current record begins, from 1.
  std::size_t line() const { return record_line_; }

  // The fields of the current record; before the first next() that is the header. Functions with an
  // optional result return nothing for an empty field; the others refuse it with InputError, and all refuse
  // a value outside `rule`. Numbers are decimal: no NaN, infinity, hexadecimal, leading '+' or blanks, and
  // no value beyond the range of a double or an int64. Texts have one line.

  /// Valid until next(); without line breaks and tabs; may be empty.
  std::string_view text(Column column) const;
  /// The same, also for a text that means an absent value in a log.
  std::string_view cell(Column column) const;
  /// The value of a column or of the expression that stands for it, `read` giving that of a cell: nothing if the
  /// field, or one that the expression needs, is empty. Refuses cells for which `read` gives nothing, as not
  /// `expected`. The renamed column's factor is applied.
  std::optional<CellValue> value(
      Column column, const std::function<std::optional<CellValue>(std::string_view)>& read,
      const std::string& expected) const;
  /// Whether the column is an expression with numbers or products, or has a factor: its unit is as it says.
  bool converts(Column column) const;
  /// Whether the column is one of the file, not an expression.
  bool is_plain(Column column) const { return !expression(column); }
  /// The file's name for the column, or the expression.
  std::string theirs(Column column) const;
  /// Like text(), but not empty; `what` is e.g. "the name of a job".
  std::string_view required_text(Column column, std::string_view what) const;
  std::optional<double> number(Column column, const NumberRule& rule) const;
  double required_number(Column column, const NumberRule& rule) const;
  std::optional<std::int64_t> integer(Column column, const IntegerRule& rule) const;
  /// Seconds, to the exact nanosecond if the text has no exponent. Refuses negative times and times above
  /// kMaxTimeSeconds in addition to `rule`; `above_min` refuses values that round to the minimum.
  std::optional<Duration> seconds(Column column, const NumberRule& rule) const;
  Duration required_seconds(Column column, const NumberRule& rule) const;

  /// "FILE:LINE:COLUMN" of a field of the current record; of the record if the column is absent.
  std::string place(Column column) const;
  /// Throws InputError "PLACE: column 'NAME' is 'FOUND', expected EXPECTED; ADVICE". With an empty `advice`
  /// it gives the usual one.
  [[noreturn]] void refuse(Column column, const std::string& expected,
                           const std::string& advice = "") const;
  /// Throws InputError "PLACE: MESSAGE".
  [[noreturn]] void fail(Column column, const std::string& message) const;
  /// The file's name in messages.
  const std::string& name() const { return name_; }

 private:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  struct Field {
    std::size_t begin = 0;  ///< in record_
    std::size_t end = 0;
    std::size_t line = 0;
    std::size_t column = 0;
  };

  void read_header();
  void use_header(const std::vector<std::string>& names);
  void name_column(std::string_view name, std::size_t position, const RenamedColumn* renamed,
                   const Field& field);
  void add_expressions();
  void fail_renamed(const RenamedColumn& renamed, const std::string& problem) const;
  const std::optional<ColumnExpression>& expression(Column column) const {
    return expressions_[static_cast<std::size_t>(column)];
  }
  std::string_view at_position(std::size_t position) const;
  std::string found(Column column) const;
  double factor(Column column) const { return factors_[static_cast<std::size_t>(column)]; }
  bool read_record();
  void read_quoted(const Field& field);
  int take();
  void take_plain();
  int peek();
  bool refill();
  void check_utf8(unsigned char byte, std::size_t line, std::size_t column);
  [[noreturn]] void fail_at(std::size_t line, std::size_t column, const std::string& message) const;
  std::string_view raw(Column column) const;
  const Field* field(Column column) const;

  std::string name_;
  std::vector<CsvColumn> columns_;
  std::deque<std::string> begun_names_;  ///< a deque does not move them
  std::vector<NamedColumn> begun_;
  std::vector<std::string> header_;
  std::vector<std::string> unknown_;
  CsvOptions options_;
  std::unique_ptr<std::istream> owned_;
  std::istream* in_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::size_t line_ = 1;    ///< of the next byte
  std::size_t column_ = 1;  ///< of the next byte
  int utf8_pending_ = 0;    ///< continuation bytes still to come
  unsigned char utf8_lead_ = 0;
  std::size_t utf8_lead_column_ = 1;
  unsigned char utf8_low_ = 0x80;
  unsigned char utf8_high_ = 0xbf;

  std::vector<std::size_t>
      position_;                 ///< field of each known column; kAbsent if the header lacks it
  std::vector<double> factors_;  ///< of each known column
  std::vector<std::optional<ColumnExpression>> expressions_;  ///< of each known column that is one
  std::vector<std::size_t> in_expressions_;                   ///< fields that expressions name
  std::size_t width_ = 0;  ///< fields of the header; 0 while it is being read
  std::string record_;     ///< the fields, unquoted, one after the other
  std::vector<Field> fields_;
  std::size_t record_line_ = 0;
};

/// Whether the values of a column of percentages look like fractions: three or more, all at most 1 and not
/// all whole.
bool looks_like_fractions(std::span<const double> values);

/// Seconds to the nanosecond. `text` is a decimal number in [0, kMaxTimeSeconds], `value` the nearest double.
Duration exact_seconds(std::string_view text, double value);

/// Seconds with as many digits as the nanoseconds need; reading it back gives the same Duration.
std::string csv_seconds(Duration value);

}  // namespace corun::inline traces
