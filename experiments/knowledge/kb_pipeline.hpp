#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiments/knowledge/knowledge_file.hpp"
#include "experiments/knowledge/synthetic_profiles.hpp"
#include "models/knowledge/clusters.hpp"
#include "sim/measurement.hpp"
#include "traces/profile_csv.hpp"

/// The steps from tables to a knowledge base, as `corun kb build` takes them: profiles -> samples ->
/// clusters -> co-runs learnt. PriRecT section II, JRS section II-A.
namespace corun {

// ---- samples ------------------------------------------------------------------------------------

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

// ---- clusters -----------------------------------------------------------------------------------

struct ClusteringOptions {
  int k = 3;
  int restarts = 200;
  std::uint64_t seed = 1;
  bool standardise = false;
  Uncertainty rule = Uncertainty::kAllCentres;
  std::vector<FeatureVector> start;             ///< Lloyd from here; empty: k-means++
  std::vector<FeatureVector> distance_centres;  ///< empty: the centres found
};

struct ClusteringResult {
  Clusters clusters;
  std::vector<int> labels;  ///< of the samples
  double inertia = 0;       ///< in the unit of the features squared, scaled where standardised
  int iterations = 0;
  bool start_was_fixed = false;
  std::vector<std::string> notes;
};

/// With three clusters and no given start they are numbered as those of the papers that they are
/// nearest to (0 middling, 1 light, 2 heavy). InputError, naming the samples' source, for k above the
/// number of different profiles and for features that never vary under `standardise`.
ClusteringResult cluster_samples(const SampleSet& samples, const ClusteringOptions& options);

/// CSV with the three features as columns, one centre per row.
std::vector<FeatureVector> read_centres_csv(const std::string& path);

// ---- co-runs ------------------------------------------------------------------------------------

struct CorunTable {
  KnowledgeSource source;  ///< its `pairs` are counted when it is learnt
  std::vector<CorunMeasurement> rows;
};

/// Whether `name` is one of the papers' tables: jrs (II and III) or prirect (III and IV).
bool is_corun_table(std::string_view name);
CorunTable read_corun_table(const std::string& name_or_path);

/// Learns a table of co-runs, by the profiles of its jobs; one that is in already is left out. Gives
/// what the user should know, a line each. InputError when nothing in it can be learnt.
std::vector<std::string> learn_table(KnowledgeFile& file, const CorunTable& table);

/// Takes all that `other` has learnt into `file`; notes as learn_table(). InputError, naming
/// `other_name`, when clusters or decay differ or both have learnt from the same file.
std::vector<std::string> merge_knowledge(KnowledgeFile& file, const KnowledgeFile& other,
                                         const std::string& other_name);

// ---- assignment ---------------------------------------------------------------------------------

struct AssignedProfile {
  std::string job;
  bool has_features = false;
  ClusterAssignment assignment;
  int rank_all = 0;  ///< within its cluster, by the sum of the distances; 0 without features
  int rank_own = 0;  ///< within its cluster, by the own distance
};

struct AssignmentTable {
  std::vector<AssignedProfile> rows;
  Uncertainty rule = Uncertainty::kAllCentres;
  std::size_t moved = 0;  ///< profiles whose two ranks differ
};

AssignmentTable assign_profiles(const Clusters& clusters, const ProfileTable& table);
std::string assignment_table(const AssignmentTable& table);
std::string assignment_csv(const AssignmentTable& table);
nlohmann::ordered_json assignment_json(const AssignmentTable& table);

}  // namespace corun
