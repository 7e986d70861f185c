#include "traces/logs/time_columns.hpp"

#include <array>
#include <cmath>

#include "sim/base/text.hpp"
#include "traces/logs/cells.hpp"

namespace corun::inline traces {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// Units of times since 1970 other than seconds: a number of seconds is below 4e9.
struct EpochUnit {
  double least;
  std::int64_t ns;
  std::string_view name;
};
constexpr std::array<EpochUnit, 3> kEpochUnits = {
    {{1e17, 1, "nanoseconds"}, {1e14, 1'000, "microseconds"}, {1e11, 1'000'000, "milliseconds"}}};

/// The unit of a number that is too large for seconds; nullptr for seconds.
const EpochUnit* epoch_unit(double number) {
  for (const EpochUnit& unit : kEpochUnits) {
    if (number >= unit.least) return &unit;
  }
  return nullptr;
}

/// A number of seconds or, with a unit, of this unit; to the nanosecond.
std::optional<CellValue> time_of_number(std::string_view text, double number,
                                        const EpochUnit* unit) {
  if (unit == nullptr) {
    CellValue value{number};
    if (number >= 0 && number <= kMaxTimeSeconds) value.ns = exact_seconds(text, number).count();
    return value;
  }
  const double seconds = number * static_cast<double>(unit->ns) / kNsPerSecond;
  if (seconds > kMaxTimeSeconds) return std::nullopt;
  CellValue value{seconds, std::llround(number * static_cast<double>(unit->ns)), true};
  if (const auto whole = parse_integer(text)) value.ns = *whole * unit->ns;
  return value;
}

std::string name_of(const CsvReader& csv, CsvReader::Column column) {
  return printable(csv.theirs(column));
}

Time time_of(const CellValue& value) {
  return value.ns ? Time{*value.ns} : from_seconds(value.number);
}

}  // namespace

std::optional<CellValue> SubmitTimeColumn::read_cell(std::string_view text, bool converts) {
  if (const auto date = parse_date(text)) {
    found_ = Form::kDates;
    without_zone_ |= !date->has_zone;
    return CellValue{to_seconds(date->time), date->time.count(), true};
  }
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  const EpochUnit* unit = converts ? nullptr : epoch_unit(*number);
  found_ = unit == nullptr     ? Form::kSeconds
           : unit->ns == 1     ? Form::kNanoseconds
           : unit->ns == 1'000 ? Form::kMicroseconds
                               : Form::kMilliseconds;
  return time_of_number(text, *number, unit);
}

std::optional<Time> SubmitTimeColumn::read(const CsvReader& csv, CsvReader::Column column) {
  constexpr std::string_view kExpected =
      "a number of seconds or a date such as 2020-06-09 18:41:01";
  const bool converts = csv.converts(column);
  const auto value = csv.value(
      column, [&](std::string_view text) { return read_cell(text, converts); },
      std::string(kExpected));
  if (!value || value->number < 0) return std::nullopt;
  if (value->number > kMaxTimeSeconds) {
    csv.refuse(column, "a number of seconds, from 0 to 4000000000");
  }
  if (form_ == Form::kNone) form_ = found_;
  if (found_ != form_) {
    csv.refuse(column, form_ == Form::kDates
                           ? "a date such as 2020-06-09 18:41:01, as in the rows before"
                           : "a number in the unit of the rows before");
  }
  return time_of(*value);
}

void SubmitTimeColumn::tell(const CsvReader& csv, CsvReader::Column column,
                            TraceBuilder& builder) const {
  if (without_zone_) builder.assume("dates without a zone are taken as UTC");
  if (csv.converts(column) || form_ == Form::kNone || form_ == Form::kDates) return;
  const std::string_view unit = form_ == Form::kSeconds        ? "seconds"
                                : form_ == Form::kMilliseconds ? "milliseconds since 1970"
                                : form_ == Form::kMicroseconds ? "microseconds since 1970"
                                                               : "nanoseconds since 1970";
  builder.assume("numbers in " + name_of(csv, column) + " (submit_s) are taken as " +
                 std::string(unit));
}

RunTimeColumn::Found RunTimeColumn::read(const CsvReader& csv, CsvReader::Column column,
                                         Duration& time) {
  const bool converts = csv.converts(column);
  const bool plain = csv.is_plain(column);
  const auto read_cell = [&](std::string_view text) -> std::optional<CellValue> {
    if (const auto number = parse_number(text)) {
      numbers_ = true;
      return time_of_number(text, *number, plain || converts ? nullptr : epoch_unit(*number));
    }
    if (const auto length = parse_duration(text)) {
      return CellValue{to_seconds(*length), length->count()};
    }
    if (plain) return std::nullopt;
    const auto date = parse_date(text);
    if (!date) return std::nullopt;
    return CellValue{to_seconds(date->time), date->time.count(), true};
  };
  constexpr std::string_view kExpected = "a number of seconds, or a time such as 1-02:03:04";
  const auto value = csv.value(column, read_cell, std::string(kExpected));
  if (!value) return Found::kAbsent;
  if (value->is_date) csv.refuse(column, "a length of time, such as a difference of two dates");
  if (value->number < 0) return plain ? Found::kAbsent : Found::kEndsBeforeStart;
  if (value->number > kRunTimeRule.max) {
    csv.refuse(column, "a number of seconds, from 0 to 90000000");
  }
  time = time_of(*value);
  return Found::kRunTime;
}

void RunTimeColumn::tell(const CsvReader& csv, CsvReader::Column column,
                         TraceBuilder& builder) const {
  if (!numbers_ || csv.converts(column) || !csv.is_plain(column)) return;
  builder.assume("numbers in " + name_of(csv, column) + " (solo_s) are taken as seconds");
}

}  // namespace corun::inline traces
