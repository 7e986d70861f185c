#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"
#include "sim/speed_table.hpp"
#include "traces/column_rules.hpp"
#include "traces/workload_names.hpp"

/// Measured co-runs of a file, or co-runs to be predicted, as a SpeedTable: the one reader of every CSV form. The forms
/// are recognised by their headers; that of groups stands in group_table.hpp. The others:
///
///   Lucid (RTX 3090), one row per pair, x is a and b:
///     job_x              required; the job
///     solo_gpu_util_x    required; feature gpu_util_pct [%], linear
///     solo_gmem_util_x   required; feature mem_time_pct [%], linear
///     solo_gmem_mib_x    required; feature mem_used_mib [MiB], log
///     norm_x             speed beside the other relative to that alone, 0.001 to 2
///     model_x            required beside norm_x; the family. The own speeds of PPO and TD3 were
///                        imputed: they are read as not measured
///     gpu                optional; the GPU type of the row; empty, unknown or not stated: not known. Without
///                        the column: Lucid's
///     sharing            optional; how the processes of the row share the GPU (sharing.hpp); empty: not known.
///                        Without this column and `gpu`: Lucid's time-slicing. With `gpu` only: not known
///     share_x            optional; feature sm_share_pct, above 0 to 100 [% of the SMs], linear
///     l2_util_x          optional; feature l2_util_pct [%], linear
///     solo_rate_x        optional; feature of this name [samples/s], log
///   Gavel, one row per pair:
///     job_x              required; the job
///     gpu                required; v100, p100 or k80, the same in all rows
///     solo_v100_x, solo_p100_x, solo_k80_x
///                        required; features of these names without _x [1/s], log: the one of `gpu`
///                        first, the others in this order
///     norm_x             as above
///     family_x           required beside norm_x; the family
///     failed             1: the pair does not fit, and its speeds are not measured; else 0
///     sharing            as above; without the column: Gavel's MPS
///   Pairs without profiles, one row per pair:
///     job_x, norm_x      required; as above
///     model_x, gpu, sharing
///                        optional; as above; without the column: not known
///   corun's own co-runs (corun_csv.hpp), two rows per pair:
///     features gpu_util_pct, mem_alloc_pct, mem_time_pct (linear) and mem_used_mib (log): means of the
///     known values over a job's sessions. Speeds by DESIGN section 3: with i the first to
///     end, s_i = J_a(i) / J_c(i) and s_j = (J_a(j) - (J_c(j) - J_c(i))) / J_c(i). Groups of more
///     than two are left out of the speeds and counted.
///
/// Each GPU type with each sharing mode is a campaign (SpeedTable::Campaign); Gavel's form has one GPU type per file.
///
/// Without norm_a and norm_b a table is one to predict: no speed is known, and families are optional. All
/// other columns are ignored: names, models, data sets, batch sizes, solo speeds and all values derived
/// from the outcome are no features. An empty field of a feature or a speed, and 0 for a feature on a log
/// scale, mean "not known". A job has one family, the same in every row, and one set of features, the same in every
/// row of a campaign; where campaigns differ, the first known value stays.
namespace corun::inline traces {

enum class MeasurementForm : std::uint8_t {
  kCoruns,  ///< corun's own co-runs, with run times
  kLucid,
  kGavel,
  kSpeedPairs,  ///< speeds alone, without profiles of the jobs
  kGroups,      ///< of two jobs and more (group_table.hpp)
  kRates,       ///< Gavel's rates, no CSV (gavel_throughputs.hpp)
};

/// The form of a file by its first bytes. A CSV file needs a column that only one form has; what else it needs, its
/// reader tells. Nothing for another file, for a pipe and for a file that cannot be read.
std::optional<MeasurementForm> measurement_form(const std::string& path);

/// What read_measurements() makes of corun's own co-runs.
enum class CorunsAs : std::uint8_t {
  kSpeeds,  ///< `speeds` of the pairs
  kRuns,    ///< `runs` of groups of any size, as measured; no speeds
};

struct Measurements {
  SpeedTable speeds;  ///< jobs, rows and groups in file order
  /// Of speeds.campaigns: the form of the file that measured it.
  std::vector<MeasurementForm> forms = std::vector<MeasurementForm>(1);
  std::vector<std::string> names;             ///< of speeds.jobs
  std::vector<std::string> families;          ///< of speeds.jobs; empty text if not known
  std::vector<bool> scored;                   ///< of speeds.rows: both speeds were measured
  std::vector<std::array<double, 2>> solo_s;  ///< J_a of speeds.rows [s]; NaN: not in the file
  /// Pairs that were seen not to fit on one GPU, as positions in speeds.jobs; their speeds are NaN.
  std::vector<std::array<std::uint32_t, 2>> misfits = {};
  std::vector<CorunMeasurement> runs = {};  ///< with CorunsAs::kRuns, in file order
  /// The file has columns of speeds, a table of groups has a speed; else a table to predict.
  bool has_speeds = false;
  std::string gpu;  ///< GPU type of all rows and groups; empty: not known, or several
  std::string
      sharing;  ///< the file's words for the sharing mode of all rows; empty: none, or several
  std::size_t passed_over = 0;  ///< groups of more than two jobs, which `speeds` lacks

  /// Where the prediction of a line of a table of groups stands.
  struct Line {
    std::size_t group = 0;   ///< position in speeds.groups, or in speeds.rows if is_pair
    std::size_t member = 0;  ///< of the group
    bool is_pair = false;
  };
  std::vector<Line> lines = {};     ///< of a table of groups, in file order; else none
  std::vector<std::string> header;  ///< as read; empty for *.corun.csv
  /// Of speeds.rows, or of `lines`, as read; empty for *.corun.csv.
  std::vector<std::vector<std::string>> fields;
  std::string source;                   ///< the file's name in messages
  std::vector<std::string> notes = {};  ///< of what is doubtful, for the user

  /// Whether something was measured that a model learns from: both speeds of a pair, some of a group, or a run.
  bool is_measured() const;
};

/// InputError "FILE:LINE:COLUMN: ..." for anything that its form excludes, for a file without co-runs and for shares of
/// time that are fractions, not percentages. With CorunsAs::kSpeeds a *.corun.csv is opened twice and cannot be a pipe. A
/// job of a table of groups is named with its sharing mode, but in the mode `plain`.
Measurements read_measurements(const std::string& path, WorkloadKeys& keys,
                               CorunsAs as = CorunsAs::kSpeeds, Sharing plain = Sharing::kUnknown);
/// The same from a stream; `name` stands for the file in messages.
Measurements read_measurements(std::istream& in, const std::string& name, WorkloadKeys& keys,
                               CorunsAs as = CorunsAs::kSpeeds);

/// Whether two values of a feature differ by rounding only.
inline bool same_feature(double a, double b) {
  return std::fabs(a - b) <= kFeatureTolerance * std::max(std::fabs(a), std::fabs(b));
}
/// Makes speeds.families of families.
void key_families(Measurements& table);

}  // namespace corun::inline traces
