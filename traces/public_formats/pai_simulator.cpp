#include "traces/public_formats/pai_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "traces/logs/time_columns.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kPaiColumns = {
    {"job_id", true}, {"submit_time", true}, {"duration", true}, {"num_gpu", true},
    {"num_inst"},     {"num_cpu"},           {"gpu_type"},       {"state"}};
constexpr NumberRule kPaiGpus{"a number of GPUs", 0, 1e5};
constexpr NumberRule kPaiInstances{"a number of instances", 0, 1e5};
constexpr NumberRule kPaiCores{"a number of CPU cores", 0, 1e6};
constexpr double kMostPaiGpus = 1e6;

Trace read_pai_simulator(CsvReader& csv, const std::string& source, const LogRules& rules) {
  const auto job_id = csv.column("job_id");
  const auto submit_time = csv.column("submit_time");
  const auto duration = csv.column("duration");
  const auto num_gpu = csv.column("num_gpu");
  const auto num_inst = csv.column("num_inst");
  const auto num_cpu = csv.column("num_cpu");
  const auto gpu_type = csv.column("gpu_type");
  const auto state = csv.column("state");
  TraceBuilder builder(source, rules);
  RunTimeColumn run_times;
  SubmitTimeColumn submit_times;
  for (std::size_t row = 1; csv.next(); ++row) {
    if (!builder.keeps_state(csv.text(state), csv.line())) continue;
    TraceJob job;
    job.name = name_or_row(csv.text(job_id), row);
    const auto submit = submit_times.read(csv, submit_time);
    if (run_times.read(csv, duration, job.spec.work) == RunTimeColumn::Found::kRunTime) {
      constexpr Duration kShortest = std::chrono::seconds{1};
      job.spec.work = std::max(kShortest, job.spec.work);
    }
    const auto instances = csv.number(num_inst, kPaiInstances);
    const double gpus =
        csv.number(num_gpu, kPaiGpus).value_or(0) * instances.value_or(csv.has(num_inst) ? 0 : 1);
    if (gpus > kMostPaiGpus) csv.refuse(num_inst, "at most 1000000 GPUs in all");
    job.spec.gpus = 0;
    if (gpus > 0) ask_for_gpus(job.spec, std::llround(gpus * 1000));
    job.spec.request.cpu_milli = std::llround(csv.number(num_cpu, kPaiCores).value_or(0) * 1000);
    const std::string_view type = csv.text(gpu_type);
    if (job.spec.gpus > 0 && !type.empty() && type != "MISC" && type != "CPU") {
      const auto bit = builder.gpu_model(type);
      if (!bit) csv.refuse(gpu_type, "at most 32 different GPU models in a trace");
      job.spec.gpu_models = *bit;
    }
    if (!submit && job.spec.gpus > 0 && job.spec.work > Duration::zero()) {
      builder.skip_without_submit(csv.line());
      continue;
    }
    job.spec.submit = submit.value_or(Time{0});
    builder.add_or_skip(std::move(job), csv.line());
  }
  return builder.take(csv.name() + ":1:1");
}

}  // namespace

Trace read_pai_simulator(const std::string& path, const LogRules& rules) {
  CsvReader csv(path, kPaiColumns, kLogColumns);
  return read_pai_simulator(csv, std::filesystem::path(path).filename().string(), rules);
}

Trace read_pai_simulator(std::istream& in, const std::string& name, const LogRules& rules) {
  CsvReader csv(in, name, kPaiColumns, kLogColumns);
  return read_pai_simulator(csv, name, rules);
}

bool looks_like_pai_simulator(const TraceHead& head) {
  return has_columns(head, {"job_id", "num_gpu", "submit_time", "duration", "num_inst"});
}

}  // namespace corun::inline traces
