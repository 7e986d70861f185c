#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "models/scoring/device.hpp"
#include "policies/catalog.hpp"
#include "results/export/slurm_script.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/sweep/sweep.hpp"
#include "runner/sweep/sweep_answers.hpp"
#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_output.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "runner/sweep/sweep_resume.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"
#include "support/statistics/metric_choice.hpp"

/// `corun sweep`: runs many configurations and answers questions about the results.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

using Journals = std::vector<std::unique_ptr<SweepJournalIndex>>;

/// The options of one invocation.
struct SweepRequest {
  CommonOptions common;
  po::variables_map values;

  std::optional<std::string> given(const char* key) const {
    if (values.count(key) == 0) return std::nullopt;
    return values[key].as<std::string>();
  }
  bool flag(const char* key) const { return values.count(key) != 0; }

  /// Prints a line on stderr; a failure to write it is ignored.
  void note(const std::string& text) const {
    if (!common.quiet) std::cerr << text << "\n";
  }
};

/// The file of a whole sweep's results (HDF5), or of a shard's journal.
std::string output_of(const SweepRequest& request, std::string_view format) {
  if (!request.common.output) {
    throw InputError("--output",
                     "a sweep keeps what it finishes in a file; give one, such as "
                     "--output sweep.h5");
  }
  check_name(*request.common.output, "--output", {format});
  return checked_output_path(*request.common.output, "--output");
}

SweepShard shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_integer(std::string_view(text).substr(0, slash));
  const auto of = slash == std::string::npos
                      ? std::optional<std::int64_t>()
                      : parse_integer(std::string_view(text).substr(slash + 1));
  constexpr std::int64_t kShardsMax = 100'000;
  if (!number || !of || *of < 1 || *of > kShardsMax || *number < 1 || *number > *of) {
    throw InputError("--shard", "found '" + printable(text) +
                                    "', expected NUMBER/OF such as 1/4, counted from 1");
  }
  return {static_cast<std::size_t>(*number), static_cast<std::size_t>(*of)};
}

std::string answers_text(Format format, const SweepResults& results, const SweepAnswers& answers) {
  switch (format) {
    case Format::kJson:
      return json_text(answers_json(results, answers));
    case Format::kCsv:
      return answers_csv(results, answers);
    case Format::kTable:
      break;
  }
  return answers_table(results, answers);
}

int answer(SweepRequest& request, const std::string& path) {
  take_format_of_output(request.values, request.common);
  std::vector<Metric> metrics{Metric::kIsd, Metric::kPs, Metric::kJctS, Metric::kMakespanS};
  if (const auto names = request.given("metrics")) {
    metrics = metrics_named(*names, "--metrics", MetricsAllowed::kJudged);
  }
  std::optional<std::string> figure = request.given("figure");
  std::vector<NamedFile> outputs;
  if (figure) outputs.push_back({"--figure", *figure});
  if (request.common.output) outputs.push_back({"--output", *request.common.output});
  check_outputs_differ(outputs, {{"--answers", path}});
  if (figure) {
    check_name(*figure, "--figure", {"svg"});
    checked_output_path(*figure, "--figure");
  }
  check_kind(path, {FileKind::kHdf5}, "results of corun sweep");
  const SweepResults results = read_sweep_results(path);
  const SweepAnswers answers = answer_sweep(results, metrics);
  std::vector<OutputText> files;
  if (figure) files.push_back({"--figure", *figure, answers_figure(results, answers)});
  emit(request.common, answers_text(request.common.format, results, answers), std::move(files));
  return kDone;
}

/// Tells which policies broke a rule, and where; returns the exit code of a command that is done.
int code_of(const std::vector<SweepNote>& failures) {
  for (const SweepNote& failure : failures) {
    std::cerr << fmt::format(
        "error: point {}{}: {}\n", failure.first_point,
        failure.points > 1 ? fmt::format(" and {} more", failure.points - 1) : "", failure.text);
  }
  return failures.empty() ? kDone : kCheckFailed;
}

