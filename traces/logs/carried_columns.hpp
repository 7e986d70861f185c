#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/trace.hpp"

/// Columns of a log that mean nothing to corun, such as `user`: each job keeps their texts, so that results can be
/// grouped by them (docs/results.md, /runs). They never reach a policy.
namespace corun::inline traces {

class CarriedColumns {
 public:
  static constexpr std::size_t kMost = 16;     ///< columns, the first of the file
  static constexpr std::size_t kLongest = 64;  ///< bytes of a text; the rest is cut
  static constexpr std::size_t kMostTexts =
      100'000;  ///< different ones; a column with more is dropped

  /// `names` must be in the header; those beyond kMost are left out.
  CarriedColumns(CsvReader& csv, const std::vector<std::string>& names);

  /// TraceJob::carried of the current row.
  std::vector<std::uint32_t> read(const CsvReader& csv);

  /// Trace::carried of all rows that were read; to be called once.
  std::vector<CarriedColumn> take();

 private:
  struct Source {
    CsvReader::Column column;
    CarriedColumn carried;
    std::unordered_map<std::string, std::uint32_t> known;  ///< place in carried.texts
    bool dropped = false;
  };
  std::vector<Source> sources_;
};

}  // namespace corun::inline traces
