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
#include "knowledge/prefitted_model.hpp"
#include "models/interference/measured_speeds.hpp"
#include "models/prefitted/prefitted.hpp"
#include "runner/inputs/job_features.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/paper_workloads.hpp"

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

/// Name in the catalogue of the model in a file; nothing if `name` names no model file.
std::optional<std::string> model_in(const std::string& name, const InputFiles& files) {
  const std::optional<std::string> path = locate_model(name, files);
  if (!path) return std::nullopt;
  InputCache& cache = files.cache();
  return cache.models().file(*path, digest_of(*path, cache), WorkloadKeys())->name;
}

/// Whether a given value of a key names the model; a value that was not given agrees.
bool agrees(const Config& config, const std::string& key, std::string_view text,
            std::string_view model) {
  if (!config.places.contains(key) || text == model) return true;
  const InterferenceModelEntry* const entry = find_interference_model(text);
  return entry != nullptr && entry->name == model;
}

/// `holder`: the key that names the file.
[[noreturn]] void refuse(const Config& config, const std::string& key, std::string_view text,
                         const std::string& holder, const std::string& file,
                         const std::string& model) {
  throw InputError(config.place(key),
                   fmt::format("{}: found {}, but {} is '{}', a fitted model of the kind {}; leave "
                               "{} out",
                               key, text, holder, printable(file), model, key));
}

void set_belief(Config& config, const InputFiles& files) {
  const auto model = model_in(config.belief.initial, files);
  if (!model) return;
  BeliefModel& choice = config.belief.model;
  if (!agrees(config, "belief.model", choice.text(), *model)) {
    refuse(config, "belief.model", choice.text(), "belief.initial", config.belief.initial, *model);
  }
  if (choice.model() == nullptr || choice.model()->entry().name != *model) {
    choice = ModelName(*model);
  }
}

void set_world(Config& config, const InputFiles& files) {
  if (!config.world.path) return;
  const auto model = model_in(*config.world.path, files);
  if (!model) return;
  WorldModel& choice = config.world.model;
  if (!agrees(config, "world.model", choice.text(), *model)) {
    refuse(config, "world.model", choice.text(), "world.path", *config.world.path, *model);
  }
  if (choice.model() == nullptr || choice.model()->entry().name != *model) {
    choice = ModelName(*model);
  }
  // `measured` is no word of world.fallback, so beside such a file the default stays.
  ModelName& fallback = config.world.fallback;
  const std::vector<std::string_view> words = world_fallback_words();
  const bool is_word = std::ranges::find(words, *model) != words.end();
  if (!is_word && fallback == WorldConfig{}.fallback) return;
  if (!agrees(config, "world.fallback", fallback.text(), *model)) {
    refuse(config, "world.fallback", fallback.text(), "world.path", *config.world.path, *model);
  }
  fallback = ModelName(*model);
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
    values.reserve(trace.names.size());
    for (std::size_t j = 0; j < trace.names.size(); ++j) {
      values.push_back(features_of(trace, j, trace.workload.jobs[j].profile, model.features(),
                                   ImputedProfiles::kBelieved));
      jobs.push_back({trace.keys[j], values.back()});
    }
  }
  JobsOfTrace(const JobsOfTrace&) = delete;  // jobs points into values
  JobsOfTrace& operator=(const JobsOfTrace&) = delete;
};

/// Whether any two jobs differ to the model, in a feature or in their workload.
bool knows_any(const InterferenceModel& model, const std::vector<PairJob>& jobs) {
  const std::vector<WorkloadKey>& seen = model.workloads();
  return std::ranges::any_of(jobs, [&](const PairJob& job) {
    return (job.workload != kUnknownWorkload &&
            std::ranges::find(seen, job.workload) != seen.end()) ||
           std::ranges::any_of(job.features, [](double x) { return !std::isnan(x); });
  });
}

}  // namespace

Config with_models_of_files(Config config, const std::string& data_directory,
                            const std::shared_ptr<InputCache>& cache) {
  const InputFiles files(config.directory, data_directory, cache);
  set_belief(config, files);
  set_world(config, files);
  return config;
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
    throw InputError(
        config.place(key),
        fmt::format("'{}' was fitted on the features {}; the jobs have no {}; fit a model on "
                    "features that the jobs have",
                    printable(name),
                    printable(fmt::format("{}", fmt::join(names_of(wanted), ", "))),
                    printable(fmt::format(
                        "{}", fmt::join(missing.empty() ? names_of(wanted) : missing, ", ")))));
  }
  std::vector<std::string> notes;
  const std::vector<std::string> missing =
      missing_features(trace, features_used(*file.model, of_trace.jobs));
  if (!missing.empty()) {
    notes.push_back(
        fmt::format("{}: the jobs have no {}, which '{}' was fitted on: taken as not known", key,
                    printable(fmt::format("{}", fmt::join(missing, ", "))), printable(name)));
  }
  if (is_prefitted(name)) {
    std::vector<SpeedTable::Campaign> here;
    for (const std::string& type : cluster.spec.models()) {
      here.push_back(
          campaign_on(type, sharing_of(cluster.spec.sharing).value_or(Sharing::kUnknown)));
    }
    notes.push_back(key + ": " + told_of_prefitted(*file.model, of_trace.jobs, here));
  }
  return notes;
}

}  // namespace corun::inline runner
