#include "experiments/sweep/sweep_resume.hpp"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/build_info.hpp"
#include "experiments/base/json.hpp"
#include "experiments/results/results_writer.hpp"
#include "experiments/sweep/sweep_results.hpp"
#include "sim/error.hpp"

namespace corun {

namespace fs = std::filesystem;

namespace {

void remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
}

/// Whether the results file is of this sweep and this corun. Throws InputError if it is of another
/// sweep and would be replaced.
bool is_complete(const SweepPlan& plan, const std::string& output, bool journal_begun) {
  const SweepIdentity now = sweep_identity(plan);
  const SweepIdentity there = sweep_identity_of_results(output);
  if (there.config == now.config && there.commit == now.commit &&
      there.corun_version == now.corun_version) {
    return true;
  }
  if (!there.config.empty() && !journal_begun) {
    throw InputError(kOutputFlag,
                     fmt::format("'{}' holds the results of another sweep, or of another "
                                 "corun; take another --output, or leave --resume out to "
                                 "replace them",
                                 output));
  }
  return false;
}

}  // namespace

SweepFiles sweep_files(const std::string& output, bool shard) {
  return {output, shard ? output : output + ".journal", shard};
}

SweepStart begin_sweep(const SweepPlan& plan, const SweepFiles& files, bool resume) {
  SweepStart start;
  const bool begun = SweepJournalIndex::begun(files.journal);
  if (!begun && resume) remove_file(files.journal);  // truncated within its header
  std::error_code error;
  if (resume && !files.shard && fs::exists(files.output, error)) {
    if (is_complete(plan, files.output, begun)) {
      if (begun) remove_file(files.journal);  // killed before it was removed
      start.complete = true;
      return start;
    }
  }
  if (!begun) return start;
  start.done = std::make_unique<SweepJournalIndex>(files.journal);
  if (!resume) {
    throw InputError(kOutputFlag,
                     fmt::format("'{}' holds {} finished replications of a sweep that "
                                 "was stopped; continue it with --resume, or remove it",
                                 files.journal, start.kept()));
  }
  check_resumable(*start.done, plan);
  return start;
}

SweepOutcome run_journalled(const SweepPlan& plan, const std::string& journal,
                            const SweepJournalIndex* done, SweepOptions options) {
  SweepJournalWriter writer =
      done != nullptr ? SweepJournalWriter::resume(*done, kOutputFlag)
                      : SweepJournalWriter::create(journal, sweep_identity(plan), kOutputFlag);
  bool any = done != nullptr && !done->units().empty();
  const auto told = std::move(options.on_finished);
  options.on_finished = [&](std::size_t finished, std::size_t total) {
    any = true;
    if (told) told(finished, total);
  };
  try {
    const SweepOutcome outcome = run_sweep(plan, writer, done, options);
    if (outcome.interrupted() && !any) remove_file(journal);
    return outcome;
  } catch (...) {
    if (!any) remove_file(journal);  // nothing to keep
    throw;
  }
}

void finish_sweep(const SweepPlan& plan, const SweepFiles& files) {
  std::vector<std::unique_ptr<SweepJournalIndex>> journals;
  journals.push_back(std::make_unique<SweepJournalIndex>(files.journal));
  write_sweep_results(files.output, journals, false, &plan);
  remove_file(files.journal);
}

void write_sweep_run_json(const std::string& output, const SweepOutcome& outcome,
                          const SweepRunInfo& info) {
  Json json;
  json["kind"] = "corun sweep run";
  json["corun_version"] = version();
  json["commit"] = commit();
  json["replications"] = outcome.total;
  json["replications_kept_from_before"] = info.kept_from_before;
  json["wall_s"] = info.wall_s;
  json["threads"] = info.threads;
  json["device"] = info.device;
  write_file_atomically(output + ".run.json", json.dump(2) + "\n");
}

}  // namespace corun
