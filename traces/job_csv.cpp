#include "traces/job_csv.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/trace_builder.hpp"

namespace corun {
namespace {

const std::vector<CsvColumn> kJobColumns = {
    {"job", true},    {"submit_s", true}, {"solo_s", true},    {"gpus"},
    {"priority"},     {"gpu_util_pct"},   {"mem_alloc_pct"},   {"mem_time_pct"},
    {"mem_used_mib"}, {"cpu_milli"},      {"memory_mib"},      {"epoch_s"},
    {"workload"},     {"cluster"},        {"uncertainty"},     {"imputed"},
    {"gpu_milli"},    {"gpu_models"},     {"virtual_cluster"}, {"steps"},
    {"packing_label"}};

constexpr NumberRule kDistance{"a distance in percentage points", 0};
constexpr IntegerRule kCluster{"the number of a cluster", 0, 1'000'000};
constexpr IntegerRule kJobMilli{"thousandths of a GPU", 1, 1000};
constexpr IntegerRule kJobSteps{"a whole number of steps", 0, 1'000'000'000'000'000};

/// The bits of "V100M16|V100M32".
std::uint32_t model_bits(const CsvReader& csv, CsvReader::Column column, TraceBuilder& builder) {
  std::uint32_t bits = 0;
  std::string_view rest = csv.text(column);
  while (!rest.empty()) {
    const std::string_view model = rest.substr(0, rest.find('|'));
    const bool last = model.size() == rest.size();
    rest.remove_prefix(model.size() + (last ? 0 : 1));
    if (model.empty() || (!last && rest.empty())) {
      csv.refuse(column, "names of GPU models joined by '|'");
    }
    const auto bit = builder.gpu_model(model);
    if (!bit) csv.refuse(column, "at most 32 different GPU models in a trace");
    bits |= *bit;
  }
  return bits;
}

Trace read_job_csv(CsvReader& csv, const std::string& source, WorkloadKeys& keys) {
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

  const auto gpu_milli = csv.column("gpu_milli");
  const auto gpu_models = csv.column("gpu_models");
  const auto virtual_cluster = csv.column("virtual_cluster");
  const auto steps = csv.column("steps");
  const auto label = csv.column("packing_label");
  const bool has_virtual_clusters = csv.has(virtual_cluster);

  TraceBuilder builder(source);
  while (csv.next()) {
    TraceJob found;
    found.name = csv.required_text(job, "the name of a job");
    if (const auto line = builder.line_of(found.name)) {
      csv.refuse(job, "names that differ, and line " + std::to_string(*line) + " has this one",
                 "rename one of the two");
    }
    JobSpec& spec = found.spec;
    spec.submit = csv.required_seconds(submit, kSubmitRule);
    spec.work = csv.required_seconds(solo, kWorkRule);
    spec.gpus = static_cast<int>(csv.integer(gpus, kGpusRule).value_or(1));
    spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    spec.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    spec.profile.mem_alloc_pct = csv.number(mem_alloc, kReserved);
    spec.profile.mem_time_pct = csv.number(mem_time, kShare);
    spec.profile.mem_used_mib = csv.number(mem_used, kMib);
    spec.profile.imputed = csv.integer(imputed, kFlag).value_or(0) == 1;
    spec.request.cpu_milli = csv.integer(cpu, kRequestRule).value_or(0);
    spec.request.memory_mib = csv.integer(memory, kRequestRule).value_or(0);
    spec.epoch = csv.seconds(epoch, kWorkRule);
    spec.gpu_milli = static_cast<int>(csv.integer(gpu_milli, kJobMilli).value_or(1000));
    if (spec.gpu_milli < 1000 && spec.gpus > 1) {
      csv.refuse(gpu_milli, "1000 or nothing for a gang of several GPUs");
    }
    spec.gpu_models = model_bits(csv, gpu_models, builder);
    if (has_virtual_clusters) {
      spec.virtual_cluster = builder.virtual_cluster(csv.text(virtual_cluster));
    }
    spec.steps = csv.integer(steps, kJobSteps).value_or(0);
    if (const auto value = csv.integer(label, kPackingLabelRule)) {
      spec.profile.packing_label = static_cast<int>(*value);
    }
    found.key = keys.of(csv.text(workload));
    found.cluster = static_cast<int>(csv.integer(cluster, kCluster).value_or(kUnknownCluster));
    found.uncertainty = csv.number(uncertainty, kDistance).value_or(kUnknownUncertainty);
    builder.add(std::move(found), csv.line());
  }
  return builder.take(csv.name() + ":1:1");
}

}  // namespace

Trace read_job_csv(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kJobColumns);
  return read_job_csv(csv, std::filesystem::path(path).filename().string(), keys);
}

Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys) {
  CsvReader csv(in, name, kJobColumns);
  return read_job_csv(csv, name, keys);
}

