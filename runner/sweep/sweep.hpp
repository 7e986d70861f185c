#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/scoring/device.hpp"
#include "runner/inputs/input_cache.hpp"
#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_plan.hpp"

/// Runs many configurations, each with many seeds, on several threads (docs/sweeps.md).
namespace corun::inline runner {

/// One of `of` equal parts of a sweep, counted from 1. Points are assigned in turn; with fewer than
/// four points per part, replications are, unless points stop when they have enough of them.
struct SweepShard {
  std::size_t number = 1;
  std::size_t of = 1;

  bool holds(const SweepPlan& plan, const SweepUnit& unit) const {
    if (plan.points() >= 4 * of || plan.until().any()) return unit.point % of == number - 1;
    return (unit.point + unit.replication) % of == number - 1;
  }
};

/// Consecutive units of a sweep, in order of point and replication: from `first` to before `end`.
struct SweepRange {
  SweepUnit first;
  SweepUnit end;
};

struct SweepOptions {
  unsigned threads = 1;
  SweepShard shard;
  std::optional<SweepRange> range;  ///< these alone
  bool tries_points = true;         ///< before the first one runs
  std::string data_directory;       ///< as in Experiment
  std::shared_ptr<Device> device;   ///< scores large batches of pairs; null: the processor
  /// Of all steps of a sweep, so that its checks and its run read a file and fit a model once; null:
  /// each step has its own.
  std::shared_ptr<InputCache> files;
  const std::atomic<bool>* stop = nullptr;  ///< when set, current replications are dropped
  /// Called once per finished replication, one call at a time.
  std::function<void(std::size_t finished, std::size_t total)> on_finished;

  bool holds(const SweepPlan& plan, const SweepUnit& unit) const {
    return shard.holds(plan, unit) && (!range || (!(unit < range->first) && unit < range->end));
  }
  /// The points that may have units of these: from the first to before the second.
  std::size_t first_point() const { return range ? range->first.point : 0; }
  std::size_t end_point(const SweepPlan& plan) const {
    return range ? std::min<std::size_t>(range->end.point + 1, plan.points()) : plan.points();
  }
};

/// A note on experiments of a sweep: of Experiment::notes(), or one for all overloaded points.
struct SweepNote {
  std::string text;
  std::size_t points = 0;       ///< that it concerns
  std::size_t first_point = 0;  ///< of them
};

struct SweepOutcome {
  std::size_t finished = 0;  ///< replications of this shard that the journal holds now
  std::size_t total = 0;     ///< replications of this shard, as far as is known which are needed
  std::size_t points = 0;    ///< whose replications ran now, in whole or in part
  std::vector<SweepNote> notes;  ///< on these points, by first point, then text
  /// Policies that broke a rule in these replications, by the policy's label and the reason.
  std::vector<SweepNote> failures;
  bool interrupted() const { return finished < total; }
};

/// The identity that all parts of the sweep must share.
SweepIdentity sweep_identity(const SweepPlan& plan);

/// Throws InputError if the journal is of another sweep or another corun, or if an input file has
/// changed since.
void check_resumable(const SweepJournalIndex& journal, const SweepPlan& plan);

/// The input files of the points that points_to_check() selects; builds their experiments.
std::vector<SweepInput> sweep_inputs(const SweepPlan& plan, const SweepOptions& options);

/// The points with finished replications of which the journal names all input files as they are now. A
/// damaged journal may have lost the name of an input, and replications of its other points may have read
/// another version of it. Builds the experiments of all points with finished replications.
std::set<std::uint64_t> points_with_named_inputs(const SweepJournalIndex& journal,
                                                 const SweepPlan& plan,
                                                 const SweepOptions& options);

/// The points whose experiments are built and tried before the first point runs: all of up to 16
/// `points`. Of more points, those at which a key first has a value, at most 50 per key; of a key
/// with more numbers only the least and the greatest. An error that only a combination of values
/// causes is then reported when its point runs.
std::vector<std::size_t> points_to_check(const SweepPlan& plan,
                                         const std::vector<std::size_t>& points);

/// Runs the replications that the journal lacks. `done`: the journal as read before, or null for a
/// new one.
///
/// Each thread takes the next point, builds its experiment and runs its replications. When no point
/// is left, threads take replications from points begun by others, so no thread idles while
/// replications remain. Points that read the same trace or fit the same model share it (InputCache). Results do not
/// depend on the assignment to threads. Throws the exception of a trial or a replication; an
/// InputError names the point.
SweepOutcome run_sweep(const SweepPlan& plan, SweepJournalWriter& journal,
                       const SweepJournalIndex* done, const SweepOptions& options);

}  // namespace corun::inline runner
