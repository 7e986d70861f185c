#include "experiments/experiment/model_files.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/inputs/job_features.hpp"
#include "experiments/knowledge/knowledge_catalog.hpp"
#include "models/interference/measured_speeds.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

namespace {

/// The path of the model file that the value of a key names; nothing if it names none.
std::optional<std::string> locate_model(const std::string& name, const InputFiles& files) {
  if (find_knowledge(name) != nullptr) return std::nullopt;
  std::optional<std::string> path = files.locate(name);
  if (path && !has_model_header(*path)) path.reset();
  return path;
}

/// Name in the catalogue of the model in a file; nothing if `name` names no model file.
std::optional<std::string> model_in(const std::string& name, const InputFiles& files) {
  const std::optional<std::string> path = locate_model(name, files);
  if (!path) return std::nullopt;
  InputCache& cache = files.cache();
  return cache.models().file(*path, cache.sha256(*path), WorkloadKeys())->name;
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

/// Whether any two jobs of a trace differ to the model, in a feature or in their workload.
bool knows_any(const InterferenceModel& model, const Trace& trace) {
  for (std::size_t j = 0; j < trace.names.size(); ++j) {
    if (trace.keys[j] != kUnknownWorkload &&
        std::ranges::find(model.workloads(), trace.keys[j]) != model.workloads().end()) {
      return true;
    }
    const std::vector<double> values = features_of(trace, j, trace.workload.jobs[j].profile,
                                                   model.features(), ImputedProfiles::kBelieved);
    if (std::ranges::any_of(values, [](double x) { return !std::isnan(x); })) return true;
  }
  return false;
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
  const std::string path = files.find(name, config.place(key));
  paper_measurements(keys);  // generated jobs get their keys only when they are generated
  return files.cache().models().file(path, files.cache().sha256(path), keys);
}

void check_features_of_jobs(const Config& config, const std::string& key, const std::string& name,
                            const ModelFile& file, const Trace& trace) {
  const std::vector<SpeedTable::Feature>& wanted = file.model->features();
  const std::vector<std::string> missing = missing_features(trace, wanted);
  if (missing.empty() && (wanted.empty() || knows_any(*file.model, trace))) return;
  throw InputError(
      config.place(key),
      fmt::format("'{}' was fitted on the features {}; the jobs have no {}; fit a model on "
                  "features that the jobs have",
                  printable(name), printable(fmt::format("{}", fmt::join(names_of(wanted), ", "))),
                  printable(fmt::format(
                      "{}", fmt::join(missing.empty() ? names_of(wanted) : missing, ", ")))));
}

}  // namespace corun
