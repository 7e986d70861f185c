#include "runner/experiment/resolved_config.hpp"

#include <utility>

#include <fmt/format.h>

#include "policies/catalog.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/model_files.hpp"

namespace corun::inline runner {

namespace {

/// Sets estimates.duration to exact if a policy needs estimates, and profiling.mode to minute if one measures
/// profiles and jobs are not moved in rounds, where the key was not given. A note on that, or an empty text.
std::string give_needs(Config& config) {
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
      !names.empty() && !config.places.contains("estimates.duration")) {
    config.estimates.duration = EstimateKind::kExact;
    told = fmt::format(
        "exact run times are told to {} (estimates.duration: exact); real estimates have errors: "
        "--set estimates.duration=lognormal",
        names);
  }
  if (const std::string names = names_with(&PolicyTraits::measures_profiles);
      !names.empty() && !config.places.contains("profiling.mode") &&
      config.control.mode != ControlMode::kRounds) {
    config.profiling.mode = ProfilingMode::kMinute;
    told +=
        fmt::format("{}each job runs alone for a minute first under {} (profiling.mode: minute)",
                    told.empty() ? "" : "; ", names);
  }
  return told;
}

}  // namespace

ResolvedConfig resolve(Config config, const std::string& data_directory,
                       const std::shared_ptr<InputCache>& cache) {
  ResolvedConfig resolved;
  if (std::string note = give_needs(config); !note.empty()) {
    resolved.notes.push_back(std::move(note));
  }
  resolved.config =
      with_models_of_files(with_standard_gpu_type(std::move(config)), data_directory, cache);
  return resolved;
}

}  // namespace corun::inline runner
