#include "predictors/predictor.hpp"

#include <algorithm>
#include <array>

namespace corun::inline predictors {

namespace {

struct TargetText {
  std::string_view name, unit;
};
constexpr std::array<TargetText, kTargets> kTargetTexts{
    {{"memory", "MiB"}, {"time", "ms"}, {"utilisation", "%"}}};

}  // namespace

std::string_view name_of(Target target) {
  return kTargetTexts.at(static_cast<std::size_t>(target)).name;
}
std::string_view unit_of(Target target) {
  return kTargetTexts.at(static_cast<std::size_t>(target)).unit;
}

std::optional<Target> find_target(std::string_view name) {
  const auto* const at = std::ranges::find(kTargetTexts, name, &TargetText::name);
  if (at == kTargetTexts.end()) return std::nullopt;
  return static_cast<Target>(at - kTargetTexts.begin());
}

std::vector<std::string_view> Predictor::lacking(const PredictorJob&) const { return {}; }

bool Predictor::runs_out(const PredictorJob&, const Prediction& prediction,
                         double capacity_mib) const {
  return prediction.safe > capacity_mib;
}

}  // namespace corun::inline predictors
