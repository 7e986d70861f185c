#include "runner/inputs/job_features.hpp"

#include <algorithm>

namespace corun::inline runner {

double feature_of(const Trace& trace, std::size_t job, const Profile& profile,
                  const SpeedTable::Feature& wanted, ImputedProfiles imputed) {
  const auto at = std::ranges::find(trace.feature_list, wanted);
  if (at == trace.feature_list.end()) return feature_value(profile, wanted, imputed);
  return trace.jobs[job].features[static_cast<std::size_t>(at - trace.feature_list.begin())];
}

std::vector<double> features_of(const Trace& trace, std::size_t job, const Profile& profile,
                                const std::vector<SpeedTable::Feature>& wanted,
                                ImputedProfiles imputed) {
  std::vector<double> values;
  values.reserve(wanted.size());
  for (const SpeedTable::Feature& feature : wanted) {
    values.push_back(feature_of(trace, job, profile, feature, imputed));
  }
  return values;
}

std::vector<std::string> missing_features(const Trace& trace,
                                          const std::vector<SpeedTable::Feature>& wanted) {
  std::vector<std::string> missing;
  for (const SpeedTable::Feature& feature : wanted) {
    if (!is_of_profile(feature.name) &&
        std::ranges::find(trace.feature_list, feature) == trace.feature_list.end()) {
      missing.push_back(feature.name);
    }
  }
  return missing;
}

}  // namespace corun::inline runner