int merge(const SweepRequest& request, const std::vector<std::string>& parts) {
  const std::string output = output_of(request, "hdf5");
  std::vector<NamedFile> inputs;
  for (const std::string& part : parts) inputs.push_back({"--merge", part});
  check_outputs_differ({{"--output", output}}, inputs);
  Journals journals;
  for (const std::string& part : parts) {
    journals.push_back(std::make_unique<SweepJournalIndex>(part));
  }
  check_merge(journals, output, request.common.existing);
  const std::size_t missing = write_sweep_results(output, journals, request.flag("partial"));
  const SweepIdentity& identity = journals.front()->identity();
  request.note(fmt::format("{}: {} points, {} replications{}", output, identity.points,
                           identity.replications - missing,
                           missing == 0 ? "" : fmt::format(" ({} missing)", missing)));
  std::map<std::string, std::set<std::size_t>> failed;  // points by reason
  for (const auto& journal : journals) {
    for (const auto& [unit, failures] : journal->failures()) {
      for (const SweepFailure& failure : failures) failed[failure.reason].insert(unit.point);
    }
  }
  std::vector<SweepNote> failures;
  for (const auto& [reason, points] : failed) {
    failures.push_back({reason, points.size(), *points.begin()});
  }
  return code_of(failures);
}

int write_slurm(const SweepRequest& request, const std::string& config, const std::string& into) {
  SlurmSweep sweep;
  std::error_code error;
  sweep.program = fs::read_symlink("/proc/self/exe", error).string();
  if (error) throw InputError("--slurm", "cannot find this program's own path: " + error.message());
  sweep.config = fs::absolute(config).string();
  for (const std::string& text : list_option(request.values, "set")) {
    sweep.options.insert(sweep.options.end(), {"--set", text});
  }
  if (const auto seed = request.given("seed")) {
    sweep.options.insert(sweep.options.end(), {"--seed", *seed});
  }
  if (!request.common.data.empty()) {
    sweep.options.insert(sweep.options.end(),
                         {"--data", fs::absolute(request.common.data).string()});
  }
  fs::create_directories(into, error);
  if (error) throw InputError("--slurm", "cannot make '" + into + "': " + error.message());
  sweep.output = fs::absolute(request.common.output.value_or(into + "/results.h5")).string();
  check_name(sweep.output, "--output", {"hdf5"});
  checked_output_path(sweep.output, "--output");
  sweep.tasks = static_cast<std::size_t>(whole_option(request.values, "tasks", 1, 100'000));
  if (!request.values["threads"].defaulted()) sweep.threads = request.common.threads;
  const std::vector<SlurmFile> scripts = slurm_files(sweep);
  std::vector<OutputText> files;
  for (const SlurmFile& file : scripts) {
    files.push_back({"--slurm", into + "/" + file.name, file.text});
    check_outputs_differ({{"--slurm", files.back().path}}, {{"CONFIG", config}});
  }
  write_outputs(files, request.common.existing);
  for (const SlurmFile& file : scripts) {
    const std::string path = into + "/" + file.name;
    if (file.executable) {
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, error);
    }
  }
  request.note(fmt::format("{}: an array of {} tasks and their merge; submit with {}/submit.sh",
                           into, sweep.tasks, into));
  return kDone;
}

void dump_config(const SweepRequest& request, const SweepPlan& plan) {
  if (!request.flag("point")) {
    std::cout << plan.dump_yaml();
    return;
  }
  const auto point = static_cast<std::size_t>(
      whole_option(request.values, "point", 0, static_cast<std::int64_t>(plan.points()) - 1));
  std::cout << dump_yaml(Experiment(plan.config_of(point), request.common.data).config());
}

/// Runs the sweep with a progress bar.
SweepOutcome run_shown(const SweepRequest& request, const SweepPlan& plan, const SweepStart& start,
                       SweepOptions options) {
  Progress progress("sweeping", request.common.quiet, start.kept());
  options.on_finished = [&](std::size_t finished, std::size_t total) {
    progress.update(finished, total);
  };
  return run_journalled(plan, start, options);
}

/// Prints the notes of the points that ran, each once.
void print_notes(const SweepRequest& request, const SweepOutcome& outcome) {
  constexpr std::size_t kMost = 20;
  for (std::size_t n = 0; n < std::min(outcome.notes.size(), kMost); ++n) {
    const SweepNote& note = outcome.notes[n];
    const std::size_t others = note.points - 1;
    const std::string where = note.points == outcome.points ? ""
                              : others == 0
                                  ? fmt::format("point {}: ", note.first_point)
                                  : fmt::format("point {} and {} other{}: ", note.first_point,
                                                others, others == 1 ? "" : "s");
    request.note("note: " + where + note.text);
  }
  if (outcome.notes.size() > kMost) {
    request.note(
        fmt::format("note: {} more notes; corun sweep --dump-config --point N and corun "
                    "replay show those of a point",
                    outcome.notes.size() - kMost));
  }
}

int run(const SweepRequest& request, const std::string& config) {
  const auto started = std::chrono::steady_clock::now();
  const std::shared_ptr<Device> device = choose_device(request.common.device);
  const SweepPlan plan = SweepPlan::read(config, request.common.overrides, policy_catalog());
  if (request.common.dump_config) {
    dump_config(request, plan);
    return kDone;
  }
  if (const auto directory = request.given("slurm"))
    return write_slurm(request, config, *directory);

  const auto shard = request.given("shard");
  const SweepFiles files =
      sweep_files(output_of(request, shard ? "journal" : "hdf5"), shard.has_value());
  check_outputs_differ({{"--output", files.output}, {"--output", files.output + ".journal"}},
                       {{"CONFIG", config}});
  SweepOptions options;
  options.threads = request.common.threads;
  options.data_directory = request.common.data;
  options.device = device;
  options.files = std::make_shared<InputCache>(options.threads);
  options.stop = &interrupted();
  if (shard) options.shard = shard_of(*shard);

  const SweepStart start = begin_sweep(plan, files, options, request.common.existing);
  if (!start.notice.empty()) request.note("note: " + start.notice);
  if (start.complete) {
    request.note(files.output + ": was complete already; --force repeats it");
    return kDone;
  }
  const SweepOutcome outcome = run_shown(request, plan, start, options);
  print_notes(request, outcome);
  if (outcome.interrupted()) {
    if (start.kept() > 0 || outcome.finished > 0) {
      request.note(
          fmt::format("stopped: {} of {} replications are kept in {}; the same command continues",
                      outcome.finished, outcome.total, files.journal));
    }
    return kInterrupted;
  }
  if (shard) {
    request.note(
        fmt::format("{}: shard {}, {} replications; corun sweep --merge makes results of the "
                    "shards",
                    files.output, *shard, outcome.total));
    return code_of(outcome.failures);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  finish_sweep(plan, files, *start.journal, outcome,
               {start.kept(), options.threads, device->record(), wall.count()});
  if (!device->note().empty()) request.note("note: " + device->note());
  request.note(
      fmt::format("{}: {} points, {} replications in {:.1f} s; corun sweep --answers {} asks it",
                  files.output, plan.points(), outcome.total, wall.count(), files.output));
  return code_of(outcome.failures);
}

/// Refuses options that require or exclude others.
void check_combination(const SweepRequest& request) {
  const auto only = [&](const char* key, const char* with) {
    if (request.values.count(key) == 0 || request.values[key].defaulted() ||
        request.values.count(with) != 0) {
      return;
    }
    throw InputError(std::string("--") + key,
                     std::string("goes with --") + with + " only; see corun sweep --help");
  };
  if (request.flag("resume") && request.common.existing == Existing::kReplace) {
    throw InputError("--force", "begins anew, and --resume continues; leave one of them out");
  }
  only("partial", "merge");
  only("metrics", "answers");
  only("figure", "answers");
  only("tasks", "slurm");
  only("point", "dump-config");
  const std::vector<const char*> modes = {"merge", "answers", "slurm", "shard"};
  const char* first = nullptr;
  for (const char* mode : modes) {
    if (request.values.count(mode) == 0) continue;
    if (first != nullptr) {
      throw InputError(std::string("--") + mode, std::string("does not go with --") + first);
    }
    first = mode;
  }
  const bool needs_config =
      request.values.count("merge") == 0 && request.values.count("answers") == 0;
  if (needs_config != (request.values.count("CONFIG") != 0)) {
    throw InputError("corun sweep",
                     needs_config ? "expected a configuration with a section 'sweep', such as "
                                    "corun sweep examples/sweep.yaml --output sweep.h5"
                                  : "--merge and --answers read files that sweeps have written; "
                                    "leave out CONFIG");
  }
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "sweep";
  command.usage =
      "corun sweep CONFIG --output FILE [options]\n"
      "       corun sweep --merge PART... --output FILE\n"
      "       corun sweep --answers FILE [--metrics isd,ps] [--figure FILE.svg]";
  command.summary =
      "Many configurations, each over many seeds, on all cores. CONFIG is an ordinary "
      "configuration\n"
      "with one more section, 'sweep': a grid, a list, random points or a Latin hypercube of keys "
      "to\n"
      "set. What is finished is kept at once: the same command continues a sweep that was stopped\n"
      "or killed. --shard and --merge split it over machines. The results are the same\n"
      "bytes. --answers: the best configurations and policies, what matters, the Pareto front,\n"
      "which differences are significant (docs/sweeps.md).";
  command.examples =
      "  corun sweep examples/sweep.yaml --output sweep.h5\n"
      "  corun sweep --answers sweep.h5 --figure sweep.svg\n"
      "  corun sweep examples/sweep.yaml --shard 1/2 --output part1\n"
      "  corun sweep examples/sweep.yaml --shard 2/2 --output part2\n"
      "  corun sweep --merge part1 part2 --output merged.h5\n"
      "  corun sweep examples/sweep.yaml --slurm jobs --tasks 16\n"
      "  corun sweep examples/sweep.yaml --dump-config --point 3\n";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("resume", "what happens anyway: a sweep that was stopped continues (for older scripts)");
  add("shard", po::value<std::string>(),
      "NUMBER/OF: one of so many equal parts; --output is then the part's own file");
  add("merge", po::value<std::vector<std::string>>()->multitoken(),
      "make one results file of all parts");
  add("partial", "with --merge: leave out points that are not finished");
  add("slurm", po::value<std::string>(),
      "write scripts for a Slurm cluster into this directory: submit.sh, array.sbatch, "
      "merge.sbatch");
  add("tasks", po::value<std::string>()->default_value("8"), "with --slurm: tasks of the array");
  add("answers", po::value<std::string>(), "answer the usual questions from a results file");
  add("metrics", po::value<std::string>(),
      "with --answers: which metrics (isd,ps,jct_s,makespan_s)");
  add("figure", po::value<std::string>(), "with --answers: draw them into this SVG file");
  add("point", po::value<std::string>(), "with --dump-config: the configuration of this point");
  SweepRequest request;
  auto values = parse_command_line(command, arguments, request.common);
  if (!values) return kDone;
  request.values = std::move(*values);
  check_combination(request);
  if (const auto path = request.given("answers")) return answer(request, *path);
  const std::vector<std::string> parts = list_option(request.values, "merge");
  if (!parts.empty()) return merge(request, parts);
  return run(request, *request.given("CONFIG"));
}

}  // namespace corun::inline cli
