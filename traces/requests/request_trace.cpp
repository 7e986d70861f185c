#include "traces/requests/request_trace.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/logs/time_columns.hpp"
#include "traces/trace_builder.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kRequestColumns = {{"arrival_s"}, {"TIMESTAMP"}};
constexpr std::size_t kMostRequests = std::size_t{1} << 31;

RequestTrace read_requests(CsvReader& csv, std::string source) {
  const auto seconds = csv.column("arrival_s");
  const auto date = csv.column("TIMESTAMP");
  if (csv.has(seconds) == csv.has(date)) {
    throw InputError(
        csv.name() + ":1:1",
        "found a header with " +
            std::string(csv.has(date) ? "both arrival_s and TIMESTAMP"
                                      : "neither arrival_s nor TIMESTAMP") +
            ", expected one of them, the time of each request; is this a request trace?");
  }
  const auto column = csv.has(seconds) ? seconds : date;
  RequestTrace trace;
  trace.source = std::move(source);
  SubmitTimeColumn dates;
  while (csv.next()) {
    Time arrival{0};
    if (column == seconds) {
      arrival = csv.required_seconds(seconds, {"a number of seconds", 0});
    } else {
      const std::optional<Time> read = dates.read(csv, date);
      if (!read) csv.refuse(date, "a date such as 2023-11-16 18:17:03.97");
      arrival = *read;
    }
    if (!trace.arrivals.empty() && arrival < trace.arrivals.back()) {
      csv.refuse(column, "a time not before that of the request above it", "sort the file by time");
    }
    if (trace.arrivals.size() == kMostRequests) csv.fail(column, "more than 2^31 requests; cut it");
    trace.arrivals.push_back(arrival);
  }
  if (trace.arrivals.empty()) {
    throw InputError(
        csv.name() + ":1:1",
        "found no request below the header, expected one or more; is the file complete?");
  }
  if (column == date) {
    const Time first = trace.arrivals.front();
    for (Time& arrival : trace.arrivals) arrival -= first;
  }
  return trace;
}

}  // namespace

RequestTrace read_request_trace(const std::string& path) {
  CsvReader csv(path, kRequestColumns, kLogColumns);
  return read_requests(csv, std::filesystem::path(path).filename().string());
}

RequestTrace read_request_trace(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kRequestColumns, kLogColumns);
  return read_requests(csv, name);
}

}  // namespace corun::inline traces
