#include "runner/experiment/resolved_config.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "policies/catalog.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/model_files.hpp"
#include "runner/builders/workload_source.hpp"
#include "runner/config/config_checks.hpp"
#include "runner/config/config_keys.hpp"
#include "runner/config/config_writer.hpp"
#include "runner/experiment/experiment_checks.hpp"
#include "runner/experiment/policy_instances.hpp"
#include "runner/inputs/input_files.hpp"
#include "runner/inputs/measurement_tables.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/tables/measurements.hpp"

namespace corun::inline runner {

/// Which keys of a configuration were given.
class GivenKeys {
 public:
  explicit GivenKeys(const Config& config) : places_(config.places.places_) {}
  bool contains(std::string_view key) const { return places_.contains(std::string(key)); }

 private:
  std::map<std::string, std::string> places_;  // a copy: resolving adds places
};

namespace {

/// Needs no feature of a job.
constexpr std::string_view kFallbackByNames = "factors";

constexpr std::array<std::string_view, 7> kFilledIn{
    "cluster.nodes",      "belief.model",   "world.model", "world.fallback",
    "estimates.duration", "profiling.mode", "policies"};

void count_nodes(Config& config, const GivenKeys& given, InputFiles& files) {
  const ClusterConfig& c = config.cluster;
  if (!c.virtual_clusters || c.machines || c.path || given.contains("cluster.nodes")) return;
  config.cluster.nodes = nodes_of(virtual_clusters_of(config, files));
  config.places.set("cluster.nodes", config.place("cluster.virtual_clusters"));
  check_together(config);
}

/// What policies need: estimates of run times, measured profiles.
void give_needs(Config& config, const GivenKeys& given, Notes& notes) {
  const auto names_with = [&](bool PolicyTraits::*need) {
    std::string names;
    for (const PolicyConfig& policy : config.policies) {
      const PolicyEntry* entry = policy.entry != nullptr ? policy.entry : find_policy(policy.name);
      if (!(entry->traits.*need)) continue;
      names += (names.empty() ? "" : ", ") + policy.name;
    }
    return names;
  };
  std::string told;
  if (const std::string names = names_with(&PolicyTraits::needs_estimates);
      !names.empty() && !given.contains("estimates.duration")) {
    config.estimates.duration = EstimateKind::kExact;
    told = fmt::format(
        "exact run times are told to {} (estimates.duration: exact); real estimates have errors: "
        "--set estimates.duration=lognormal",
        names);
  }
  if (const std::string names = names_with(&PolicyTraits::measures_profiles);
      !names.empty() && !given.contains("profiling.mode") &&
      config.control.mode != ControlMode::kRounds) {
    config.profiling.mode = ProfilingMode::kMinute;
    told +=
        fmt::format("{}each job runs alone for a minute first under {} (profiling.mode: minute)",
                    told.empty() ? "" : "; ", names);
  }
  add_note(notes, NoteCode::kNeedOfPolicies, "policies", std::move(told));
}

/// A key that names a model file, and the model in it.
struct NamedModel {
  std::string_view key;
  const std::string& file;
  std::string model;
};

/// Gives `choice`, the value of `key`, the model of a file. InputError if another value was given.
template <typename Choice>
void take_model(const Config& config, const GivenKeys& given, const std::string& key,
                Choice& choice, const NamedModel& named) {
  const std::string_view text = choice.text();
  const InterferenceModelEntry* const entry = find_interference_model(text);
  const bool agrees = text == named.model || (entry != nullptr && entry->name == named.model);
  if (given.contains(key) && !agrees) {
    const std::size_t dot = named.key.find('.');
    throw InputError(
        config.place(key),
        fmt::format("{}: found {}, but {} is '{}', a fitted model of the kind {}; leave "
                    "{} out, or replace all of it: --set '{}={{{}: {}}}'",
                    key, text, named.key, printable(named.file), named.model, key,
                    named.key.substr(0, dot), named.key.substr(dot + 1), printable(named.file)));
  }
  if (entry == nullptr || entry->name != named.model) choice = ModelName(named.model);
}

void take_models_of_files(Config& config, const GivenKeys& given, const InputFiles& files) {
  if (auto model = model_in(config.belief.initial, files)) {
    const NamedModel named{"belief.initial", config.belief.initial, std::move(*model)};
    take_model(config, given, "belief.model", config.belief.model, named);
  }
  if (!config.world.path) return;
  auto model = model_in(*config.world.path, files);
  if (!model) return;
  const NamedModel named{"world.path", *config.world.path, std::move(*model)};
  take_model(config, given, "world.model", config.world.model, named);
  // Not every model is a word of world.fallback; beside such a file the default stays.
  ModelName& fallback = config.world.fallback;
  const std::vector<std::string_view> words = world_fallback_words();
  const bool is_word = std::ranges::find(words, named.model) != words.end();
  if (!is_word && fallback == WorldConfig{}.fallback) return;
  take_model(config, given, "world.fallback", fallback, named);
}

/// Gives a table of own measurements another fallback than the default one if that cannot be fitted on it.
void take_fallback(Config& config, const GivenKeys& given, InputFiles& files, Notes& notes) {
  WorldConfig& w = config.world;
  if (w.model != WorldKind::kMeasured || !w.path || given.contains("world.fallback")) return;
  const std::string path = files.find(*w.path, config.place("world.path"));
  const std::optional<MeasurementForm> form = measurement_form(path);
  if (!form || *form == MeasurementForm::kCoruns || *form == MeasurementForm::kRates) return;
  MeasurementTables tables(config.cluster.sharing);
  const SpeedTable& speeds = tables.measured(path, config).speeds;
  try {
    files.cache().models().fit(w.fallback.entry(), speeds, {.effort = w.effort});
  } catch (const std::invalid_argument& refused) {
    w.fallback = ModelName(kFallbackByNames);
    add_note(notes, NoteCode::kFallbackChosen, "world.fallback",
             fmt::format("{}: {} takes its place as world.fallback for co-runs that {} lacks",
                         refused.what(), kFallbackByNames, printable(*w.path)));
  }
}

/// Leaves policies of the default comparison out that cannot place a job. The jobs are made for this alone: the draws
/// of an experiment depend on the order in which its parts learn the names of workloads.
void leave_out_policies(const std::shared_ptr<Config>& config, const std::optional<Trace>& queue,
                        InputFiles& files, Notes& notes) {
  const Cluster cluster = build_cluster(*config, files);
  const WorkloadSource source(config, cluster, queue, files);
  const std::vector<UnplaceablePods> pods =
      unplaceable_pods(*config, cluster, policy_instances(*config), *source.trace(0));
  for (const UnplaceablePods& one : pods) {
    add_note(notes, NoteCode::kPolicyLeftOut, "policies",
             one.what + ": left out of the default comparison");
  }
  for (auto one = pods.rbegin(); one != pods.rend(); ++one) {
    config->policies.erase(config->policies.begin() + static_cast<std::ptrdiff_t>(one->policy));
  }
}

}  // namespace

Resolved resolve(Config config, const std::string& data_directory,
                 const std::optional<Trace>& queue, const std::shared_ptr<InputCache>& cache) {
  const GivenKeys given(config);
  InputFiles files(config.directory, data_directory, cache);
  const auto resolved = std::make_shared<Config>(std::move(config));
  Notes notes;
  give_needs(*resolved, given, notes);
  if (!resolved->cluster.gpu_types) {
    resolved->cluster.gpu_type = GpuTypes().standard_name(resolved->cluster.gpu_type);
  }
  take_models_of_files(*resolved, given, files);
  take_fallback(*resolved, given, files, notes);
  count_nodes(*resolved, given, files);
  if (!given.contains("policies")) leave_out_policies(resolved, queue, files, notes);
  return {resolved, std::move(notes)};
}

std::string dump_unresolved(const Config& config) {
  const GivenKeys given(config);
  std::vector<std::string_view> open;
  for (const std::string_view key : kFilledIn) {
    if (!given.contains(key)) open.push_back(key);
  }
  return dump_yaml(config, open);
}

Config with_defaults(Config config, Config defaults) {
  const GivenKeys given(config);
  const std::vector<ConfigKey> from = config_keys(defaults);
  const std::vector<ConfigKey> to = config_keys(config);
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (given.contains(to[k].path)) continue;
    std::visit(
        [&](const auto& slot) {
          using T = std::decay_t<decltype(slot)>;
          const T& other = std::get<T>(from[k].value);
          if constexpr (std::is_same_v<T, KeyPolicies>) {
            *slot.list = *other.list;
          } else if constexpr (std::is_same_v<T, KeyWord>) {
            slot.set(other.get());
          } else {
            slot.slot.set(other.slot.get());
          }
        },
        to[k].value);
  }
  return config;
}

void refuse_given(const Config& config, std::span<const std::string_view> keys,
                  const std::string& why) {
  const GivenKeys given(config);
  for (const std::string_view key : keys) {
    if (!given.contains(key)) continue;
    throw InputError(config.place(std::string(key)), std::string(key) + " " + why);
  }
}

}  // namespace corun::inline runner
