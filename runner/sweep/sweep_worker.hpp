#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runner/sweep/sweep.hpp"
#include "runner/sweep/sweep_store.hpp"

/// A worker of a sweep in a store: it takes a chunk that is neither finished nor claimed, runs it, writes it, and goes on
/// until all are finished.
namespace corun::inline runner {

struct SweepWorkerOptions {
  SweepOptions sweep;   ///< shard and range are not used
  std::string worker;   ///< a name that no other worker has, without '.', ' ' and '/'
  std::string scratch;  ///< a directory of this machine for the journal of the chunk
  double lapse_s = 60;  ///< a claim that has not changed for so long has lapsed
  /// Called after each chunk and while waiting, with the finished chunks of all workers.
  std::function<void(std::size_t finished, std::size_t total)> on_progress;
};

struct SweepWorkerOutcome {
  std::size_t chunks = 0;           ///< that this worker finished
  std::size_t units = 0;            ///< of these
  std::size_t done_before = 0;      ///< chunks that another worker finished while this one ran them
  bool interrupted = false;         ///< before all chunks were finished
  std::vector<SweepNote> failures;  ///< of policies that broke a rule, in these chunks
};

/// How many units take about `seconds` of the processor's time by thread, by units from the first on that this runs and drops; at least 1, at most all. Of
/// the options the worker's name and scratch directory and `sweep` are used.
std::size_t units_that_take(double seconds, const SweepPlan& plan, const SweepUnits& units,
                            const SweepWorkerOptions& options);

/// Whether a claim has lapsed goes by this machine's steady clock alone: it must not have changed since the worker saw it
/// first. A worker that was stopped for longer finds its chunk taken by another; both write the same bytes. InputError as
/// run_sweep() and the store, and for a chunk of other bytes than the store has.
SweepWorkerOutcome run_worker(const SweepPlan& plan, const SweepStore& store,
                              const SweepWorkerOptions& options);

}  // namespace corun::inline runner
