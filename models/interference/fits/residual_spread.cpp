#include "models/interference/fits/residual_spread.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "models/model_state.hpp"
#include "sim/base/math.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline models {

ResidualSpread ResidualSpread::of(std::span<const double> residuals) {
  std::vector<double> sorted(residuals.begin(), residuals.end());
  sorted.push_back(kPriorSpread);
  sorted.push_back(-kPriorSpread);
  std::sort(sorted.begin(), sorted.end());
  double square = 0;
  for (const double r : sorted) square += r * r;
  const auto n = static_cast<double>(sorted.size());
  // With skewed residuals 0 could lie outside the quantiles, but a prediction must lie within its interval.
  return {std::sqrt(square / n), std::min(0.0, quantile(sorted, 0.05)),
          std::max(0.0, quantile(sorted, 0.95))};
}

SpeedPrediction ResidualSpread::around(double speed) const {
  return {speed, speed * deviation, speed * math::exp(-high), speed * math::exp(-low)};
}

std::vector<SpeedPrediction> ResidualSpread::around(const InterferenceModel& model,
                                                    std::span<const PairJob> residents) const {
  if (residents.size() < 2) return std::vector<SpeedPrediction>(residents.size());
  std::vector<double> expected(residents.size());
  model.speeds(residents, expected);
  std::vector<SpeedPrediction> out;
  for (const double speed : expected) out.push_back(around(speed));
  return out;
}

nlohmann::json ResidualSpread::save() const {
  return model_state::packed(std::vector<double>{deviation, low, high});
}

ResidualSpread ResidualSpread::load(const nlohmann::json& saved) {
  const nlohmann::json map{{"spread", saved}};
  const std::vector<double> v = model_state::finite_doubles(map, "spread", 3);
  constexpr double kLargest = 100;  // exp() of it is finite
  if (!(v[0] >= 0 && v[0] <= kLargest && v[1] <= 0 && v[1] >= -kLargest && v[2] >= 0 &&
        v[2] <= kLargest)) {
    throw std::invalid_argument("the spread of the residuals is not possible");
  }
  return {v[0], v[1], v[2]};
}

}  // namespace corun::inline models
