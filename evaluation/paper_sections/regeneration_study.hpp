#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/knowledge/synthetic.hpp"
#include "traces/measured/prirect_interpolation.hpp"
#include "traces/tables/profile_csv.hpp"

/// Recomputes PriRecT Table II and checks the papers' claims on the quality of synthetic data.
///
/// The test of the table (fig. 1): synthetic samples between the measured points; the points are then blinded
/// and regenerated from the samples. The printed numbers need further assumptions. A variant below shows the
/// effect of all but the second:
///
/// - Rows run from the largest batch size to the smallest. This affects only the order-2 spline of ImageSeg,
///   whose samples are in the opposite order.
/// - Linear interpolation gives the outermost points the value of the outermost sample.
/// - Samples are neither clipped nor cut before they serve as pseudo ground truth: a polynomial through cut
///   samples misses by percentage points, and the table prints 1E-11.
/// - **The values at batch sizes 256 and 128 are exchanged** in the list that the regenerated values are
///   compared with. This explains the table's RMSE / MAE = sqrt(5/2) for either polynomial, although both
///   regenerate all points, and the 1E-11 exactly where the two values are equal or 128 was not measured
///   (DCGAN).
/// - MobileNet's MaGTSAMP at batch size 1024 is 30.06 (kTableTwoMobileNetMagtsamp).
namespace corun::inline evaluation {

struct TableTwoVariant {
  bool falling = true;    ///< rows by falling batch size; false: in the samples' order
  bool exchanged = true;  ///< compared with the values at 256 and 128 exchanged
  bool retyped = true;    ///< MobileNet's 30.06 for 30.6
  bool cut = false;       ///< samples clipped, and cut after two decimals, before they are used
};

/// One printed number and corun's.
struct TableTwoCell {
  std::string_view technique;
  std::string_view workload;
  std::size_t attribute = 0;
  bool mae = false;          ///< false: the RMSE
  std::string_view printed;  ///< empty: the table prints nothing
  double ours = 0;           ///< percentage points
  bool agrees = false;       ///< to the printed digits, cut or rounded
  bool noise = false;        ///< agrees because both are rounding errors (below kNoise)
  std::string_view cause;    ///< the reason why it cannot agree, if known
};

/// Errors below this are rounding errors, which depend on the order of operations [percentage points].
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

/// Throws InputError as paper_series(), if the table lacks a point of a recipe.
TableTwo prirect_table_two(const ProfileTable& table, const TableTwoVariant& variant = {});

/// Whether `ours`, cut or rounded to the digits of `printed` ("2.25", "5.1E-6"), equals it. Throws
/// std::invalid_argument if `printed` is no number.
bool agrees_as_printed(std::string_view printed, double ours);

/// The claim of PriRecT fig. 3: krogh regenerates MobileNet's MGUP badly from few samples, well from some and
/// badly from many.
struct BellClaim {
  std::vector<VolumeQuality> curve;  ///< 1 .. 20 samples between neighbours
  int best = 0;                      ///< samples between neighbours at the least RMSE
  /// The RMSE at both ends of the curve is above the least by kSameRmse or more.
  bool holds = false;
};

/// `samples`: whether synthetic samples are clipped and cut. Throws InputError as paper_series().
BellClaim krogh_bell(const ProfileTable& table, const GenerationOptions& samples);

/// The technique of least RMSE (JRS fig. 2, which prints no numbers).
struct LeastRmse {
  std::string_view workload;
  std::size_t attribute = 0;
  std::array<double, 6> rmse{};  ///< in table order
  Technique best = Technique::kLinear;
  bool tied = false;         ///< another technique is within kSameRmse
  std::string_view samples;  ///< the technique that made the authors' samples
  /// `best` made the samples; the two forms of the polynomial count as one.
  bool as_samples = false;
};

/// One entry per workload and attribute, over the same test. Throws InputError as paper_series().
std::vector<LeastRmse> least_rmse(const ProfileTable& table, const TableTwoVariant& variant);

/// The technique of least mean RMSE over the three attributes of a workload.
struct LeastMeanRmse {
  std::string_view workload;
  Technique best = Technique::kLinear;
  double rmse = 0;  ///< mean over the attributes
};

std::vector<LeastMeanRmse> least_mean_rmse(const std::vector<LeastRmse>& by_attribute);

}  // namespace corun::inline evaluation
