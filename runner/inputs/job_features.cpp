#include "runner/inputs/job_features.hpp"

#include <algorithm>

namespace corun::inline runner {

std::vector<double> features_of(const Trace& trace, std::size_t job, const Profile& profile,
                                const std::vector<SpeedTable::Feature>& wanted,
                                ImputedProfiles imputed) {
  std::vector<double> values = feature_values(profile, wanted, imputed);
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const auto at = std::ranges::find(trace.feature_list, wanted[f]);
    if (at == trace.feature_list.end()) continue;
    values[f] = trace.jobs[job].features[static_cast<std::size_t>(at - trace.feature_list.begin())];
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
