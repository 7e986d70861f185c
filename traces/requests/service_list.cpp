#include "traces/requests/service_list.hpp"

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kServiceColumns = {
    {"name", true}, {"times", true},    {"model", true}, {"end_s", true},  {"goal_ms", true},
    {"workload"},   {"gpu_type"},       {"slice"},       {"processes"},    {"start_s"},
    {"percentile"}, {"rate_per_s"},     {"requests"},    {"rate_factor"},  {"shape"},
    {"swing"},      {"spacing"},        {"batch"},       {"wait_ms"},      {"variation"},
    {"replicas"},   {"least_replicas"}, {"priority"},    {"gpu_util_pct"}, {"mem_used_mib"}};
constexpr NumberRule kServiceTime{"a number of seconds", 0, 1e9};
constexpr NumberRule kGoalMs{"a number of ms", 1e-3, 1e9};
constexpr NumberRule kServicePercentile{"a percentile", 1, 99.99};
constexpr NumberRule kServiceRate{"a number of requests per second", 0, 1e6};
constexpr NumberRule kRateFactor{"a factor", 1e-6, 1e6};
constexpr NumberRule kServiceSwing{"a number", 0, 1};
constexpr NumberRule kWaitMs{"a number of ms", 0, 1e9};
constexpr NumberRule kServicePercent{"a percentage", 0, 100};
constexpr NumberRule kServiceMemory{"a number of MiB", 0, 1e9};
constexpr IntegerRule kReplicas{"a number of replicas", 1, 10'000};
constexpr IntegerRule kServiceBatch{"a batch size", 1, 1'000'000};
constexpr IntegerRule kServiceProcesses{"a number of processes", 1, 1000};
constexpr IntegerRule kServicePriority{"a whole number", -1'000'000, 1'000'000};

/// The place of the word in the list; 0 for an empty field.
std::size_t service_word(const CsvReader& csv, CsvReader::Column column,
                         std::initializer_list<std::string_view> words) {
  const std::string_view found = csv.text(column);
  if (found.empty()) return 0;
  std::string expected;
  std::size_t i = 0;
  for (const std::string_view word : words) {
    if (word == found) return i;
    expected += (i == 0 ? "" : " or ") + std::string(word);
    ++i;
  }
  csv.refuse(column, expected);
}

std::vector<ServiceRow> read_service_rows(CsvReader& csv) {
  const auto column = [&](const char* name) { return csv.column(name); };
  const auto name = column("name");
  const auto times = column("times");
  const auto start = column("start_s");
  const auto end = column("end_s");
  const auto rate = column("rate_per_s");
  const auto requests = column("requests");
  const auto least = column("least_replicas");
  const auto whole = [&](const char* of, const IntegerRule& rule, int otherwise) {
    return static_cast<int>(csv.integer(column(of), rule).value_or(otherwise));
  };
  const auto number = [&](const char* of, const NumberRule& rule, double otherwise) {
    return csv.number(column(of), rule).value_or(otherwise);
  };
  std::vector<ServiceRow> rows;
  std::set<std::string> names;
  while (csv.next()) {
    ServiceRow row;
    row.name = csv.required_text(name, "the name of a service");
    row.times = csv.required_text(times, "a table of measured times");
    row.model = csv.required_text(column("model"), "a model of the table of times");
    row.workload = csv.text(column("workload"));
    row.gpu_type = csv.text(column("gpu_type"));
    row.slice = csv.text(column("slice"));
    row.processes = whole("processes", kServiceProcesses, 1);
    row.start = csv.seconds(start, kServiceTime).value_or(Duration{0});
    row.end = csv.required_seconds(end, kServiceTime);
    if (row.end <= row.start) csv.refuse(end, "a time after start_s");
    row.goal_s = csv.required_number(column("goal_ms"), kGoalMs) * 1e-3;
    row.percentile = number("percentile", kServicePercentile, 99);
    row.requests = csv.text(requests);
    const auto per_s = csv.number(rate, kServiceRate);
    if (per_s.has_value() != row.requests.empty()) {
      csv.fail(rate, "found both or neither of rate_per_s and requests, expected one: the load");
    }
    row.rate_per_s = per_s.value_or(0);
    row.rate_factor = number("rate_factor", kRateFactor, 1);
    row.shape = static_cast<LoadShape>(
        service_word(csv, column("shape"), {"constant", "diurnal", "bursts"}));
    row.swing = number("swing", kServiceSwing, 0.5);
    row.even = service_word(csv, column("spacing"), {"poisson", "even"}) == 1;
    row.exponential = service_word(csv, column("variation"), {"constant", "exponential"}) == 1;
    row.batch = whole("batch", kServiceBatch, 1);
    row.wait_s = number("wait_ms", kWaitMs, 0) * 1e-3;
    row.replicas = whole("replicas", kReplicas, 1);
    row.least_replicas = whole("least_replicas", kReplicas, 1);
    if (row.least_replicas > row.replicas) csv.refuse(least, "replicas at most");
    row.priority = whole("priority", kServicePriority, 0);
    row.gpu_util_pct = csv.number(column("gpu_util_pct"), kServicePercent);
    row.mem_used_mib = csv.number(column("mem_used_mib"), kServiceMemory);
    row.place = csv.place(name);
    row.times_place = csv.place(times);
    row.requests_place = csv.place(requests);
    if (!names.insert(row.name).second) csv.refuse(name, "a name that no other service has");
    rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    throw InputError(csv.name() + ":1:1",
                     "found no service, expected one or more rows; is the file complete?");
  }
  return rows;
}

}  // namespace

std::vector<ServiceRow> read_services(const std::string& path) {
  CsvReader csv(path, kServiceColumns);
  return read_service_rows(csv);
}

std::vector<ServiceRow> read_services(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kServiceColumns);
  return read_service_rows(csv);
}

}  // namespace corun::inline traces
