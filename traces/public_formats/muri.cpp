#include "traces/public_formats/muri.hpp"

#include <algorithm>
#include <filesystem>

#include "traces/column_rules.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kMuriColumns = {
    {"job_id", true}, {"num_gpu", true}, {"submit_time", true}, {"duration", true}, {"iterations"},
    {"model_name"},   {"batch_size"},    {"priority"},          {"state"}};
constexpr std::int64_t kNanosecondsPerMs = 1'000'000;
constexpr IntegerRule kMuriSubmit{"a whole number of milliseconds", -1,
                                  static_cast<std::int64_t>(kMaxTimeSeconds) * 1000};
constexpr IntegerRule kMuriLength{"a whole number of milliseconds", -1, 90'000'000'000};
constexpr IntegerRule kMuriSteps{"a whole number of iterations", 0, 1'000'000'000'000'000};
constexpr IntegerRule kMuriBatch{"a batch size", 0, 1'000'000'000};

Trace read_muri(CsvReader& csv, const std::string& source, WorkloadKeys& keys,
                const LogRules& rules) {
  const auto job_id = csv.column("job_id");
  const auto num_gpu = csv.column("num_gpu");
  const auto submit_time = csv.column("submit_time");
  const auto duration = csv.column("duration");
  const auto iterations = csv.column("iterations");
  const auto model_name = csv.column("model_name");
  const auto batch_size = csv.column("batch_size");
  const auto priority = csv.column("priority");
  const auto state = csv.column("state");
  TraceBuilder builder(source, rules);
  for (std::size_t row = 1; csv.next(); ++row) {
    if (!builder.keeps_state(csv.text(state), csv.line())) continue;
    TraceJob job;
    job.name = name_or_row(csv.text(job_id), row);
    const std::int64_t submit_ms = csv.integer(submit_time, kMuriSubmit).value_or(-1);
    const std::int64_t length_ms = csv.integer(duration, kMuriLength).value_or(-1);
    job.spec.work = Duration{std::max<std::int64_t>(0, length_ms) * kNanosecondsPerMs};
    job.spec.gpus = static_cast<int>(csv.integer(num_gpu, kGpusOrNoneRule).value_or(0));
    if (submit_ms < 0 && job.spec.gpus > 0 && length_ms > 0) {
      builder.skip_without_submit(csv.line());
      continue;
    }
    job.spec.submit = Time{std::max<std::int64_t>(0, submit_ms) * kNanosecondsPerMs};
    job.spec.steps = csv.integer(iterations, kMuriSteps).value_or(0);
    job.spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    std::string workload(csv.text(model_name));
    if (const auto batch = csv.integer(batch_size, kMuriBatch); batch && !workload.empty()) {
      workload += "/bs=" + std::to_string(*batch);
    }
    job.key = keys.of(workload);
    builder.add_or_skip(std::move(job), csv.line());
  }
  builder.assume("submit_time and duration are milliseconds, as Muri writes them");
  return builder.take(csv.name() + ":1:1");
}

}  // namespace

Trace read_muri(const std::string& path, WorkloadKeys& keys, const LogRules& rules) {
  CsvReader csv(path, kMuriColumns, kLogColumns);
  return read_muri(csv, std::filesystem::path(path).filename().string(), keys, rules);
}

Trace read_muri(std::istream& in, const std::string& name, WorkloadKeys& keys,
                const LogRules& rules) {
  CsvReader csv(in, name, kMuriColumns, kLogColumns);
  return read_muri(csv, name, keys, rules);
}

bool looks_like_muri(const TraceHead& head) {
  return has_columns(head,
                     {"job_id", "num_gpu", "submit_time", "duration", "iterations", "batch_size"});
}

}  // namespace corun::inline traces
