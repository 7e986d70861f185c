#include "traces/public_formats/lucid_jobs.hpp"

#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kLucidJobColumns = {{"job_id", true},
                                                 {"vc"},
                                                 {"gpu_num", true},
                                                 {"submit_time", true},
                                                 {"duration", true},
                                                 {"model"},
                                                 {"dataset"},
                                                 {"batchsize"},
                                                 {"amp"},
                                                 {"gpu_util"},
                                                 {"gmem_util"},
                                                 {"gmem"}};

const std::vector<CsvColumn> kLabelColumns = {{"job", true}, {"label", true}};

constexpr NumberRule kTime{"a number of seconds", 0, kMaxTimeSeconds};
constexpr NumberRule kLucidJobLength{"a number of seconds", 0, 9e7};
constexpr IntegerRule kLucidJobGpus{"a whole number of GPUs", 0, 1'000'000};

using Labels = std::unordered_map<std::string, int>;

Labels read_labels(const std::string& path) {
  CsvReader csv(path, kLabelColumns, kAnyColumns);
  const auto job = csv.column("job");
  const auto label = csv.column("label");
  Labels labels;
  while (csv.next()) {
    std::string name(csv.required_text(job, "the name of a workload"));
    const auto value = csv.integer(label, kPackingLabelRule);
    if (!value) csv.refuse(label, "a label, 0 to 2");
    if (!labels.emplace(std::move(name), static_cast<int>(*value)).second) {
      csv.refuse(job, "workloads that differ");
    }
  }
  return labels;
}

Trace read_lucid_jobs(CsvReader& csv, const std::string& source, const Labels& labels,
                      WorkloadKeys& keys) {
  const auto job = csv.column("job_id");
  const auto vc = csv.column("vc");
  const auto gpus = csv.column("gpu_num");
  const auto submit = csv.column("submit_time");
  const auto duration = csv.column("duration");
  const std::array workload{csv.column("model"), csv.column("dataset"), csv.column("batchsize"),
                            csv.column("amp")};
  const auto gpu_util = csv.column("gpu_util");
  const auto mem_time = csv.column("gmem_util");
  const auto mem_used = csv.column("gmem");

  Trace trace;
  trace.source = source;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, std::uint32_t> virtual_clusters;
  std::size_t without_gpus = 0;
  std::size_t without_duration = 0;
  while (csv.next()) {
    std::string name(csv.required_text(job, "the name of a job"));
    if (!names.insert(name).second) csv.refuse(job, "names that differ", "rename one of the two");
    JobSpec spec;
    spec.submit = csv.required_seconds(submit, kTime);
    spec.work = csv.required_seconds(duration, kLucidJobLength);
    const auto asked = csv.integer(gpus, kLucidJobGpus);
    if (!asked) csv.refuse(gpus, "a whole number of GPUs");
    spec.gpus = static_cast<int>(*asked);
    const std::string its_vc(csv.text(vc));
    std::string text;
    bool whole = true;
    for (const auto column : workload) {
      const std::string_view part = csv.text(column);
      whole &= !part.empty();
      text.append(text.empty() ? "" : "|").append(part);
    }
    if (!whole) text.clear();
    spec.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    spec.profile.mem_time_pct = csv.number(mem_time, kShare);
    spec.profile.mem_used_mib = csv.number(mem_used, kMib);
    if (const auto at = labels.find(text); at != labels.end()) {
      spec.profile.packing_label = at->second;
    }
    if (spec.gpus == 0) {
      ++without_gpus;
      continue;
    }
    if (spec.work == Duration::zero()) {
      ++without_duration;
      continue;
    }
    if (!its_vc.empty()) {
      const auto next = static_cast<std::uint32_t>(virtual_clusters.size());
      const auto [at, is_new] = virtual_clusters.emplace(its_vc, next);
      if (is_new) trace.virtual_clusters.push_back(its_vc);
      spec.virtual_cluster = at->second;
    } else if (!virtual_clusters.empty()) {
      csv.refuse(vc, "a virtual cluster, as the rows before have one");
    }
    add_job(trace, spec, std::move(name), keys.of(text), kUnknownCluster, kUnknownUncertainty);
  }
  const auto skip = [&](std::size_t count, const std::string& what) {
    if (count > 0) {
      trace.skipped.push_back(std::to_string(count) + (count == 1 ? " job " : " jobs ") + what);
    }
  };
  skip(without_gpus, "without GPUs");
  skip(without_duration, "of duration 0");
  if (trace.names.empty()) {
    throw InputError(csv.name() + ":1:1",
                     "no job with GPUs and a duration after the header, expected one per row");
  }
  order_arrivals(trace);
  return trace;
}

}  // namespace

Trace read_lucid_jobs(const std::string& path, const std::optional<std::string>& labels,
                      WorkloadKeys& keys) {
  const Labels known = labels ? read_labels(*labels) : Labels();
  CsvReader csv(path, kLucidJobColumns, kAnyColumns);
  return read_lucid_jobs(csv, std::filesystem::path(path).filename().string(), known, keys);
}

Trace read_lucid_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys) {
  CsvReader csv(in, name, kLucidJobColumns, kAnyColumns);
  return read_lucid_jobs(csv, name, {}, keys);
}

bool looks_like_lucid_jobs(const TraceHead& head) {
  return has_columns(head, {"job_id", "gpu_num", "submit_time", "duration", "model", "amp"});
}

}  // namespace corun::inline traces
