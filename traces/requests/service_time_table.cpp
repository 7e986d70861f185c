#include "traces/requests/service_time_table.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kServiceTimeColumns = {{"model", true},
                                                    {"batch_size", true},
                                                    {"latency_ms", true},
                                                    {"gpu_type"},
                                                    {"slice"},
                                                    {"mig_profile"},
                                                    {"mig_slices"},
                                                    {"processes"},
                                                    {"phase"},
                                                    {"sequence_tokens"},
                                                    {"latency_sd_ms"},
                                                    {"samples_per_s"},
                                                    {"requests_per_s_per_process"}};
constexpr IntegerRule kRequestBatch{"a batch size", 1, 1'000'000};
constexpr IntegerRule kProcesses{"a number of processes", 1, 1000};
constexpr IntegerRule kTokens{"a number of tokens", 1, 1'000'000'000};
constexpr IntegerRule kMigSlices{"a number of slices", 1, 100};
constexpr NumberRule kLatencyMs{"a number of ms", 1e-6, 1e9};
constexpr NumberRule kRequestRate{"a number of requests per second", 0, 1e9, true};

std::vector<MeasuredServiceTime> read_times(CsvReader& csv) {
  const auto model = csv.column("model");
  const auto batch = csv.column("batch_size");
  const auto latency = csv.column("latency_ms");
  const auto gpu = csv.column("gpu_type");
  const auto slice = csv.column("slice");
  const auto profile = csv.column("mig_profile");
  const auto slices = csv.column("mig_slices");
  const auto processes = csv.column("processes");
  const auto phase = csv.column("phase");
  const auto tokens = csv.column("sequence_tokens");
  const auto rate = csv.column("requests_per_s_per_process");
  std::vector<MeasuredServiceTime> table;
  using Key = std::tuple<std::string, std::string, std::string, int, int, int>;
  std::set<Key> seen;
  while (csv.next()) {
    const std::string_view of_phase = csv.text(phase);
    if (!of_phase.empty() && of_phase != "inference") continue;
    MeasuredServiceTime row;
    row.model = csv.required_text(model, "the name of a model");
    row.gpu_type = csv.text(gpu);
    row.slice = csv.has(slice) ? csv.text(slice) : csv.text(profile);
    const auto count = csv.integer(slices, kMigSlices);
    if (row.slice.empty() && count) row.slice = std::to_string(*count) + "g";
    row.processes = static_cast<int>(csv.integer(processes, kProcesses).value_or(1));
    row.sequence_tokens = static_cast<int>(csv.integer(tokens, kTokens).value_or(0));
    const auto size = csv.integer(batch, kRequestBatch);
    if (!size) csv.refuse(batch, "a batch size");
    row.batch = static_cast<int>(*size);
    row.mean_s = csv.required_number(latency, kLatencyMs) * 1e-3;
    if (const auto per_s = csv.number(rate, kRequestRate)) row.mean_s = row.batch / *per_s;
    row.place = csv.place(model);
    if (!seen.insert({row.model, row.gpu_type, row.slice, row.processes, row.sequence_tokens,
                      row.batch})
             .second) {
      csv.fail(model, "a second row of the same measurement, expected one; remove one");
    }
    table.push_back(std::move(row));
  }
  if (table.empty()) {
    throw InputError(csv.name() + ":1:1",
                     "found no measured time, expected one or more rows; is the file complete?");
  }
  return table;
}

/// The different values of a member, for messages.
template <typename Value>
std::string values_of(const std::vector<const MeasuredServiceTime*>& rows,
                      Value MeasuredServiceTime::*member) {
  std::set<Value> values;
  for (const MeasuredServiceTime* row : rows) values.insert(row->*member);
  std::string text;
  for (const Value& value : values) {
    if constexpr (std::is_same_v<Value, std::string>) {
      text += (text.empty() ? "" : ", ") + (value.empty() ? "none" : printable(value));
    } else {
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    }
  }
  return text;
}

}  // namespace

std::vector<MeasuredServiceTime> read_service_times(const std::string& path) {
  CsvReader csv(path, kServiceTimeColumns);
  return read_times(csv);
}

std::vector<MeasuredServiceTime> read_service_times(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kServiceTimeColumns);
  return read_times(csv);
}

std::vector<MeasuredServiceTime> chosen_times(const std::vector<MeasuredServiceTime>& table,
                                              const ServiceTimeChoice& choice) {
  std::vector<const MeasuredServiceTime*> left;
  for (const MeasuredServiceTime& row : table) left.push_back(&row);
  const auto narrow = [&](auto member, const auto& wanted, bool any, const char* what) {
    if (any) return;
    const std::string known = values_of(left, member);
    std::erase_if(left, [&](const MeasuredServiceTime* row) { return row->*member != wanted; });
    if (!left.empty()) return;
    std::string found;
    if constexpr (std::is_same_v<std::decay_t<decltype(wanted)>, std::string>) {
      found = printable(wanted);
    } else {
      found = std::to_string(wanted);
    }
    throw InputError(std::string(what) + " of a service",
                     "found '" + found + "', expected one that was measured: " + known);
  };
  narrow(&MeasuredServiceTime::model, choice.model, choice.model.empty(), "model");
  narrow(&MeasuredServiceTime::gpu_type, choice.gpu_type, choice.gpu_type.empty(), "GPU type");
  narrow(&MeasuredServiceTime::slice, choice.slice, choice.slice.empty(), "slice");
  narrow(&MeasuredServiceTime::processes, choice.processes, false, "number of processes");
  narrow(&MeasuredServiceTime::sequence_tokens, choice.sequence_tokens, choice.sequence_tokens == 0,
         "sequence length");
  std::ranges::stable_sort(left, {}, &MeasuredServiceTime::batch);
  std::vector<MeasuredServiceTime> rows;
  for (const MeasuredServiceTime* row : left) {
    if (!rows.empty() && rows.back().batch == row->batch) {
      throw InputError(row->place,
                       "batch size " + std::to_string(row->batch) +
                           " was measured more than once (" + rows.back().place +
                           "); choose one model (" + values_of(left, &MeasuredServiceTime::model) +
                           "), GPU type (" + values_of(left, &MeasuredServiceTime::gpu_type) +
                           "), slice (" + values_of(left, &MeasuredServiceTime::slice) +
                           ") and sequence length (" +
                           values_of(left, &MeasuredServiceTime::sequence_tokens) + ")");
    }
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace corun::inline traces
