#include "traces/public_formats/lucid_jobs.hpp"

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/logs/time_columns.hpp"

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
                                                 {"gmem"},
                                                 {"state"}};

const std::vector<CsvColumn> kLabelColumns = {{"job", true}, {"label", true}};

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
                      WorkloadKeys& keys, const LogRules& rules) {
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

  const auto state = csv.column("state");

  TraceBuilder builder(source, rules);
  SubmitTimeColumn submit_times;
  RunTimeColumn run_times;
  bool any_vc = false;
  for (std::size_t row = 1; csv.next(); ++row) {
    TraceJob found;
    found.name = name_or_row(csv.text(job), row);
    if (builder.line_of(found.name)) csv.refuse(job, "names that differ", "rename one of the two");
    if (!builder.keeps_state(csv.text(state), csv.line())) continue;
    JobSpec& spec = found.spec;
    run_times.read(csv, duration, spec.work);
    spec.gpus = static_cast<int>(csv.integer(gpus, kLucidJobGpus).value_or(0));
    const auto submitted = submit_times.read(csv, submit);
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
    const bool ran = spec.gpus > 0 && spec.work > Duration::zero();
    if (ran && !submitted) {
      builder.skip_without_submit(csv.line());
      continue;
    }
    if (ran) {
      spec.submit = *submitted;
      const std::string_view its_vc = csv.text(vc);
      if (its_vc.empty() && any_vc) {
        csv.refuse(vc, "a virtual cluster, as the rows before have one");
      }
      any_vc |= !its_vc.empty();
      if (any_vc) spec.virtual_cluster = builder.virtual_cluster(its_vc);
      found.key = keys.of(text);
    }
    builder.add_or_skip(std::move(found), csv.line());
  }
  submit_times.tell(csv, submit, builder);
  const std::string place = csv.name() + ":1:1";
  return submit_times.are_dates() ? builder.take_from_first_submit(place) : builder.take(place);
}

}  // namespace

Trace read_lucid_jobs(const std::string& path, const std::optional<std::string>& labels,
                      WorkloadKeys& keys, const LogRules& rules) {
  const Labels known = labels ? read_labels(*labels) : Labels();
  CsvReader csv(path, kLucidJobColumns, kLogColumns);
  return read_lucid_jobs(csv, std::filesystem::path(path).filename().string(), known, keys, rules);
}

Trace read_lucid_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys,
                      const LogRules& rules) {
  CsvReader csv(in, name, kLucidJobColumns, kLogColumns);
  return read_lucid_jobs(csv, name, {}, keys, rules);
}

bool looks_like_lucid_jobs(const TraceHead& head) {
  return has_columns(head, {"job_id", "gpu_num", "submit_time", "duration", "model", "amp"});
}

}  // namespace corun::inline traces
