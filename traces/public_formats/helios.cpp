#include "traces/public_formats/helios.hpp"

#include <algorithm>
#include <filesystem>

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kHeliosColumns = {
    {"job_id", true},   {"vc", true}, {"gpu_num", true}, {"submit_time", true},
    {"duration", true}, {"cpu_num"},  {"node_num"}};
constexpr IntegerRule kHeliosCores{"a whole number of CPU cores", 0, 1'000'000};
constexpr IntegerRule kNodes{"a whole number of nodes", 0, 1'000'000};

Trace read_helios(CsvReader& csv, const std::string& source) {
  const auto job_id = csv.column("job_id");
  const auto vc = csv.column("vc");
  const auto gpu_num = csv.column("gpu_num");
  const auto cpu_num = csv.column("cpu_num");
  const auto node_num = csv.column("node_num");
  const auto submit_time = csv.column("submit_time");
  const auto duration = csv.column("duration");
  TraceBuilder builder(source);
  while (csv.next()) {
    TraceJob job;
    job.name = csv.required_text(job_id, "the name of a job");
    const auto submit = parse_date_time(csv.text(submit_time));
    if (!submit) csv.refuse(submit_time, "a time like 2020-06-09 18:41:01");
    job.spec.submit = *submit;
    job.spec.work = csv.required_seconds(duration, kRunTimeRule);
    job.spec.gpus = static_cast<int>(csv.integer(gpu_num, kGpusOrNoneRule).value_or(0));
    const std::int64_t nodes = std::max<std::int64_t>(1, csv.integer(node_num, kNodes).value_or(1));
    job.spec.request.cpu_milli = csv.integer(cpu_num, kHeliosCores).value_or(0) * 1000 / nodes;
    job.spec.virtual_cluster = builder.virtual_cluster(csv.text(vc));
    builder.add_or_skip(std::move(job), csv.line());
  }
  return builder.take_from_first_submit(csv.name() + ":1:1");
}

}  // namespace

Trace read_helios(const std::string& path) {
  CsvReader csv(path, kHeliosColumns, kAnyColumns);
  return read_helios(csv, std::filesystem::path(path).filename().string());
}

Trace read_helios(std::istream& in, const std::string& name) {
  CsvReader csv(in, name, kHeliosColumns, kAnyColumns);
  return read_helios(csv, name);
}

bool looks_like_helios(const TraceHead& head) {
  return has_columns(head, {"job_id", "vc", "gpu_num", "node_num", "submit_time", "duration"});
}

}  // namespace corun::inline traces
