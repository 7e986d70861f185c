#include "runner/sweep/sweep_resume.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/results_identity.hpp"
#include "results/results_writer.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/build_info.hpp"
#include "support/json.hpp"

namespace corun::inline runner {

namespace {

/// Whether the results file is of this sweep, complete, of this corun and of the inputs of now. Throws
/// InputError if it holds anything else that must stay.
bool is_complete(const SweepPlan& plan, const std::string& output, const SweepOptions& options) {
  if (!is_filled(output)) return false;
  const SweepIdentity now = sweep_identity(plan);
  const auto there = identity_of_results(output);
  if (!there || there->kind != kSweepResultsKind) {
    refuse_existing(output, kOutputFlag,
                    "holds something else than results of a sweep, or damaged ones,");
  }
  if (there->config != now.config) {
    refuse_existing(output, kOutputFlag, "holds the results of another sweep");
  }
  if (!there->complete) return false;
  if (there->commit != now.commit || there->corun_version != now.corun_version) {
    refuse_existing(output, kOutputFlag,
                    fmt::format("holds the results of this sweep by another corun, {} ({}),",
                                there->corun_version, there->commit));
  }
  for (const SweepInput& input : sweep_inputs(plan, options)) {
    if (std::ranges::find(there->inputs, input.entry) != there->inputs.end()) continue;
    refuse_existing(output, kOutputFlag,
                    "holds the results of this sweep with another " + printable(input.found));
  }
  return true;
}

/// Whether the journal is of this sweep, which was killed before it removed the journal.
bool is_journal_of(const SweepPlan& plan, const std::string& journal) {
  try {
    return SweepJournalIndex(journal).identity() == sweep_identity(plan);
  } catch (const InputError&) {
    return false;
  }
}

/// --force drops an earlier journal; earlier results stay until new ones replace them. Throws InputError
/// if one of these files is an input.
void check_outputs_are_no_inputs(const SweepPlan& plan, const SweepFiles& files,
                                 const SweepOptions& options) {
  if (is_filled(files.output) || is_filled(files.journal)) {
    std::vector<NamedFile> inputs;
    for (const SweepInput& input : sweep_inputs(plan, options)) {
      inputs.push_back({"the sweep", input.found});
    }
    for (const std::string& path : {files.output, files.journal, files.output + ".run.json"}) {
      check_outputs_differ({{kOutputFlag, path}}, inputs);
    }
  }
}

/// Continues with the whole records of a damaged journal.
void repair(const SweepPlan& plan, const SweepOptions& options, SweepStart& start) {
  const SweepJournalIndex& damaged = *start.done;
  const std::string aside =
      start.journal->repair(damaged, points_with_named_inputs(damaged, plan, options));
  auto repaired = std::make_unique<SweepJournalIndex>(damaged.path());
  start.notice = fmt::format(
      "{} {}: {} finished replications are used, the others run again; the damaged file is kept as "
      "{}",
      damaged.path(), damaged.damage_text(), repaired->units().size(), aside);
  start.done = std::move(repaired);
}

}  // namespace

SweepFiles sweep_files(const std::string& output, bool shard) {
  return {output, shard ? output : output + ".journal", shard};
}

SweepStart begin_sweep(const SweepPlan& plan, const SweepFiles& files, const SweepOptions& options,
                       Existing existing) {
  SweepStart start;
  start.journal = std::make_unique<SweepJournalWriter>(files.journal, kOutputFlag);
  if (existing == Existing::kReplace) {
    check_outputs_are_no_inputs(plan, files, options);
    return start;
  }
  const bool begun = SweepJournalIndex::begun(files.journal);
  if (!files.shard) {
    check_run_file(files.output, kOutputFlag, existing);
    // The journal goes last: with it, a kill may have come before the run file.
    const bool unfinished = begun && is_journal_of(plan, files.journal);
    if (!unfinished && is_complete(plan, files.output, options)) {
      if (!begun) start.journal->remove();
      start.journal.reset();
      start.complete = true;
      return start;
    }
  }
  if (!begun) return start;  // it was cut within its header: the sweep begins anew
  start.done = std::make_unique<SweepJournalIndex>(files.journal);
  check_resumable(*start.done, plan);
  if (!start.done->damage().empty()) {
    repair(plan, options, start);
  } else if (const std::size_t torn = start.done->file_bytes() - start.done->valid_bytes()) {
    start.notice = fmt::format("{} ends with {} bytes of an unfinished record, which are left out",
                               files.journal, torn);
  }
  return start;
}

void check_merge(std::span<const std::unique_ptr<SweepJournalIndex>> journals,
                 const std::string& output, Existing existing, bool partial) {
  if (existing == Existing::kReplace || !is_filled(output)) return;
  const auto there = identity_of_results(output);
  const SweepIdentity& now = journals.front()->identity();
  if (!there || there->kind != kSweepResultsKind || there->config != now.config) {
    refuse_existing(output, kOutputFlag,
                    "holds something else than results of this sweep, or damaged ones,");
  }
  std::set<std::string> inputs;
  std::set<SweepUnit> units;
  for (const auto& journal : journals) {
    for (const SweepInput& input : journal->inputs()) inputs.insert(input.entry);
    for (const auto& [unit, offset] : journal->units()) units.insert(unit);
  }
  const auto known = [&](const std::string& entry) { return inputs.contains(entry); };
  if (!std::ranges::all_of(there->inputs, known)) {
    refuse_existing(output, kOutputFlag, "holds results of this sweep with other inputs");
  }
  // How many replications there are of points that stop when they have enough, is not known here.
  const bool may_lack = now.as_needed ? partial : units.size() < now.replications;
  if (there->complete && may_lack) {
    refuse_existing(output, kOutputFlag, "holds the complete results of this sweep");
  }
}

SweepOutcome run_journalled(const SweepPlan& plan, const SweepStart& start, SweepOptions options) {
  if (start.done) {
    start.journal->resume(*start.done);
  } else {
    start.journal->begin(sweep_identity(plan));
  }
  bool any = start.kept() > 0;
  const auto told = std::move(options.on_finished);
  options.on_finished = [&](std::size_t finished, std::size_t total) {
    any = true;
    if (told) told(finished, total);
  };
  try {
    const SweepOutcome outcome = run_sweep(plan, *start.journal, start.done.get(), options);
    if (outcome.interrupted() && !any) start.journal->remove();
    return outcome;
  } catch (...) {
    if (!any) start.journal->remove();  // nothing to keep
    throw;
  }
}

namespace {

void write_run_file(const std::string& output, const SweepOutcome& outcome,
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
  write_file_atomically(output + ".run.json", json_text(json));
}

}  // namespace

void finish_sweep(const SweepPlan& plan, const SweepFiles& files, SweepJournalWriter& journal,
                  const SweepOutcome& outcome, const SweepRunInfo& info) {
  std::vector<std::unique_ptr<SweepJournalIndex>> journals;
  journals.push_back(std::make_unique<SweepJournalIndex>(files.journal));
  write_sweep_results(files.output, journals, false, &plan);
  write_run_file(files.output, outcome, info);
  journal.remove();
}

}  // namespace corun::inline runner
