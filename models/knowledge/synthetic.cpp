#include "models/knowledge/synthetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace corun::inline models {

namespace {

/// Added before digits are cut: a value that is a multiple of the last digit up to rounding must not lose
/// one.
constexpr double kCutSlack = 1e-9;

double shortened(double value, const GenerationOptions& options) {
  if (options.clip) value = std::clamp(value, 0.0, 100.0);
  if (!options.decimals) return value;
  const double scale = std::pow(10.0, *options.decimals);
  const double digits = value * scale;
  return (options.rounding == Rounding::kCut
              ? std::copysign(std::floor(std::abs(digits) + kCutSlack), digits)
              : std::round(digits)) /
         scale;
}

void require_decimals(const GenerationOptions& options) {
  if (!options.decimals || (*options.decimals >= 0 && *options.decimals <= 15)) return;
  throw std::invalid_argument("generate: decimals must be 0 to 15");
}

Regeneration compare(std::vector<double> values, std::span<const double> truth) {
  Regeneration result;
  double squares = 0;
  double moduli = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double error = values[i] - truth[i];
    squares += error * error;
    moduli += std::abs(error);
  }
  const auto n = static_cast<double>(truth.size());
  result.rmse = std::sqrt(squares / n);
  result.mae = moduli / n;
  result.values = std::move(values);
  return result;
}

void require_truth(std::span<const double> x, std::span<const double> truth) {
  if (x.size() == truth.size()) return;
  throw std::invalid_argument("regenerate: " + std::to_string(x.size()) + " positions but " +
                              std::to_string(truth.size()) + " true values");
}

}  // namespace

std::vector<double> positions_between(std::span<const double> x, int between) {
  if (x.empty()) throw std::invalid_argument("positions_between: no positions");
  if (between < 0) throw std::invalid_argument("positions_between: less than no samples");
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    for (int k = 1; k <= between; ++k) {
      out.push_back(x[i] + (x[i + 1] - x[i]) * k / (between + 1));
    }
  }
  return out;
}

std::vector<double> generate(Technique technique, std::span<const double> x,
                             std::span<const double> y, std::span<const double> at,
                             const GenerationOptions& options) {
  require_decimals(options);
  std::vector<double> values = interpolate(technique, x, y, at);
  for (double& value : values) value = shortened(value, options);
  return values;
}

Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic, std::span<const double> truth) {
  require_truth(x, truth);
  const std::vector<double> samples = interpolate(technique, x, y, synthetic);
  return compare(interpolate(technique, synthetic, samples, x), truth);
}

Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic) {
  return regenerate(technique, x, y, synthetic, y);
}

std::vector<Regeneration> regenerate_by_all(std::span<const double> x, std::span<const double> y,
                                            std::span<const double> synthetic,
                                            std::span<const double> truth) {
  // Linear interpolation cannot overflow, so this call throws for bad points; exceptions after it mean
  // overflow.
  regenerate(Technique::kLinear, x, y, synthetic, truth);
  std::vector<Regeneration> out;
  for (const TechniqueEntry& entry : technique_catalog()) {
    try {
      out.push_back(regenerate(entry.technique, x, y, synthetic, truth));
    } catch (const std::invalid_argument&) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      out.push_back({{}, kInfinity, kInfinity});
    }
  }
  return out;
}

Technique best_technique(std::span<const Regeneration> by_technique) {
  const auto table = technique_catalog();
  if (by_technique.size() != table.size()) {
    throw std::invalid_argument("best_technique: not one result per technique");
  }
  const double least = std::ranges::min_element(by_technique, {}, &Regeneration::rmse)->rmse;
  const auto best = std::ranges::find_if(
      by_technique, [&](const Regeneration& r) { return r.rmse <= least + kSameRmse; });
  return table[static_cast<std::size_t>(best - by_technique.begin())].technique;
}

std::vector<VolumeQuality> quality_over_volume(Technique technique, std::span<const double> x,
                                               std::span<const double> y,
                                               std::span<const double> truth, int most,
                                               const GenerationOptions& options) {
  require_truth(x, truth);
  require_decimals(options);
  interpolate(Technique::kLinear, x, y, x);  // throws for bad points, as above
  std::vector<VolumeQuality> out;
  for (int between = 1; between <= most; ++between) {
    const std::vector<double> synthetic = positions_between(x, between);
    VolumeQuality quality{between, synthetic.size(), {}, {}};
    try {
      const std::vector<double> samples = generate(technique, x, y, synthetic, options);
      const Regeneration result = compare(interpolate(technique, synthetic, samples, x), truth);
      quality.rmse = result.rmse;
      quality.mae = result.mae;
    } catch (const std::invalid_argument&) {
      // Overflow.
    }
    out.push_back(quality);
  }
  return out;
}

}  // namespace corun::inline models
