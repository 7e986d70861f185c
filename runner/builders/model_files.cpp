#include "runner/builders/model_files.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knowledge/knowledge_catalog.hpp"
#include "knowledge/model_origin.hpp"
#include "knowledge/prefitted_model.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/prefitted/prefitted.hpp"
#include "runner/inputs/job_features.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/tables/group_table.hpp"

namespace corun::inline runner {

namespace {

/// The path of the model file that the value of a key names; nothing if it names none.
std::optional<std::string> locate_model(const std::string& name, const InputFiles& files) {
  if (find_knowledge(name) != nullptr) return std::nullopt;
  if (is_prefitted(name)) return name;
  std::optional<std::string> path = files.locate(name);
  if (path && !has_model_header(*path)) path.reset();
  return path;
}

/// SHA-256 of a model file at the path of locate_model().
std::string digest_of(const std::string& path, InputCache& cache) {
  return is_prefitted(path) ? sha256_of_text(prefitted_bytes()) : cache.sha256(path);
}

std::vector<std::string> names_of(const std::vector<SpeedTable::Feature>& features) {
  std::vector<std::string> names;
  for (const SpeedTable::Feature& f : features) names.push_back(f.name);
  return names;
}

/// The jobs of a trace with the features of a model.
struct JobsOfTrace {
  std::vector<std::vector<double>> values;
  std::vector<PairJob> jobs;

  JobsOfTrace(const InterferenceModel& model, const Trace& trace) {
    values.reserve(trace.jobs.size());
    for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
      values.push_back(features_of(trace, j, trace.jobs[j].spec.profile, model.features(),
                                   ImputedProfiles::kBelieved));
      jobs.push_back({trace.jobs[j].key, values.back()});
    }
  }
  JobsOfTrace(const JobsOfTrace&) = delete;  // jobs points into values
  JobsOfTrace& operator=(const JobsOfTrace&) = delete;
};

bool is_fitted_on(const InterferenceModel& model, const PairJob& job) {
  const std::vector<WorkloadKey>& seen = model.workloads();
  return job.workload != kUnknownWorkload && std::ranges::find(seen, job.workload) != seen.end();
}

/// Whether any two jobs differ to the model, in a feature or in their workload.
bool knows_any(const InterferenceModel& model, const std::vector<PairJob>& jobs) {
  return std::ranges::any_of(jobs, [&](const PairJob& job) {
    return is_fitted_on(model, job) ||
           std::ranges::any_of(job.features, [](double x) { return !std::isnan(x); });
  });
}

}  // namespace

std::optional<std::string> model_in(const std::string& name, const InputFiles& files) {
  const std::optional<std::string> path = locate_model(name, files);
  if (!path) return std::nullopt;
  InputCache& cache = files.cache();
  return cache.models().file(*path, digest_of(*path, cache), WorkloadKeys())->name;
}

std::shared_ptr<const ModelFile> find_model_file(const Config& config, const std::string& key,
                                                 const std::string& name, InputFiles& files,
                                                 WorkloadKeys& keys) {
  if (!locate_model(name, files)) return nullptr;
  // The model that comes with corun is part of the program, no input.
  const std::string path = is_prefitted(name) ? name : files.find(name, config.place(key));
  paper_measurements(keys);  // generated jobs get their keys only when they are generated
  return files.cache().models().file(path, digest_of(path, files.cache()), keys);
}

std::vector<std::string> check_features_of_jobs(const Config& config, const std::string& key,
                                                const std::string& name, const ModelFile& file,
                                                const Trace& trace, const Cluster& cluster) {
  const std::vector<SpeedTable::Feature>& wanted = file.model->features();
  const JobsOfTrace of_trace(*file.model, trace);
  if (!wanted.empty() && !knows_any(*file.model, of_trace.jobs)) {
    const std::vector<std::string> missing = missing_features(trace, wanted);
    const bool of_groups =
        std::ranges::find(wanted, kMpsFeature, &SpeedTable::Feature::name) != wanted.end();
    throw InputError(
        config.place(key),
        fmt::format("'{}' was fitted on the features {}; the jobs have no {}, and none names a "
                    "workload that it was fitted on{}; fit a model on features that the jobs have",
                    printable(name),
                    printable(fmt::format("{}", fmt::join(names_of(wanted), ", "))),
                    printable(fmt::format(
                        "{}", fmt::join(missing.empty() ? names_of(wanted) : missing, ", "))),
                    of_groups ? " (of a table of groups it is the name with the sharing mode, as "
                                "'bert (MPS)'; the name alone where the mode is left empty)"
                              : ""));
  }
  std::vector<std::string> notes;
  const std::vector<std::string> missing =
      missing_features(trace, features_used(*file.model, of_trace.jobs));
  if (!missing.empty()) {
    notes.push_back(
        fmt::format("{}: the jobs have no {}, which '{}' was fitted on: taken as not known", key,
                    printable(fmt::format("{}", fmt::join(missing, ", "))), printable(name)));
  }
  std::vector<SpeedTable::Campaign> here;
  for (const std::string& type : cluster.spec.models()) {
    here.push_back(campaign_on(type, sharing_of(cluster.spec.sharing).value_or(Sharing::kUnknown)));
  }
  std::string told = told_of_origin(printable(name), *file.model, of_trace.jobs, here);
  if (is_prefitted(name)) {
    const auto known = std::ranges::count_if(
        of_trace.jobs, [&](const PairJob& job) { return is_fitted_on(*file.model, job); });
    if (known > 0) {
      told += fmt::format("; it was fitted on {} of these {} jobs, and errs more on others", known,
                          of_trace.jobs.size());
    }
  }
  if (!told.empty()) notes.push_back(key + ": " + told);
  return notes;
}

}  // namespace corun::inline runner
