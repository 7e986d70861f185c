#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiments/sweep/sweep_journal.hpp"
#include "experiments/sweep/sweep_plan.hpp"

/// The results file of a sweep: HDF5, tidy tables, the same bytes however the sweep was split,
/// stopped and continued. The layout is documented in docs/sweeps.md.
namespace corun {

inline constexpr int kSweepSchemaVersion = 1;

/// Makes one results file of the journals of a sweep. Throws InputError that begins with the
/// journal's path where journals are of different sweeps, disagree, or do not hold every
/// replication together (with `allow_missing`, points that lack some are left out, and attribute
/// `complete` is 0). Gives how many replications are missing. `plan`: where it is at hand, else the
/// journals' own is read.
std::size_t write_sweep_results(const std::string& path,
                                std::span<const std::unique_ptr<SweepJournalIndex>> journals,
                                bool allow_missing, const SweepPlan* plan = nullptr);

/// A results file, read back for its questions.
struct SweepResults {
  struct PolicyColumn {
    std::string label;
    bool granted_truth = false;
    /// values[point][replication]; empty for a point that is not in the file or has no such policy.
    std::vector<std::vector<MetricValues>> values;
  };

  SweepPlan plan;
  bool complete = true;
  std::vector<PolicyColumn> policies;  ///< by label, in the order in which points name them
};

/// Throws InputError that begins with the path: not a sweep's results, of a later corun, damaged.
SweepResults read_sweep_results(const std::string& path);

/// The identity of the sweep whose results lie at `path`; its config is empty where there is no
/// such file or it is no results file of a complete sweep.
SweepIdentity sweep_identity_of_results(const std::string& path);

}  // namespace corun
