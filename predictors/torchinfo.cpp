#include "predictors/torchinfo.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"

namespace corun::inline predictors {

namespace {

constexpr double kFloatBytes = 4;
constexpr std::size_t kFewestOfTorchinfo = 10;
constexpr double kBytesPerMib = 1024.0 * 1024.0;

}  // namespace

double torchinfo_bytes(const JobFigures& f) {
  const double outputs =
      std::isnan(f.activation_elements) ? f.weighted_outputs : f.activation_elements;
  return kFloatBytes * (f.batch * (f.input_elements + 2 * outputs) + f.parameters);
}

std::unique_ptr<Predictor> TorchinfoPredictor::fit(Target target,
                                                   std::span<const MeasuredJob> jobs) {
  if (target != Target::kMemory) throw std::invalid_argument("torchinfo estimates memory alone");
  std::vector<double> ratios;
  for (const MeasuredJob& job : jobs) {
    const double ratio = job.value * kBytesPerMib / torchinfo_bytes(job.job.figures);
    if (!std::isnan(ratio)) ratios.push_back(ratio);
  }
  if (ratios.size() < kFewestOfTorchinfo) {
    throw std::invalid_argument(
        "ten measured jobs with the figures of torchinfo are needed at least");
  }
  std::ranges::sort(ratios);
  const auto at = [&](double q) {
    return ratios[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(ratios.size() - 1)))];
  };
  auto predictor = std::make_unique<TorchinfoPredictor>();
  predictor->low_ = at(0.05);
  predictor->high_ = at(0.95);
  predictor->safe_ = at(0.99);
  return predictor;
}

std::vector<Prediction> TorchinfoPredictor::predict(std::span<const PredictorJob> jobs) const {
  std::vector<Prediction> out;
  for (const PredictorJob& job : jobs) {
    const double mib = torchinfo_bytes(job.figures) / kBytesPerMib;
    out.push_back(
        {mib, mib * std::min(low_, 1.0), mib * std::max(high_, 1.0), mib * std::max(safe_, 1.0)});
  }
  return out;
}

nlohmann::json TorchinfoPredictor::save() const {
  return {{"bounds", model_state::packed(std::vector{low_, high_, safe_})}};
}

std::unique_ptr<Predictor> TorchinfoPredictor::load(Target target, const nlohmann::json& state) {
  if (target != Target::kMemory) throw std::invalid_argument("torchinfo estimates memory alone");
  model_state::map_of(state, 1, "a predictor");
  const std::vector<double> bounds = model_state::finite_doubles(state, "bounds", 3);
  constexpr double kMostRatio = 1e6;
  if (!(bounds[0] > 0) || bounds[1] < bounds[0] || bounds[2] < bounds[1] ||
      bounds[2] > kMostRatio) {
    throw std::invalid_argument("an impossible interval");
  }
  auto predictor = std::make_unique<TorchinfoPredictor>();
  predictor->low_ = bounds[0];
  predictor->high_ = bounds[1];
  predictor->safe_ = bounds[2];
  return predictor;
}

}  // namespace corun::inline predictors
