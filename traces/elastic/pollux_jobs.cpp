#include "traces/elastic/pollux_jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"

namespace corun::inline traces {

namespace {

const std::vector<CsvColumn> kPolluxColumns = {
    {"name"},  {"job"},          {"time"},       {"arrival_s"},  {"application"},
    {"model"}, {"num_replicas"}, {"tuned_gpus"}, {"batch_size"}, {"tuned_batch_size"},
    {"set"},   {"workload"}};

constexpr IntegerRule kTunedBatch{"a whole batch size", 1, 1'000'000'000};

/// The column of this name, else the one of the other name.
CsvReader::Column either_column(const CsvReader& csv, const char* pollux, const char* sia) {
  const auto first = csv.column(pollux);
  if (csv.has(first)) return first;
  const auto second = csv.column(sia);
  if (csv.has(second)) return second;
  throw InputError(csv.name() + ":1:1", std::string("found neither column ") + pollux + " nor " +
                                            sia + ", expected one of the two; add it");
}

std::string parts_text(const std::set<std::string>& parts) {
  constexpr std::size_t kNamed = 6;
  std::string text;
  std::size_t count = 0;
  for (const std::string& part : parts) {
    if (count++ == kNamed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + part;
  }
  return printable(text, 200);
}

Trace read_pollux(CsvReader& csv, const std::string& source, const std::optional<std::string>& part,
                  WorkloadKeys& keys, const LogRules& rules) {
  const auto name = either_column(csv, "name", "job");
  const auto submit = either_column(csv, "time", "arrival_s");
  const auto model = either_column(csv, "application", "model");
  const auto gpus = either_column(csv, "num_replicas", "tuned_gpus");
  const auto batch = either_column(csv, "batch_size", "tuned_batch_size");
  const auto set = csv.column("set");
  const auto list = csv.column("workload");
  const bool in_parts = csv.has(set) && csv.has(list);
  TraceBuilder builder(source, rules);
  std::set<std::string> parts;
  while (csv.next()) {
    if (in_parts) {
      std::string own(csv.required_text(set, "the name of a set"));
      own += "/" + std::string(csv.required_text(list, "the number of a workload"));
      const bool taken = part == own;
      parts.insert(std::move(own));
      if (part && !taken) continue;
      if (!part && parts.size() > 1) break;
    }
    TraceJob job;
    job.name = csv.required_text(name, "the name of a job");
    if (builder.line_of(job.name)) csv.refuse(name, "names that differ", "rename one of the two");
    job.spec.submit = csv.required_seconds(submit, kSubmitRule);
    job.key = keys.of(csv.required_text(model, "the name of a program"));
    const auto count = csv.integer(gpus, kGpusRule);
    if (!count) csv.refuse(gpus, "a whole number of GPUs");
    job.spec.gpus = static_cast<int>(*count);
    const auto size = csv.integer(batch, kTunedBatch);
    if (!size || *size < *count)
      csv.refuse(batch, "a whole batch size, a sample for each GPU at least");
    job.batch_size = *size;
    builder.add(std::move(job), csv.line());
  }
  if (!part && parts.size() > 1) {
    throw InputError(csv.name() + ":1:1",
                     "the file has several workloads (" + parts_text(parts) +
                         ", ...), expected one; set workload.part to SET/WORKLOAD");
  }
  if (part && !in_parts) {
    // So a configuration with a part reads a file of one workload when that is set in place of its own.
    builder.assume(
        "the file has no columns set and workload: it is one workload, and workload.part "
        "is not read");
  }
  if (part && in_parts && !parts.contains(*part)) {
    throw InputError(csv.name() + ":1:1", "no part '" + printable(*part) + "', expected one of " +
                                              parts_text(parts) + "; correct workload.part");
  }
  builder.assume("run times follow from the measurements of the jobs' programs");
  return builder.take(csv.name() + ":1:1");
}

}  // namespace

Trace read_pollux_jobs(const std::string& path, const std::optional<std::string>& part,
                       WorkloadKeys& keys, const LogRules& rules) {
  CsvReader csv(path, kPolluxColumns, kAnyColumns);
  return read_pollux(csv, std::filesystem::path(path).filename().string(), part, keys, rules);
}

Trace read_pollux_jobs(std::istream& in, const std::string& name,
                       const std::optional<std::string>& part, WorkloadKeys& keys,
                       const LogRules& rules) {
  CsvReader csv(in, name, kPolluxColumns, kAnyColumns);
  return read_pollux(csv, name, part, keys, rules);
}

}  // namespace corun::inline traces
