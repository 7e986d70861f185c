#pragma once

#include <optional>

#include "traces/csv_reader.hpp"
#include "traces/trace_builder.hpp"

/// The columns of times in a log: when a job was submitted, and how long it ran alone.
namespace corun::inline traces {

/// Reads submit times. A column has one form in all rows: numbers of seconds; dates (parse_date()); or, for plain
/// columns, numbers of ms, us or ns since 1970, which are known by their size (from 1e11, 1e14 and 1e17).
class SubmitTimeColumn {
 public:
  /// Nothing if the time is absent or negative. InputError for a text of no form, for one of another form than the
  /// rows before, and for times above kMaxTimeSeconds.
  std::optional<Time> read(const CsvReader& csv, CsvReader::Column column);
  /// Whether they are dates: the first submission is then time 0.
  bool are_dates() const { return form_ == Form::kDates; }
  /// Tells the builder the unit and the zone that were assumed.
  void tell(const CsvReader& csv, CsvReader::Column column, TraceBuilder& builder) const;

 private:
  enum class Form : std::uint8_t {
    kNone,
    kSeconds,
    kMilliseconds,
    kMicroseconds,
    kNanoseconds,
    kDates
  };
  std::optional<CellValue> read_cell(std::string_view text, bool converts);
  Form form_ = Form::kNone;  ///< of the rows before
  Form found_ = Form::kNone;
  bool without_zone_ = false;
};

/// Reads run times: seconds, parse_duration()'s texts, or a difference of dates or of ms, us or ns since 1970.
class RunTimeColumn {
 public:
  enum class Found : std::uint8_t { kRunTime, kAbsent, kEndsBeforeStart };
  /// Sets `time` if a run time is found, 0 or more. InputError for a text of no form and for times above 9e7 s.
  Found read(const CsvReader& csv, CsvReader::Column column, Duration& time);
  void tell(const CsvReader& csv, CsvReader::Column column, TraceBuilder& builder) const;

 private:
  bool numbers_ = false;
};

}  // namespace corun::inline traces
