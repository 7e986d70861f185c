#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/profile.hpp"

/// Tables of solo profiles: a profiler's observations of jobs that ran alone, and, separate from them, the
/// origins of those jobs.
///
/// corun's own form is a CSV with a header, one row per job. Columns may stand in any order; an
/// empty field of an optional column means "not known".
///
///   job            required; the job's name, each once
///   gpu_util_pct   profile: maximum GPU utilisation [%], 0 to 100
///   mem_alloc_pct  profile: maximum share of memory reserved [%], 0 to 1000
///   mem_time_pct   profile: maximum share of time memory was accessed [%], 0 to 100
///   mem_used_mib   profile: true memory demand [MiB], 0 or more
///   imputed        1 if the profile stands in for an unpublished one, else 0
///   model          sensitive: name of the trained model
///   dataset        sensitive: its training data
///   epochs         sensitive: above 0
///   batch_size     sensitive: above 0
///   (any other)    an attribute: a number or empty, kept for ranking features
///
/// The header must have the three percentages; their fields may be empty.
/// The other columns of job_csv.hpp and corun_csv.hpp (submit_s, solo_s, workload, cluster, ...) and
/// gpu_type are ignored, so that a trace of jobs is a table of profiles, too.
///
/// Two public forms are read as well, recognised by their headers:
///   Futurewei mini-ML Workload Dataset (PriRecT Table I; 49 jobs)
///     Model and BS name the job ("DCGAN-256") and, with Dataset and Epoch, are its origin; MGUP is
///     gpu_util_pct, MGMAP mem_alloc_pct, MaGTSAMP mem_time_pct. All columns but these four, ID and
///     Run_Env are attributes under their names there: 60. Models are named as in the next form:
///     "Nasnet_Mobile" is NasnetMobile, "small_bert/ bert_en_uncased_L-2_H-128_A-2 " is
///     SmallBERT-L2-H128-A2.
///   the samples that PriRecT's authors clustered (175 rows)
///     job, bs, mgup_pct, mgmap_pct, magtsamp_pct and, optional, is_real: 0 is read as imputed. All
///     other columns are ignored.
///
/// A profile column of three or more values, all of them at most 1 and not all whole, has fractions in
/// place of percentages and is refused.
namespace corun::inline traces {

/// The workload of a profile. Sensitive (PriRecT section I): only for synthetic generation and evaluation.
/// Nothing that clusters, believes or schedules takes this type.
struct WorkloadOrigin {
  std::string model;  ///< empty if not known
  std::string dataset;
  std::optional<double> epochs;
  std::optional<double> batch_size;
};

/// One row per job. `jobs`, `profiles` and `origins` are of one length.
struct ProfileTable {
  std::vector<std::string> jobs;  ///< names in the output; all different
  std::vector<Profile> profiles;
  std::vector<WorkloadOrigin> origins;
  std::vector<std::string> attributes;  ///< the numeric columns, the profile's included, file order
  std::vector<double> values;           ///< jobs x attributes, row-major; NaN if a field is empty
  std::string source;                   ///< the file's name in messages
};

/// Reads a table in one of the three forms above, recognised by its header. Throws InputError
/// "FILE:LINE:COLUMN: ...".
ProfileTable read_profile_csv(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
ProfileTable read_profile_csv(std::istream& in, const std::string& name);

/// Writes corun's own form. Reading it back gives the same table except for `source`, and for a public
/// form's names of the three features: they are written under corun's names. Other columns of the profile
/// and of the origin that are empty in all rows are left out. Names must have no tabs and line breaks, as
/// from every reader; std::invalid_argument if the parts of the table differ in length.
void write_profile_csv(std::ostream& out, const ProfileTable& table);

}  // namespace corun::inline traces
