#include "traces/job_csv.hpp"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun {
namespace {

const std::vector<CsvColumn> kColumns = {
    {"job", true},    {"submit_s", true}, {"solo_s", true},  {"gpus"},
    {"priority"},     {"gpu_util_pct"},   {"mem_alloc_pct"}, {"mem_time_pct"},
    {"mem_used_mib"}, {"cpu_milli"},      {"memory_mib"},    {"epoch_s"},
    {"workload"},     {"cluster"},        {"uncertainty"},   {"imputed"}};

constexpr NumberRule kTime{"a number of seconds", 0, kMaxTimeSeconds};
// Nearly three years; dozens of such jobs, one after the other, still end before kNever.
constexpr NumberRule kLength{"a number of seconds", 0, 9e7, true};
constexpr NumberRule kShare{"a percentage", 0, 100};
constexpr NumberRule kReserved{"a percentage", 0, 1000};
constexpr NumberRule kMib{"a number of MiB", 0, 1e12};
constexpr NumberRule kDistance{"a distance in percentage points", 0};
constexpr IntegerRule kGpus{"a whole number of GPUs", 1, 1'000'000};
constexpr IntegerRule kPriority{"a whole number", -1'000'000'000, 1'000'000'000};
constexpr IntegerRule kRequest{"a whole number", 0, 1'000'000'000'000};
constexpr IntegerRule kCluster{"the number of a cluster", 0, 1'000'000};
constexpr IntegerRule kFlag{"a flag", 0, 1};

Trace read(CsvReader& csv, const std::string& source, WorkloadKeys& keys) {
  const auto job = csv.column("job");
  const auto submit = csv.column("submit_s");
  const auto solo = csv.column("solo_s");
  const auto gpus = csv.column("gpus");
  const auto priority = csv.column("priority");
  const auto gpu_util = csv.column("gpu_util_pct");
  const auto mem_alloc = csv.column("mem_alloc_pct");
  const auto mem_time = csv.column("mem_time_pct");
  const auto mem_used = csv.column("mem_used_mib");
  const auto cpu = csv.column("cpu_milli");
  const auto memory = csv.column("memory_mib");
  const auto epoch = csv.column("epoch_s");
  const auto workload = csv.column("workload");
  const auto cluster = csv.column("cluster");
  const auto uncertainty = csv.column("uncertainty");
  const auto imputed = csv.column("imputed");

  Trace trace;
  trace.source = source;
  std::unordered_map<std::string, std::size_t> line_of;
  while (csv.next()) {
    std::string name(csv.required_text(job, "the name of a job"));
    const auto [first, is_new] = line_of.emplace(name, csv.line());
    if (!is_new) {
      csv.refuse(job,
                 "names that differ, and line " + std::to_string(first->second) + " has this one",
                 "rename one of the two");
    }
    if (trace.names.size() >= index(kNoJob)) {
      csv.fail(job, "more jobs than identifiers, expected fewer than 4294967295; split the file");
    }
    JobSpec spec;
    spec.submit = csv.required_seconds(submit, kTime);
    spec.work = csv.required_seconds(solo, kLength);
    spec.gpus = static_cast<int>(csv.integer(gpus, kGpus).value_or(1));
    spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    spec.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    spec.profile.mem_alloc_pct = csv.number(mem_alloc, kReserved);
    spec.profile.mem_time_pct = csv.number(mem_time, kShare);
    spec.profile.mem_used_mib = csv.number(mem_used, kMib);
    spec.profile.imputed = csv.integer(imputed, kFlag).value_or(0) == 1;
    spec.request.cpu_milli = csv.integer(cpu, kRequest).value_or(0);
    spec.request.memory_mib = csv.integer(memory, kRequest).value_or(0);
    spec.epoch = csv.seconds(epoch, kLength);
    const WorkloadKey key = keys.of(csv.text(workload));
    const int its_cluster =
        static_cast<int>(csv.integer(cluster, kCluster).value_or(kUnknownCluster));
    add_job(trace, spec, std::move(name), key, its_cluster,
            csv.number(uncertainty, kDistance).value_or(kUnknownUncertainty));
  }
  if (trace.names.empty()) {
    throw InputError(csv.name() + ":1:1",
                     "no rows after the header, expected one per job; add jobs");
  }
  order_arrivals(trace);
  return trace;
}

std::string optional_number(const std::optional<double>& value) {
  return value ? csv_number(*value) : std::string();
}

}  // namespace

Trace read_job_csv(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kColumns);
  return read(csv, std::filesystem::path(path).filename().string(), keys);
}

Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys) {
  CsvReader csv(in, name, kColumns);
  return read(csv, name, keys);
}

void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys) {
  for (std::size_t i = 0; i < kColumns.size(); ++i) out << (i > 0 ? "," : "") << kColumns[i].name;
  out << '\n';
  for (std::size_t i = 0; i < trace.workload.jobs.size(); ++i) {
    const JobSpec& job = trace.workload.jobs[i];
    const Profile& profile = job.profile;
    out << csv_text(trace.names[i]) << ',' << csv_seconds(job.submit) << ','
        << csv_seconds(job.work) << ',' << std::to_string(job.gpus) << ','
        << std::to_string(job.priority) << ',' << optional_number(profile.gpu_util_pct) << ','
        << optional_number(profile.mem_alloc_pct) << ',' << optional_number(profile.mem_time_pct)
        << ',' << optional_number(profile.mem_used_mib) << ','
        << std::to_string(job.request.cpu_milli) << ',' << std::to_string(job.request.memory_mib)
        << ',' << (job.epoch ? csv_seconds(*job.epoch) : std::string()) << ','
        << csv_text(keys.text(trace.keys[i])) << ','
        << (trace.clusters[i] == kUnknownCluster ? std::string()
                                                 : std::to_string(trace.clusters[i]))
        << ',' << csv_number(trace.uncertainties[i]) << ',' << (profile.imputed ? '1' : '0')
        << '\n';
  }
}

}  // namespace corun
