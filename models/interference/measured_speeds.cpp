#include "models/interference/measured_speeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "models/formulas/overlap.hpp"

namespace corun::inline models {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// A figure of a profile and its name as a feature.
struct ProfileFigure {
  std::string_view name;
  std::optional<double> Profile::*value;
};
constexpr std::array<ProfileFigure, 4> kFigures{{{"gpu_util_pct", &Profile::gpu_util_pct},
                                                 {"mem_alloc_pct", &Profile::mem_alloc_pct},
                                                 {"mem_time_pct", &Profile::mem_time_pct},
                                                 {"mem_used_mib", &Profile::mem_used_mib}}};

std::optional<double> value_of(const Profile& profile, std::string_view name) {
  const auto at = std::ranges::find(kFigures, name, &ProfileFigure::name);
  return at == kFigures.end() ? std::nullopt : profile.*at->value;
}

}  // namespace

std::vector<SpeedTable::Feature> profile_features() {
  return {{"gpu_util_pct", FeatureScale::kLinear},
          {"mem_alloc_pct", FeatureScale::kLinear},
          {"mem_time_pct", FeatureScale::kLinear}};
}

bool is_of_profile(std::string_view name) {
  return std::ranges::find(kFigures, name, &ProfileFigure::name) != kFigures.end();
}

double feature_value(const Profile& profile, const SpeedTable::Feature& feature,
                     ImputedProfiles imputed) {
  if (profile.imputed && imputed == ImputedProfiles::kUnknown) return kUnknown;
  const double value = value_of(profile, feature.name).value_or(kUnknown);
  return feature.scale == FeatureScale::kLog && value <= 0 ? kUnknown : value;
}

std::vector<double> feature_values(const Profile& profile,
                                   std::span<const SpeedTable::Feature> features,
                                   ImputedProfiles imputed) {
  std::vector<double> values;
  values.reserve(features.size());
  for (const SpeedTable::Feature& feature : features) {
    values.push_back(feature_value(profile, feature, imputed));
  }
  return values;
}

SpeedTable speed_table(std::span<const CorunMeasurement> rows, ImputedProfiles imputed) {
  SpeedTable table;
  table.features = profile_features();
  const std::size_t width = table.features.size();
  std::map<WorkloadKey, std::uint32_t> place;
  std::vector<double> counts;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const Sharing sharing = sharing_of(row.sharing).value_or(Sharing::kUnknown);
    SpeedTable::Campaign& campaign = table.campaigns.front();
    if (table.rows.empty()) campaign = {row.gpu_type, sharing};
    if (row.gpu_type != campaign.gpu) campaign.gpu.clear();
    if (sharing != campaign.sharing) campaign.sharing = Sharing::kUnknown;
    std::array<std::uint32_t, 2> at{};
    for (std::size_t i = 0; i < 2; ++i) {
      const CorunMember& m = row.members[i];
      at[i] = static_cast<std::uint32_t>(table.jobs.size());
      if (m.workload != kUnknownWorkload) at[i] = place.emplace(m.workload, at[i]).first->second;
      if (at[i] == table.jobs.size()) {
        table.jobs.push_back(m.workload);
        table.values.resize(table.values.size() + width, 0);
        counts.resize(counts.size() + width, 0);
      }
      const std::vector<double> x = feature_values(m.profile, table.features, imputed);
      for (std::size_t f = 0; f < width; ++f) {
        if (std::isnan(x[f])) continue;
        table.values[at[i] * width + f] += x[f];
        counts[at[i] * width + f] += 1;
      }
    }
    const std::vector<double> excess = overlap_excess(row);
    table.rows.push_back({at[0], at[1], 1 / (1 + excess[0]), 1 / (1 + excess[1])});
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table.values[i] = counts[i] > 0 ? table.values[i] / counts[i] : kUnknown;
  }
  return table;
}

}  // namespace corun::inline models
