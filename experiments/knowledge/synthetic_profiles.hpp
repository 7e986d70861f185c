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
#include "traces/profile_csv.hpp"

/// Tables of profiles amplified with synthetic ones between them (PriRecT and JRS, section III-C):
/// the authors' own 175 samples, and the same for any table.
namespace corun {

/// MGUP, MGMAP and MaGTSAMP of a profile, in the order of kAttributeNames.
inline constexpr std::array<std::optional<double> Profile::*, kProfileAttributes> kAttributes{
    &Profile::gpu_util_pct, &Profile::mem_alloc_pct, &Profile::mem_time_pct};

/// One measured or synthetic profile. A synthetic one is marked `imputed`, has no true memory demand,
/// and lacks the attributes that its workload has no measured values of on both sides.
struct ProfileSample {
  std::string model;
  std::optional<double> batch_size;
  bool measured = true;
  Profile profile;
};

/// By what a column of a workload's samples was generated.
struct ColumnTechnique {
  std::string model;
  std::size_t attribute = 0;
  Technique technique = Technique::kLinear;
};

struct AmplifiedProfiles {
  std::vector<ProfileSample> samples;
  std::vector<ColumnTechnique> columns;
  std::vector<std::string> notes;  ///< one line each: what a user should know
};

/// A workload's measured points by the authors' recipe, in their row order.
struct PaperSeries {
  std::vector<std::size_t> jobs;  ///< rows of the table
  std::vector<double> rows;       ///< position on the authors' grid, 0 .. 20
  std::vector<double> synthetic;  ///< rows without a measurement
  std::array<std::vector<double>, kProfileAttributes> values;  ///< by attribute [%]
};

/// InputError "SOURCE: ..." when the table lacks a workload, a batch size or a value that the recipe
/// needs, or has it twice. Workloads are known by the data set's names or the paper's; blanks, case
/// and punctuation do not matter.
PaperSeries paper_series(const ProfileTable& table, const PaperSyntheticRecipe& recipe);

/// The 175 samples that the authors clustered, in their order: workloads, then rows. With `published`,
/// the values that their recipe does not give are those they list, and `notes` names each with its
/// cause; without, all are the recipe's. Errors as paper_series().
AmplifiedProfiles paper_samples(const ProfileTable& table, bool published);

/// What a workload's points are laid out along.
enum class SampleAxis {
  kRow,            ///< equally far apart, largest batch size first: the authors' choice
  kBatchSize,      ///< by batch size
  kLog2BatchSize,  ///< by its logarithm
};

struct AmplifyOptions {
  /// Empty: per workload and attribute the one of least RMSE in the blind test, the papers' rule.
  /// With as many samples as points or more that is always the polynomial (see regenerate()), which
  /// overshoots; pchip never leaves the values on either side.
  std::optional<Technique> technique = Technique::kPchip;
  SampleAxis axis = SampleAxis::kRow;
  int between = 4;  ///< samples between neighbouring batch sizes, 0 to 100; 4 as the papers
  GenerationOptions values{true, 2, Rounding::kNearest};
};

/// Per workload (rows of one model name, whatever the data set and the epochs), in the order they are
/// first met: its profiles by falling batch size, and between each two of them `between` synthetic
/// ones. Their batch sizes are equally spaced (by logarithm on kLog2BatchSize) and rounded to whole
/// numbers; those that would fall on a neighbour are left out and counted in `notes`. Jobs without
/// model or batch size, and workloads of one point, pass unchanged, at the end and in place.
///
/// InputError for options out of bounds, two profiles of a workload at one batch size, batch sizes
/// that are not above 0, and values that overflow.
AmplifiedProfiles amplify_profiles(const ProfileTable& table, const AmplifyOptions& options);

}  // namespace corun
