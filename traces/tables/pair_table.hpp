#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/speed_table.hpp"
#include "traces/workload_names.hpp"

/// Tables of pairs of jobs, measured or to be predicted, as a SpeedTable. Three forms, recognised by their
/// headers:
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
///   corun's own co-runs (corun_csv.hpp), two rows per pair:
///     features gpu_util_pct, mem_alloc_pct, mem_time_pct (linear) and mem_used_mib (log): means of the
///     known values over a job's sessions. Speeds by DESIGN section 3: with i the first to
///     end, s_i = J_a(i) / J_c(i) and s_j = (J_a(j) - (J_c(j) - J_c(i))) / J_c(i). Groups of more
///     than two are left out and counted.
///
/// Each GPU type with each sharing mode is a campaign (SpeedTable::Campaign); Gavel's form has one GPU type per file.
///
/// Without norm_a and norm_b a table is one to predict: no speed is known, and families are optional. All
/// other columns are ignored: names, models, data sets, batch sizes, solo speeds and all values derived
/// from the outcome are no features. An empty field of a feature or a speed, and 0 for a feature on a log
/// scale, mean "not known". A job has one family, the same in every row, and one set of features, the same in every
/// row of a campaign; where campaigns differ, the first known value stays.
namespace corun::inline traces {

enum class PairForm : std::uint8_t { kCoruns, kLucid, kGavel, kGroups };

struct PairTable {
  SpeedTable speeds;  ///< jobs and rows in file order
  /// Of speeds.campaigns: the form of the file that measured it.
  std::vector<PairForm> forms = std::vector<PairForm>(1);
  std::vector<std::string> names;             ///< of speeds.jobs
  std::vector<std::string> families;          ///< of speeds.jobs; empty text if not known
  std::vector<bool> scored;                   ///< of speeds.rows: both speeds were measured
  std::vector<std::array<double, 2>> solo_s;  ///< J_a of speeds.rows [s]; NaN: not in the file
  bool has_speeds = false;  ///< the file has columns for them; else a table to predict
  std::string gpu;          ///< GPU type of all rows; empty: not known, or several
  std::string
      sharing;  ///< the file's words for the sharing mode of all rows; empty: none, or several
  std::size_t passed_over = 0;                   ///< groups of more than two jobs
  std::vector<std::string> header;               ///< as read; empty for *.corun.csv
  std::vector<std::vector<std::string>> fields;  ///< of speeds.rows, as read; empty for *.corun.csv
  std::string source;                            ///< the file's name in messages
  std::vector<std::string> notes = {};           ///< of what is doubtful, for the user
};

/// InputError "FILE:LINE:COLUMN: ..." for anything that the table above excludes, for a file without pairs
/// and for shares of time that are fractions, not percentages. A *.corun.csv is opened twice and cannot be
/// a pipe.
PairTable read_pair_table(const std::string& path, WorkloadKeys& keys);
/// The same from a stream; `name` stands for the file in messages.
PairTable read_pair_table(std::istream& in, const std::string& name, WorkloadKeys& keys);

/// Whether the first line of a file has a column that only the headers of these three forms have. False for
/// a file that cannot be read.
bool has_pair_header(const std::string& path);
/// Whether it is also a form of one row per pair, and not corun's own co-runs.
bool has_row_per_pair(const std::string& path);

/// Whether two values of a feature differ by rounding only.
bool same_feature(double a, double b);
/// Makes speeds.families of families.
void key_families(PairTable& table);

/// The rows as read, in order, each followed by the predicted speeds pred_norm_a, pred_norm_b and their
/// standard deviations pred_sd_a, pred_sd_b, which is the order within a prediction. NaN is an empty field.
/// A table without fields is written as job_a, job_b, norm_a, norm_b. InputError if a column of these names
/// exists already; std::invalid_argument if there is not one prediction per row.
void write_predictions(std::ostream& out, const PairTable& table,
                       std::span<const std::array<double, 4>> predictions);

}  // namespace corun::inline traces
