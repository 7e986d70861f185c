#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "models/knowledge/interpolation.hpp"

/// Synthetic samples between measured ones, and how good they are (PriRecT section III-C, fig. 1 and
/// 3; JRS section III-C, fig. 2).
///
/// A series is one attribute of one workload at known positions, in percent. Positions are any
/// strictly monotone axis: the row number, as the authors have it, or a (logarithm of a) batch size.
namespace corun {

/// What becomes of digits beyond `GenerationOptions::decimals`.
enum class Rounding { kNearest, kCut };

struct GenerationOptions {
  bool clip = true;                        ///< to [0, 100] %; polynomials leave it
  std::optional<int> decimals;             ///< 0 to 15; all digits if empty
  Rounding rounding = Rounding::kNearest;  ///< the authors' samples are cut, after two decimals
};

/// Positions of `between` samples between each two neighbours, equally far apart; neighbours
/// themselves left out. 4 makes a long series five times as long. `between` below 0 or fewer than one
/// position is std::invalid_argument.
std::vector<double> positions_between(std::span<const double> x, int between);

/// Values at `at` of the curve through (x, y), clipped, then rounded. Errors as interpolate().
std::vector<double> generate(Technique technique, std::span<const double> x,
                             std::span<const double> y, std::span<const double> at,
                             const GenerationOptions& options = {});

/// The blind test: what the known points come back as from the synthetic ones alone.
struct Regeneration {
  std::vector<double> values;  ///< at the known positions
  double rmse = 0;             ///< root of the mean squared difference [percentage points]
  double mae = 0;              ///< mean absolute difference [percentage points]
};

/// Generates samples at `synthetic` from (x, y), unclipped and unrounded, as the authors did; blinds
/// (x, y); regenerates it at x from the samples by the same technique; compares with `truth`, in the
/// order of x. Errors as interpolate(); x and truth of different lengths are std::invalid_argument.
///
/// Mind what it tests. A polynomial through n points is regenerated exactly by n samples or more, be
/// the samples sensible or not: kBarycentric and kKrogh then score nothing but rounding.
Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic, std::span<const double> truth);
/// Compared with what it was generated from, the sound choice.
Regeneration regenerate(Technique technique, std::span<const double> x, std::span<const double> y,
                        std::span<const double> synthetic);

/// The blind test by every technique, in table order. A polynomial that overflows has infinite RMSE
/// and MAE and no values.
std::vector<Regeneration> regenerate_by_all(std::span<const double> x, std::span<const double> y,
                                            std::span<const double> synthetic,
                                            std::span<const double> truth);

/// Differences of RMSE that say nothing [percentage points]: a polynomial's rounding stays below, and
/// the third digit behind the point is more than a profiler resolves.
inline constexpr double kSameRmse = 1e-6;

/// The technique of least RMSE; of several within kSameRmse of the least, the first in table order.
/// `by_technique` is what regenerate_by_all() gives.
Technique best_technique(std::span<const Regeneration> by_technique);

/// The blind test at one volume of synthetic data.
struct VolumeQuality {
  int between = 0;             ///< samples between each two neighbours
  std::size_t samples = 0;     ///< in all
  std::optional<double> rmse;  ///< empty where the technique overflows
  std::optional<double> mae;
};

/// The blind test of one technique for `between` = 1 .. `most` (PriRecT fig. 3), over equally spaced
/// samples. `options` say what becomes of the samples before they serve as pseudo ground truth.
std::vector<VolumeQuality> quality_over_volume(Technique technique, std::span<const double> x,
                                               std::span<const double> y,
                                               std::span<const double> truth, int most,
                                               const GenerationOptions& options);

}  // namespace corun
