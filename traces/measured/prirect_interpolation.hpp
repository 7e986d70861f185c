#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

/// How PriRecT made its synthetic samples, and their printed quality: section III-C and Table II, and the
/// recipe of the 175 samples (46 measured, 129 synthetic) that the authors clustered.
///
/// The recipe is not printed. It follows from the samples: every synthetic value is the value of the named
/// curve over the row number 0 .. 20 through the measured rows, limited to 100 and cut after two decimals.
/// `prirect_odd_samples` lists the exceptions.
namespace corun::inline traces {

/// MGUP, MGMAP and MaGTSAMP, in the order of Table II; see Profile for what they are.
inline constexpr std::size_t kProfileAttributes = 3;
inline constexpr std::array<std::string_view, kProfileAttributes> kAttributeNames{"MGUP", "MGMAP",
                                                                                  "MaGTSAMP"};

/// One cell of Table II as printed, e.g. "5.1E-6", which shows its precision; empty if the table prints
/// nothing. Percentage points.
struct PaperRegenerationScore {
  std::string_view rmse;
  std::string_view mae;
};

/// One row: one technique, one workload.
struct PaperRegenerationRow {
  std::string_view technique;  ///< as corun calls it: "linear", "barycentric", ...
  std::string_view workload;   ///< the paper's name, e.g. "ImageSeg"
  std::array<PaperRegenerationScore, kProfileAttributes> attributes;
};

/// A cell that is impossible or an obvious misprint.
struct PaperMisprint {
  std::string_view technique;
  std::string_view workload;
  std::size_t attribute = 0;
  bool mae = false;        ///< else the RMSE
  std::string_view cause;  ///< shown to users
};

/// Rows of a workload on the authors' grid.
inline constexpr std::size_t kGridRows = 21;

/// Recipe of the samples of one workload.
struct PaperSyntheticRecipe {
  std::string_view workload;
  std::string_view data_set_model;         ///< its name in the data set
  std::array<int, kGridRows> batch_sizes;  ///< by row
  std::array<bool, kGridRows> measured;    ///< by row; the others are synthetic
  std::array<std::string_view, kProfileAttributes> techniques;  ///< by attribute
};

/// A value among the 175 that is neither measured nor follows from the recipe.
struct PaperOddSample {
  std::string_view workload;
  int batch_size = 0;
  std::size_t attribute = 0;
  double value = 0;  ///< as listed [%]
  std::string_view cause;
};

/// A workload with a single measured point: no series, no synthetic samples.
struct PaperSinglePoint {
  std::string_view workload;
  std::string_view data_set_model;
  int batch_size = 0;
};

/// Table II: six techniques by eight workloads, 288 cells, in table order.
std::span<const PaperRegenerationRow> prirect_regeneration();
std::span<const PaperMisprint> prirect_misprints();

/// The eight workloads with a series, in the order of the 175 samples.
std::span<const PaperSyntheticRecipe> prirect_recipes();
std::span<const PaperOddSample> prirect_odd_samples();
/// The seven small BERTs; among the 175 samples they follow InceptionV3.
std::span<const PaperSinglePoint> prirect_single_points();

/// MobileNet's MaGTSAMP at batch size 1024 in the computation of Table II [%]. The data set and the samples
/// have 30.6. The four cells that depend on it (linear and order-2 spline) fit any value from 30.03 to
/// 30.06; this one is 30.6 with a zero too many.
inline constexpr double kTableTwoMobileNetMagtsamp = 30.06;

}  // namespace corun::inline traces
