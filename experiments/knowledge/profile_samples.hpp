#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/knowledge/synthetic_profiles.hpp"
#include "traces/profile_csv.hpp"

/// Profiles to cluster: those of a table that have all three features, with synthetic ones between them
/// where asked (PriRecT and JRS, section III-C).
namespace corun {

struct SampleOptions {
  std::string synthetic = "none";  ///< one of synthetic_choices()
  SampleAxis axis = SampleAxis::kRow;
  int between = 4;  ///< synthetic profiles between each two measured ones
};

/// none, paper, best, then the techniques by name.
std::vector<std::string_view> synthetic_choices();

/// Profiles to cluster; vectors of one length. Names, models and batch sizes serve output only.
struct SampleSet {
  std::vector<std::string> names;  ///< "DCGAN-205", or as the table calls a measured job
  std::vector<Profile> profiles;   ///< all three features known
  std::vector<bool> measured;
  std::vector<WorkloadOrigin> origins;
  std::vector<std::string> notes;  ///< what was left out or is odd, one line each
  std::string source;
};

/// Profiles without all three features are left out, by name, in `notes`. InputError when none is
/// left, and as paper_samples() and amplify_profiles().
SampleSet draw_samples(const ProfileTable& table, const SampleOptions& options);

/// As a table of profiles that read_profile_csv reads.
std::string samples_csv(const SampleSet& samples);

/// The features of all samples, row-major, kFeatures columns.
std::vector<double> feature_rows(const SampleSet& samples);

/// The same in units of their standard deviations; a feature that never varies is 0.
std::vector<double> standardised_rows(const std::vector<double>& rows);

}  // namespace corun
