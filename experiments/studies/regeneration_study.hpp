#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/knowledge/synthetic.hpp"
#include "traces/measured/prirect_interpolation.hpp"
#include "traces/profile_csv.hpp"

/// PriRecT Table II beside ours, and what the papers say of the quality of synthetic data.
///
/// The test behind the table (fig. 1): samples between the measured points, those blinded and
/// regenerated from the samples. What else it takes to get the printed numbers, each shown by a
/// variant below that does without:
///
/// - Rows run from the largest batch size to the smallest. Only the order-2 spline can tell, and only
///   ImageSeg's, which the samples list the other way round.
/// - Linear interpolation holds the outermost sample at the outermost points.
/// - Samples are neither clipped nor cut before they serve as pseudo ground truth: a polynomial
///   through cut ones misses by percentage points, and the table prints 1E-11.
/// - **The values at batch sizes 256 and 128 stand exchanged** in the list that the regenerated ones
///   are compared with. Hence the table's RMSE / MAE = sqrt(5/2) for either polynomial, which in truth
///   regenerates all points, and the 1E-11 exactly where the two values are equal or 128 was not
///   measured (DCGAN).
/// - MobileNet's MaGTSAMP at batch size 1024 is 30.06 (kTableTwoMobileNetMagtsamp).
namespace corun {

struct TableTwoVariant {
  bool falling = true;    ///< rows by falling batch size; else in the samples' order
  bool exchanged = true;  ///< compared with the values at 256 and 128 exchanged
  bool retyped = true;    ///< MobileNet's 30.06 for 30.6
  bool cut = false;       ///< samples clipped, and cut after two decimals, before they are used
};

/// One printed number and ours.
struct TableTwoCell {
  std::string_view technique;
  std::string_view workload;
  std::size_t attribute = 0;
  bool mae = false;          ///< else the RMSE
  std::string_view printed;  ///< empty: the table prints nothing
  double ours = 0;
  bool agrees = false;     ///< to the printed digits, cut or rounded
  bool noise = false;      ///< agrees in that neither is more than rounding (below kNoise)
  std::string_view cause;  ///< why it cannot agree, where that is known
};

/// Errors below this are rounding, of a size that depends on the order of operations [points].
inline constexpr double kNoise = 1e-8;

struct Share {
  std::size_t agreeing = 0;
  std::size_t printed = 0;
};

struct TableTwo {
  std::vector<TableTwoCell> cells;  ///< in table order; per attribute RMSE, then MAE
  Share total() const;
  Share of(std::string_view technique) const;
};

/// InputError when the table lacks a point of the recipe, as paper_series().
TableTwo prirect_table_two(const ProfileTable& table, const TableTwoVariant& variant = {});

/// Whether `ours` is what `printed` ("2.25", "5.1E-6") says, cut or rounded to its digits.
/// std::invalid_argument when it is no number.
bool agrees_as_printed(std::string_view printed, double ours);

/// The claim of PriRecT fig. 3: by krogh, MobileNet's MGUP is regenerated badly from few samples, well
/// from some and badly from many.
struct BellClaim {
  std::vector<VolumeQuality> curve;  ///< 1 .. 20 samples between neighbours
  int best = 0;                      ///< between neighbours, where the RMSE is least
  /// The best is neither end of the curve, and both ends are above it by kSameRmse or more.
  bool holds = false;
};

BellClaim krogh_bell(const ProfileTable& table, const GenerationOptions& samples);

/// The technique of least RMSE (JRS fig. 2, which prints no numbers).
struct LeastRmse {
  std::string_view workload;
  std::size_t attribute = 0;
  std::array<double, 6> rmse{};  ///< in table order
  Technique best = Technique::kLinear;
  bool tied = false;         ///< another comes within kSameRmse
  std::string_view samples;  ///< the technique that made the authors' samples
  /// `best` made them; the two forms of the polynomial count as one.
  bool as_samples = false;
};

/// By workload and attribute, over the same test.
std::vector<LeastRmse> least_rmse(const ProfileTable& table, const TableTwoVariant& variant);

/// By workload: least mean RMSE over the three attributes, one technique for all of them.
struct LeastMeanRmse {
  std::string_view workload;
  Technique best = Technique::kLinear;
  double rmse = 0;  ///< mean over the attributes
};

std::vector<LeastMeanRmse> least_mean_rmse(const std::vector<LeastRmse>& by_attribute);

}  // namespace corun
