#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "runner/sweep/sweep.hpp"
#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "support/output_file.hpp"

/// Starts, resumes and finishes a sweep: the state that `--resume` finds, the journal during the
/// run, and the results file that replaces the journal (docs/sweeps.md). All functions throw
/// InputError if a file has unexpected contents or cannot be written.
namespace corun::inline runner {

struct SweepFiles {
  std::string output;   ///< results file of a whole sweep
  std::string journal;  ///< finished replications
  bool shard = false;   ///< one part of a sweep, whose output is the journal
};

SweepFiles sweep_files(const std::string& output, bool shard);

struct SweepStart {
  bool complete = false;                        ///< the results file of this sweep exists
  std::unique_ptr<SweepJournalWriter> journal;  ///< locked; null if complete
  std::unique_ptr<SweepJournalIndex> done;      ///< earlier journal; null: none
  std::string notice;  ///< one line for the user about a damaged journal; usually empty

  std::size_t kept() const { return done ? done->units().size() : 0; }  ///< replications
};

/// Locks the journal, then checks the files of an earlier run: the same sweep continues, or is complete;
/// anything else is an error. A damaged journal is repaired, and a copy kept as `<journal>.damaged`. With
/// `kReplace` the sweep begins anew.
SweepStart begin_sweep(const SweepPlan& plan, const SweepFiles& files, const SweepOptions& options,
                       Existing existing);

/// Throws InputError if the merged journals may not replace the file at `output`: they may if it holds
/// results of the same sweep and inputs, unless these are complete and the journals are not. `partial`: the journals need not
/// be complete.
void check_merge(std::span<const std::unique_ptr<SweepJournalIndex>> journals,
                 const std::string& output, Existing existing, bool partial);

/// Runs the replications that the journal lacks; removes a journal that stays empty.
SweepOutcome run_journalled(const SweepPlan& plan, const SweepStart& start, SweepOptions options);

/// Facts of a run of a sweep that are not its result.
struct SweepRunInfo {
  std::size_t kept_from_before = 0;  ///< replications
  unsigned threads = 1;
  std::string device;
  double wall_s = 0;
};

/// Replaces the journal of a finished whole sweep by the results file and `<output>.run.json`. The journal
/// goes last, so that after a kill the same command finishes all of this.
void finish_sweep(const SweepPlan& plan, const SweepFiles& files, SweepJournalWriter& journal,
                  const SweepOutcome& outcome, const SweepRunInfo& info);

}  // namespace corun::inline runner
