#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sweep/sweep_journal.hpp"
#include "experiments/sweep/sweep_plan.hpp"
#include "models/scoring/device.hpp"

/// Many configurations, each over many seeds, on all threads (docs/sweeps.md).
namespace corun {

/// One of `of` equal parts of a sweep, counted from 1. Points are dealt in turn; where there are
/// fewer than four for each part, replications are.
struct SweepShard {
  std::size_t number = 1;
  std::size_t of = 1;

  bool holds(const SweepPlan& plan, const SweepUnit& unit) const {
    if (plan.points() >= 4 * of) return unit.point % of == number - 1;
    return (unit.point + unit.replication) % of == number - 1;
  }
};

struct SweepOptions {
  unsigned threads = 1;
  SweepShard shard;
  std::string data_directory;      ///< as for Experiment
  std::shared_ptr<Device> device;  ///< where large batches of pairs are scored; null: the processor
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: the runs in hand are dropped
  /// Called once per finished replication, one call at a time.
  std::function<void(std::size_t finished, std::size_t total)> on_finished;
};

struct SweepOutcome {
  std::size_t finished = 0;  ///< replications of this shard that the journal holds now
  std::size_t total = 0;     ///< replications of this shard
  bool interrupted() const { return finished < total; }
};

/// The sweep as a part of it must agree with the others.
SweepIdentity sweep_identity(const SweepPlan& plan);

/// Throws InputError when the journal is of another sweep, of another corun, or when a file that
/// was read has changed since.
void check_resumable(const SweepJournalIndex& journal, const SweepPlan& plan);

/// The points whose experiments are built and tried before the first point runs: all of `points` up to
/// 16; of more those at which a key has a value for the first time, for each key at most 50, and of more
/// numbers than that the least and the greatest. What goes wrong only where two values meet is then told
/// when the sweep comes to it.
std::vector<std::size_t> points_to_check(const SweepPlan& plan,
                                         const std::vector<std::size_t>& points);

/// Runs what the journal does not hold yet. `done` is what was read of it before, if it was there.
///
/// Each thread takes the next point, reads what it needs and runs its replications; when no point
/// is left, threads take replications from points that others have begun. So nobody waits while there is
/// work, and the end waits for one replication at most. Points that read the same trace share it
/// (InputCache). Results do not depend on who ran what. Throws what points_to_check() or a replication
/// throws; for an InputError the point is named.
SweepOutcome run_sweep(const SweepPlan& plan, SweepJournalWriter& journal,
                       const SweepJournalIndex* done, const SweepOptions& options);

}  // namespace corun
