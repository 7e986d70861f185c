#include "traces/public_formats/muri.hpp"

#include <filesystem>

#include "traces/column_rules.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kMuriColumns = {
    {"job_id", true}, {"num_gpu", true}, {"submit_time", true}, {"duration", true},
    {"iterations"},   {"model_name"},    {"batch_size"},        {"priority"}};
constexpr std::int64_t kNanosecondsPerMs = 1'000'000;
constexpr IntegerRule kMuriSubmit{"a whole number of milliseconds", 0,
                                  static_cast<std::int64_t>(kMaxTimeSeconds) * 1000};
constexpr IntegerRule kMuriLength{"a whole number of milliseconds", 0, 90'000'000'000};
constexpr IntegerRule kMuriSteps{"a whole number of iterations", 0, 1'000'000'000'000'000};
constexpr IntegerRule kMuriBatch{"a batch size", 0, 1'000'000'000};

Trace read_muri(CsvReader& csv, const std::string& source, WorkloadKeys& keys) {
  const auto job_id = csv.column("job_id");
  const auto num_gpu = csv.column("num_gpu");
  const auto submit_time = csv.column("submit_time");
  const auto duration = csv.column("duration");
  const auto iterations = csv.column("iterations");
  const auto model_name = csv.column("model_name");
  const auto batch_size = csv.column("batch_size");
  const auto priority = csv.column("priority");
  const auto required = [&](CsvReader::Column column, const IntegerRule& rule) {
    const auto value = csv.integer(column, rule);
    if (!value) csv.refuse(column, std::string(rule.what));
    return *value;
  };
  TraceBuilder builder(source);
  while (csv.next()) {
    TraceJob job;
    job.name = csv.required_text(job_id, "the name of a job");
    job.spec.submit = Time{required(submit_time, kMuriSubmit) * kNanosecondsPerMs};
    job.spec.work = Duration{required(duration, kMuriLength) * kNanosecondsPerMs};
    job.spec.gpus = static_cast<int>(required(num_gpu, kGpusOrNoneRule));
    job.spec.steps = csv.integer(iterations, kMuriSteps).value_or(0);
    job.spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    std::string workload(csv.text(model_name));
    if (const auto batch = csv.integer(batch_size, kMuriBatch); batch && !workload.empty()) {
      workload += "/bs=" + std::to_string(*batch);
    }
    job.key = keys.of(workload);
    builder.add_or_skip(std::move(job), csv.line());
  }
  return builder.take(csv.name() + ":1:1");
}

}  // namespace

Trace read_muri(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kMuriColumns, kAnyColumns);
  return read_muri(csv, std::filesystem::path(path).filename().string(), keys);
}

Trace read_muri(std::istream& in, const std::string& name, WorkloadKeys& keys) {
  CsvReader csv(in, name, kMuriColumns, kAnyColumns);
  return read_muri(csv, name, keys);
}

bool looks_like_muri(const TraceHead& head) {
  return has_columns(head, {"job_id", "num_gpu", "submit_time", "duration", "iterations"});
}

}  // namespace corun::inline traces
