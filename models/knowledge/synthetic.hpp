#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "models/knowledge/interpolation.hpp"

/// Synthetic samples between measured ones, and a test of their quality (PriRecT section III-C, fig. 1 and 3;
/// JRS section III-C, fig. 2).
///
/// A series is one attribute, in percent, of one workload at known positions. Positions are on any strictly
/// monotone axis, such as the row number (the authors' choice) or the batch size or its logarithm.
namespace corun::inline models {

/// The treatment of digits beyond `GenerationOptions::decimals`.
enum class Rounding { kNearest, kCut };

struct GenerationOptions {
  bool clip = true;                        ///< to [0, 100] %, which polynomials may leave
  std::optional<int> decimals;             ///< 0 to 15; all digits if empty
  Rounding rounding = Rounding::kNearest;  ///< the authors' samples are cut, after two decimals
};

/// Positions of `between` equally spaced samples between each two neighbours, without the neighbours. With 4,
/// a long series becomes five times as long. std::invalid_argument if `between` is below 0 or x is empty.
std::vector<double> positions_between(std::span<const double> x, int between);

/// Values at `at` of the curve through (x, y), clipped, then rounded. std::invalid_argument as interpolate(),
/// and for decimals outside 0 to 15.
std::vector<double> generate(Technique technique, std::span<const double> x,
                             std::span<const double> y, std::span<const double> at,
                             const GenerationOptions& options = {});

/// The result of the blind test, which regenerates the known points from the synthetic samples.
struct Regeneration {
  std::vector<double> values;  ///< at the known positions
  double rmse = 0;             ///< root of the mean squared difference [percentage points]
  double mae = 0;              ///< mean absolute difference [percentage points]
};

/// Generates samples at `synthetic` from (x, y), not clipped or rounded, as the authors did. Regenerates
/// values at x from these samples by the same technique, and compares them with `truth`, one entry per x.
/// std::invalid_argument as interpolate(), and for x and truth of different lengths.
///
/// The test cannot judge polynomials: one through n points is regenerated exactly by n or more samples,
/// whether they are sensible or not, so that kBarycentric and kKrogh only show rounding errors.
Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic, std::span<const double> truth);
/// The same with truth = y, the recommended choice.
Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic);

/// The blind test by every technique, in the order of technique_catalog(). A polynomial that overflows has
/// infinite RMSE and MAE and no values.
std::vector<Regeneration> regenerate_by_all(std::span<const double> x, std::span<const double> y,
                                            std::span<const double> synthetic,
                                            std::span<const double> truth);

/// A difference of RMSE up to this [percentage points] counts as equal: rounding of polynomials stays below,
/// and profilers do not resolve it.
inline constexpr double kSameRmse = 1e-6;

/// The technique with the least RMSE; of several within kSameRmse of the least, the first. `by_technique`:
/// from regenerate_by_all(); std::invalid_argument for another number of entries.
Technique best_technique(std::span<const Regeneration> by_technique);

/// The blind test at one volume of synthetic data.
struct VolumeQuality {
  int between = 0;             ///< samples between each two neighbours
  std::size_t samples = 0;     ///< in total
  std::optional<double> rmse;  ///< [percentage points]; empty if the technique overflows
  std::optional<double> mae;   ///< likewise
};

/// The blind test of one technique for `between` = 1 .. `most` (PriRecT fig. 3) equally spaced samples, which
/// are clipped and rounded by `options`. std::invalid_argument as regenerate() and generate().
std::vector<VolumeQuality> quality_over_volume(Technique technique, std::span<const double> x,
                                               std::span<const double> y,
                                               std::span<const double> truth, int most,
                                               const GenerationOptions& options);

}  // namespace corun::inline models
