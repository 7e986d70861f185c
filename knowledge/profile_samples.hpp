#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/synthetic_profiles.hpp"
#include "traces/tables/profile_csv.hpp"

/// Profiles to cluster: those of a table with all three features and, optionally, synthetic ones
/// between them (PriRecT and JRS, section III-C).
namespace corun::inline knowledge {

struct SampleOptions {
  std::string synthetic = "none";  ///< one of synthetic_choices()
  SampleAxis axis = SampleAxis::kRow;
  int between = 4;  ///< synthetic profiles between each two measured ones
};

/// "none", "paper", "best", then the names of the techniques.
std::vector<std::string_view> synthetic_choices();

/// Profiles to cluster; all vectors but `notes` have one entry per profile. Names, models and batch
/// sizes serve output only.
struct SampleSet {
  std::vector<std::string> names;  ///< "DCGAN-205", or the table's name of a measured job
  std::vector<Profile> profiles;   ///< all three features known
  std::vector<bool> measured;
  std::vector<WorkloadOrigin> origins;
  std::vector<std::string> notes;  ///< omissions and deviations, one line each
  std::string source;
};

/// Profiles that lack a feature are left out and named in `notes`. InputError if none is left, and
/// as paper_samples() and amplify_profiles().
SampleSet draw_samples(const ProfileTable& table, const SampleOptions& options);

/// A table of profiles that read_profile_csv() reads.
std::string samples_csv(const SampleSet& samples);

/// The features of all samples [%], row-major, one row per sample, kFeatures columns.
std::vector<double> feature_rows(const SampleSet& samples);

/// The rows standardised: (value - mean) / standard deviation; a constant feature becomes 0.
std::vector<double> standardised_rows(const std::vector<double>& rows);

}  // namespace corun::inline knowledge
