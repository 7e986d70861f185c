#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "experiments/sweep/sweep.hpp"
#include "experiments/sweep/sweep_journal.hpp"
#include "experiments/sweep/sweep_plan.hpp"

/// Starts, resumes and finishes a sweep: the state that `--resume` finds, the journal during the
/// run, and the results file that replaces the journal (docs/sweeps.md). All functions throw
/// InputError if a file has unexpected contents or cannot be written.
namespace corun {

struct SweepFiles {
  std::string output;   ///< results file of a whole sweep
  std::string journal;  ///< finished replications
  bool shard = false;   ///< one part of a sweep, whose output is the journal
};

SweepFiles sweep_files(const std::string& output, bool shard);

struct SweepStart {
  bool complete = false;                    ///< the results file of this sweep exists
  std::unique_ptr<SweepJournalIndex> done;  ///< earlier journal; null: none

  std::size_t kept() const { return done ? done->units().size() : 0; }  ///< replications
};

/// Checks for files of an earlier run. With `resume` a stopped sweep continues; without, its
/// journal is an error.
SweepStart begin_sweep(const SweepPlan& plan, const SweepFiles& files, bool resume);

/// Runs the replications that the journal lacks; removes a journal that stays empty.
SweepOutcome run_journalled(const SweepPlan& plan, const std::string& journal,
                            const SweepJournalIndex* done, SweepOptions options);

/// Replaces the journal of a finished whole sweep by the results file.
void finish_sweep(const SweepPlan& plan, const SweepFiles& files);

/// Facts of a run of a sweep that are not its result.
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
