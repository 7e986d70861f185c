#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/knowledge/synthetic.hpp"
#include "sim/profile.hpp"
#include "traces/measured/prirect_interpolation.hpp"
#include "traces/tables/profile_csv.hpp"

/// Tables of profiles with synthetic ones between them (PriRecT and JRS, section III-C): the
/// authors' 175 samples, and the same method for any table.
namespace corun::inline knowledge {

/// MGUP, MGMAP and MaGTSAMP of a profile, in the order of kAttributeNames.
inline constexpr std::array<std::optional<double> Profile::*, kProfileAttributes> kAttributes{
    &Profile::gpu_util_pct, &Profile::mem_alloc_pct, &Profile::mem_time_pct};

/// One measured or synthetic profile. A synthetic profile is marked `imputed`, has no mem_used_mib,
/// and lacks an attribute that has no measured value on both sides.
struct ProfileSample {
  std::string model;
  std::optional<double> batch_size;
  bool measured = true;
  Profile profile;
};

/// The technique that generated one attribute of a workload's synthetic samples.
struct ColumnTechnique {
  std::string model;
  std::size_t attribute = 0;
  Technique technique = Technique::kLinear;
};

struct AmplifiedProfiles {
  std::vector<ProfileSample> samples;
  std::vector<ColumnTechnique> columns;
  std::vector<std::string> notes;  ///< for the user, one line each
};

/// A workload's measured points by the authors' recipe, in the order of its rows.
struct PaperSeries {
  std::vector<std::size_t> jobs;  ///< rows of the table
  std::vector<double> rows;       ///< position on the authors' grid, 0 .. 20
  std::vector<double> synthetic;  ///< rows without a measurement
  std::array<std::vector<double>, kProfileAttributes> values;  ///< by attribute [%]
};

/// InputError "SOURCE: ..." if the table lacks a workload, batch size or value of the recipe, or
/// has a workload and batch size twice. Workloads match by the data set's or the paper's name,
/// regardless of blanks, case and punctuation.
PaperSeries paper_series(const ProfileTable& table, const PaperSyntheticRecipe& recipe);

/// The 175 samples that the authors clustered, in their order: workloads, then rows. With
/// `published`, values that the authors list and their recipe does not give replace those of the
/// recipe, and `notes` names each with its cause. Errors as paper_series().
AmplifiedProfiles paper_samples(const ProfileTable& table, bool published);

/// The axis along which a workload's points lie.
enum class SampleAxis {
  kRow,            ///< equally spaced, largest batch size first: the authors' choice
  kBatchSize,      ///< by batch size
  kLog2BatchSize,  ///< by log2 of the batch size
};

struct AmplifyOptions {
  /// Empty: per workload and attribute the technique of least RMSE in the blind test, the papers'
  /// rule. With at least as many samples as points that is always the polynomial (see
  /// regenerate()), which overshoots; pchip stays between the neighbouring values.
  std::optional<Technique> technique = Technique::kPchip;
  SampleAxis axis = SampleAxis::kRow;
  int between = 4;  ///< samples between neighbouring batch sizes, 0 to 100; 4 as the papers
  GenerationOptions values{true, 2, Rounding::kNearest};
};

/// Per workload (rows of one model name, with any data set and epochs), in order of first
/// appearance: its profiles, largest batch size first, with `between` synthetic ones between each
/// two. The synthetic batch sizes are equally spaced (by logarithm on kLog2BatchSize) and rounded
/// to whole numbers. A sample whose batch size would equal a neighbour's is left out and counted in
/// `notes`. A workload of one point stays unchanged in place; jobs without model or batch size
/// follow unchanged at the end.
///
/// InputError for options out of bounds, two profiles of a workload at one batch size, batch sizes
/// not above 0, and values that overflow.
AmplifiedProfiles amplify_profiles(const ProfileTable& table, const AmplifyOptions& options);

}  // namespace corun::inline knowledge
