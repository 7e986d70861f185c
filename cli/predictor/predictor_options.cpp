#include "cli/predictor/predictor_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "runner/inputs/gpu_types_file.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline cli {

namespace po = boost::program_options;

void add_gpu_types_option(CommandLine& command) {
  command.own.add_options()("gpu-types", po::value<std::string>(),
                            "YAML list of GPU types of your own (docs/formats.md)");
}

GpuTypes gpu_types_option(const po::variables_map& values, const CommonOptions& common,
                          std::vector<NamedFile>& inputs) {
  if (values.count("gpu-types") == 0) return {};
  inputs.push_back({"--gpu-types",
                    find_input_file(values["gpu-types"].as<std::string>(), common, "--gpu-types")});
  return GpuTypes(read_gpu_types(inputs.back().path));
}

Target target_option(const po::variables_map& values, const std::string& command) {
  constexpr std::array<std::string_view, kTargets> kNames{"memory", "time", "utilisation"};
  if (values.count("target") == 0) {
    throw InputError(command, "needs a target; give --target memory, time or utilisation");
  }
  return *find_target(choice_option(values, "target", kNames));
}

std::vector<const PredictorEntry*> kinds_option(const po::variables_map& values, Target target) {
  std::vector<const PredictorEntry*> entries;
  const auto add = [&](const PredictorEntry& entry) {
    if (std::ranges::find(entries, &entry) == entries.end()) entries.push_back(&entry);
  };
  std::vector<std::string_view> known{"all", "default"};
  for (const PredictorEntry& entry : predictor_catalog()) known.push_back(entry.name);
  for (const std::string& name : list_option(values, "kind")) {
    if (name == "all") {
      for (const PredictorEntry& entry : predictor_catalog()) {
        if (entry.predicts(target)) add(entry);
      }
    } else if (const PredictorEntry* entry = find_predictor(name)) {
      if (!entry->predicts(target)) {
        throw InputError("--kind", fmt::format("{} predicts {}, and --target is {}", name,
                                               name_of(*entry->only), name_of(target)));
      }
      add(*entry);
    } else {
      throw InputError("--kind", "found '" + printable(name) + "': " + did_you_mean(name, known));
    }
  }
  if (entries.empty()) add(predictor_catalog().front());
  return entries;
}

void add_constants_option(CommandLine& command) {
  command.own.add_options()("constants", po::value<std::string>(),
                            "constants of physics in place of the usual ones, as depth=3,length=2; "
                            "predictors/physics/physics_constants.hpp names them");
}

PhysicsConstants constants_option(const po::variables_map& values,
                                  std::span<const PhysicsPart> parts) {
  PhysicsConstants constants;
  if (values.count("constants") == 0) return constants;
  std::vector<std::string_view> known;
  for (const PhysicsConstantEntry& entry : physics_constants()) {
    if (std::ranges::find(parts, entry.part) != parts.end()) known.push_back(entry.name);
  }
  for (const std::string& part : split_text(values["constants"].as<std::string>(), ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto at = std::ranges::find(physics_constants(), name, &PhysicsConstantEntry::name);
    if (equals == std::string::npos && at != physics_constants().end()) {
      throw InputError("--constants",
                       "found '" + printable(part) + "', expected NAME=NUMBER; give it a number");
    }
    if (equals == std::string::npos || at == physics_constants().end()) {
      throw InputError("--constants", "found '" + printable(part) +
                                          "', expected NAME=NUMBER: " + did_you_mean(name, known));
    }
    if (std::ranges::find(parts, at->part) == parts.end()) {
      throw InputError("--constants", fmt::format("{} has no effect here; expected one of {}", name,
                                                  fmt::join(known, ", ")));
    }
    const auto number = parse_number(part.substr(equals + 1));
    if (!number || !(*number >= at->least && *number <= at->most)) {
      throw InputError("--constants", fmt::format("found '{}', expected a number from {} to {}",
                                                  printable(part), at->least, at->most));
    }
    constants.*(at->value) = *number;
  }
  if (!(same_stack_probability(constants) > 0)) {
    throw InputError("--constants",
                     "stack_probability, odd_probability and far_probability add up to 1 or more; "
                     "lower one");
  }
  return constants;
}

std::string needed_option(const po::variables_map& values, const std::string& key,
                          const std::string& command, const std::string& example) {
  if (values.count(key) == 0) {
    throw InputError(command, fmt::format("--{0} is missing; give --{0} {1}", key, example));
  }
  return values[key].as<std::string>();
}

void note_missing(const CommonOptions& common, std::size_t missing, std::size_t rows,
                  const std::vector<std::string>& columns) {
  if (missing == 0) return;
  const std::string lacking =
      columns.empty() ? "" : fmt::format("; missing: {}", fmt::join(columns, ", "));
  note(common,
       fmt::format("{} of {} rows have no prediction: their model is not in the zoo, has no "
                   "layers, or has not the figures that the predictor was fitted on{}",
                   missing, rows, lacking));
}

}  // namespace corun::inline cli
