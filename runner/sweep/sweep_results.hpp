#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_plan.hpp"

/// The results file of a sweep: tidy tables in HDF5, the same bytes however the sweep was split,
/// stopped and continued. docs/sweeps.md documents the layout.
namespace corun::inline runner {

inline constexpr int kSweepSchemaVersion = 1;
inline constexpr const char* kSweepResultsKind = "corun sweep";

/// Makes one results file of the journals of a sweep and returns the number of missing
/// replications. `plan`: the sweep's, or null to read it from the journals. Throws InputError,
/// which begins with the journal's path, if journals are of different sweeps, contradict each other
/// or lack replications. Points that stop when they have enough have those that they need (SweepUntil). With `allow_missing`, points that lack replications are left out instead,
/// and attribute `complete` is 0.
std::size_t write_sweep_results(const std::string& path,
                                std::span<const std::unique_ptr<SweepJournalIndex>> journals,
                                bool allow_missing, const SweepPlan* plan = nullptr);

/// A results file as read.
struct SweepResults {
  struct PolicyColumn {
    std::string label;
    bool granted_truth = false;
    /// values[point][replication]; empty for a point that the file lacks or that has no such
    /// policy.
    std::vector<std::vector<MetricValues>> values;
  };

  /// A run in which the policy broke a rule: its values are NaN.
  struct FailedRun {
    std::size_t point = 0;
    std::string label;
    std::size_t replication = 0;
    std::string reason;
  };

  /// A note on the experiments of some points (SweepNote).
  struct Note {
    std::string text;
    std::vector<std::size_t> points;  ///< ascending
  };

  SweepPlan plan;
  bool complete = true;
  std::vector<PolicyColumn> policies;  ///< by label, in the order of their first point
  std::vector<FailedRun> failures;     ///< by point, policy, replication
  std::vector<Note> notes = {};        ///< by first point, then text

  /// The points that the file has, ascending.
  std::vector<std::size_t> points() const;
  /// Of a point; 0 if the file lacks it.
  std::size_t replications(std::size_t point) const;
};

/// Throws InputError, which begins with the path, if the file is no sweep's results, of another
/// schema version, or damaged.
SweepResults read_sweep_results(const std::string& path);

}  // namespace corun::inline runner
