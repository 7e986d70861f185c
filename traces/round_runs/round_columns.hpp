#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "traces/csv_reader.hpp"

/// Fields that the files of a study in rounds share.
namespace corun::inline traces {

inline constexpr std::int64_t kMostRoundJobs = 1'000'000;
inline constexpr IntegerRule kRoundJobNumber{"the number of a job", 0, kMostRoundJobs - 1};
inline constexpr IntegerRule kGlobalBatch{"a batch size", 1, 1'000'000'000};

inline std::int64_t required_integer(const CsvReader& csv, CsvReader::Column column,
                                     const IntegerRule& rule) {
  const auto value = csv.integer(column, rule);
  if (!value) csv.refuse(column, std::string(rule.what));
  return *value;
}

/// A number below `jobs`, those of trace.csv.
inline std::size_t required_job(const CsvReader& csv, CsvReader::Column column, std::size_t jobs) {
  const std::int64_t number = required_integer(csv, column, kRoundJobNumber);
  if (number >= static_cast<std::int64_t>(jobs)) {
    csv.refuse(column, "a job of trace.csv, 0 to " + std::to_string(jobs - 1));
  }
  return static_cast<std::size_t>(number);
}

}  // namespace corun::inline traces
