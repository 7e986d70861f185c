#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "experiments/sweep/sweep.hpp"
#include "experiments/sweep/sweep_journal.hpp"
#include "experiments/sweep/sweep_plan.hpp"

/// A sweep from what is there of it to its results file: what `--resume` finds, the journal while it runs,
/// and the file that takes the journal's place (docs/sweeps.md). All throw InputError where a file is not
/// as it should be or cannot be written.
namespace corun {

struct SweepFiles {
  std::string output;   ///< of a whole sweep: the results file
  std::string journal;  ///< what is finished is kept here
  bool shard = false;   ///< of one part: the journal is its output
};

SweepFiles sweep_files(const std::string& output, bool shard);

struct SweepStart {
  bool complete = false;                    ///< the results file is of this very sweep
  std::unique_ptr<SweepJournalIndex> done;  ///< what was finished before; null: nothing

  std::size_t kept() const { return done ? done->units().size() : 0; }  ///< replications
};

/// Looks at what is there. With `resume` a stopped sweep goes on; without, its journal is in the way.
SweepStart begin_sweep(const SweepPlan& plan, const SweepFiles& files, bool resume);

/// Runs what the journal does not hold yet; a journal that holds nothing at its end is removed.
SweepOutcome run_journalled(const SweepPlan& plan, const std::string& journal,
                            const SweepJournalIndex* done, SweepOptions options);

/// Of a whole sweep that has ended: the results file takes the place of the journal.
void finish_sweep(const SweepPlan& plan, const SweepFiles& files);

/// How a sweep went, apart from its result.
struct SweepRunInfo {
  std::size_t kept_from_before = 0;  ///< replications
  unsigned threads = 1;
  std::string device;
  double wall_s = 0;
};

/// Writes `<output>.run.json`.
void write_sweep_run_json(const std::string& output, const SweepOutcome& outcome,
                          const SweepRunInfo& info);

}  // namespace corun