bool looks_like_job_csv(const TraceHead& head) {
  return has_columns(head, {"job", "submit_s", "solo_s"});
}

namespace {

std::string model_names(const Trace& trace, std::uint32_t bits) {
  std::string names;
  for (std::size_t i = 0; i < trace.gpu_models.size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    names += (names.empty() ? "" : "|") + trace.gpu_models[i];
  }
  return names;
}

/// Which of the rare columns are written.
struct RareColumns {
  bool gpu_milli = false;
  bool gpu_models = false;
  bool virtual_cluster = false;
  bool steps = false;
  bool packing_label = false;

  bool writes(std::string_view column) const {
    if (column == "gpu_milli") return gpu_milli;
    if (column == "gpu_models") return gpu_models;
    if (column == "virtual_cluster") return virtual_cluster;
    if (column == "steps") return steps;
    if (column == "packing_label") return packing_label;
    return true;
  }
};

}  // namespace

void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys) {
  const auto& jobs = trace.workload.jobs;
  RareColumns rare;
  rare.gpu_milli = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.gpu_milli < 1000; });
  rare.gpu_models = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.gpu_models != 0; });
  rare.virtual_cluster = !trace.virtual_clusters.empty();
  rare.steps = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.steps != 0; });
  rare.packing_label = std::ranges::any_of(
      jobs, [](const JobSpec& j) { return j.profile.packing_label.has_value(); });
  std::string separator;
  for (const CsvColumn& column : kJobColumns) {
    if (rare.writes(column.name)) out << std::exchange(separator, ",") << column.name;
  }
  out << '\n';
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobSpec& job = jobs[i];
    const Profile& profile = job.profile;
    out << csv_text(trace.names[i]) << ',' << csv_seconds(job.submit) << ','
        << csv_seconds(job.work) << ',' << std::to_string(job.gpus) << ','
        << std::to_string(job.priority) << ',' << csv_number(profile.gpu_util_pct) << ','
        << csv_number(profile.mem_alloc_pct) << ',' << csv_number(profile.mem_time_pct) << ','
        << csv_number(profile.mem_used_mib) << ',' << std::to_string(job.request.cpu_milli) << ','
        << std::to_string(job.request.memory_mib) << ','
        << (job.epoch ? csv_seconds(*job.epoch) : std::string()) << ','
        << csv_text(keys.text(trace.keys[i])) << ','
        << (trace.clusters[i] == kUnknownCluster ? std::string()
                                                 : std::to_string(trace.clusters[i]))
        << ',' << csv_number(trace.uncertainties[i]) << ',' << (profile.imputed ? '1' : '0');
    if (rare.gpu_milli) {
      out << ',' << (job.gpu_milli < 1000 ? std::to_string(job.gpu_milli) : std::string());
    }
    if (rare.gpu_models) out << ',' << csv_text(model_names(trace, job.gpu_models));
    if (rare.virtual_cluster) out << ',' << csv_text(trace.virtual_clusters[job.virtual_cluster]);
    if (rare.steps) out << ',' << std::to_string(job.steps);
    if (rare.packing_label) {
      out << ','
          << (profile.packing_label ? std::to_string(*profile.packing_label) : std::string());
    }
    out << '\n';
  }
}

}  // namespace corun
