#include "traces/public_formats/helios.hpp"

#include <algorithm>
#include <filesystem>

#include "traces/logs/time_columns.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kHeliosColumns = {
    {"job_id", true},   {"vc", true}, {"gpu_num", true}, {"submit_time", true},
    {"duration", true}, {"cpu_num"},  {"node_num"},      {"state"}};
constexpr IntegerRule kHeliosCores{"a whole number of CPU cores", 0, 1'000'000};
constexpr IntegerRule kNodes{"a whole number of nodes", 0, 1'000'000};

Trace read_helios(CsvReader& csv, const std::string& source, const LogRules& rules) {
  const auto job_id = csv.column("job_id");
  const auto vc = csv.column("vc");
  const auto gpu_num = csv.column("gpu_num");
  const auto cpu_num = csv.column("cpu_num");
  const auto node_num = csv.column("node_num");
  const auto submit_time = csv.column("submit_time");
  const auto duration = csv.column("duration");
  const auto state = csv.column("state");
  TraceBuilder builder(source, rules);
  SubmitTimeColumn submit_times;
  RunTimeColumn run_times;
  for (std::size_t row = 1; csv.next(); ++row) {
    if (!builder.keeps_state(csv.text(state), csv.line())) continue;
    TraceJob job;
    job.name = name_or_row(csv.text(job_id), row);
    job.spec.gpus = static_cast<int>(csv.integer(gpu_num, kGpusOrNoneRule).value_or(0));
    run_times.read(csv, duration, job.spec.work);
    const auto submit = submit_times.read(csv, submit_time);
    if (!submit && job.spec.gpus > 0 && job.spec.work > Duration::zero()) {
      builder.skip_without_submit(csv.line());
      continue;
    }
    job.spec.submit = submit.value_or(Time{0});
    const std::int64_t nodes = std::max<std::int64_t>(1, csv.integer(node_num, kNodes).value_or(1));
    job.spec.request.cpu_milli = csv.integer(cpu_num, kHeliosCores).value_or(0) * 1000 / nodes;
    job.spec.virtual_cluster = builder.virtual_cluster(csv.text(vc));
    builder.add_or_skip(std::move(job), csv.line());
  }
  submit_times.tell(csv, submit_time, builder);
  return builder.take_from_first_submit(csv.name() + ":1:1");
}

}  // namespace

Trace read_helios(const std::string& path, const LogRules& rules) {
  CsvReader csv(path, kHeliosColumns, kLogColumns);
  return read_helios(csv, std::filesystem::path(path).filename().string(), rules);
}

Trace read_helios(std::istream& in, const std::string& name, const LogRules& rules) {
  CsvReader csv(in, name, kHeliosColumns, kLogColumns);
  return read_helios(csv, name, rules);
}

bool looks_like_helios(const TraceHead& head) {
  return has_columns(head, {"job_id", "vc", "gpu_num", "node_num", "submit_time", "duration"});
}

}  // namespace corun::inline traces
