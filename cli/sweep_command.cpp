#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "models/scoring/device.hpp"
#include "policies/catalog.hpp"
#include "results/export/slurm_script.hpp"
#include "results/export/sweep_launchers.hpp"
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
#include "runner/sweep/sweep_store.hpp"
#include "runner/sweep/sweep_worker.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/objects/object_store.hpp"
#include "support/objects/s3_store.hpp"
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

/// Makes results of journals.
int merge_journals(const SweepRequest& request, const std::string& output,
                   const Journals& journals) {
  check_merge(journals, output, request.common.existing, request.flag("partial"));
  const std::size_t missing = write_sweep_results(output, journals, request.flag("partial"));
  std::set<SweepUnit> units;
  std::map<std::string, std::set<std::size_t>> failed;  // points by reason
  for (const auto& journal : journals) {
    for (const auto& [unit, offset] : journal->units()) units.insert(unit);
    for (const auto& [unit, failures] : journal->failures()) {
      for (const SweepFailure& failure : failures) failed[failure.reason].insert(unit.point);
    }
  }
  request.note(fmt::format("{}: {} points, {} replications{}", output,
                           journals.front()->identity().points, units.size(),
                           missing == 0 ? "" : fmt::format(" ({} missing)", missing)));
  std::vector<SweepNote> failures;
  for (const auto& [reason, points] : failed) {
    failures.push_back({reason, points.size(), *points.begin()});
  }
  return code_of(failures);
}

/// This program, as an absolute path.
std::string own_program(const char* flag) {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) throw InputError(flag, "cannot find this program's own path: " + error.message());
  return path.string();
}

/// The options of this command that decide what a sweep is, for commands on other machines.
std::vector<std::string> options_for_tasks(const SweepRequest& request) {
  std::vector<std::string> options;
  for (const std::string& text : list_option(request.values, "set")) {
    options.insert(options.end(), {"--set", text});
  }
  if (const auto width = request.given("until")) options.insert(options.end(), {"--until", *width});
  if (const auto seed = request.given("seed")) options.insert(options.end(), {"--seed", *seed});
  if (!request.common.data.empty()) {
    options.insert(options.end(), {"--data", fs::absolute(request.common.data).string()});
  }
  return options;
}

/// "4, 7 and 12 more"
std::string some_of(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t kMost = 5;
  const std::size_t shown = std::min(numbers.size(), kMost);
  std::string text = fmt::format(
      "{}", fmt::join(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (numbers.size() > shown) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

/// Makes results of the chunks of a store, by way of a journal.
int merge_store(const SweepRequest& request, const std::string& part) {
  const std::string output = output_of(request, "hdf5");
  const SweepStore store = SweepStore::open(open_object_store(part, "--merge", false));
  const std::string file = output + ".merge.journal";
  SweepJournalWriter journal(file, "--output");
  const std::vector<std::size_t> missing = write_journal(store, journal);
  if (!missing.empty() && !request.flag("partial")) {
    journal.remove();
    throw InputError(
        part,
        fmt::format("{} of {} chunks are not finished ({}); run more workers, or give --partial",
                    missing.size(), store.chunks(), some_of(missing)));
  }
  Journals journals;
  journals.push_back(std::make_unique<SweepJournalIndex>(file));
  try {
    const int code = merge_journals(request, output, journals);
    journal.remove();
    return code;
  } catch (...) {
    journal.remove();
    throw;
  }
}

int merge(const SweepRequest& request, const std::vector<std::string>& parts) {
  std::error_code error;
  const auto is_store = [&](const std::string& part) {
    return is_s3_place(part) || fs::is_directory(part, error);
  };
  if (std::ranges::any_of(parts, is_store)) {
    if (parts.size() == 1) return merge_store(request, parts.front());
    throw InputError("--merge", "a store is merged alone; leave the other parts out");
  }
  const std::string output = output_of(request, "hdf5");
  std::vector<NamedFile> inputs;
  for (const std::string& part : parts) inputs.push_back({"--merge", part});
  check_outputs_differ({{"--output", output}}, inputs);
  Journals journals;
  for (const std::string& part : parts) {
    journals.push_back(std::make_unique<SweepJournalIndex>(part));
  }
  return merge_journals(request, output, journals);
}

/// The sweep of a configuration with the options of the command line.
SweepPlan plan_of(const SweepRequest& request, const std::string& config) {
  std::vector<Override> overrides = request.common.overrides;
  if (const auto width = request.given("until")) {
    overrides.push_back(typed_word("sweep.until.width", *width, "--until"));
  }
  return SweepPlan::read(config, overrides, policy_catalog());
}

/// A name that no other worker has: machine, process and time.
std::string worker_name() {
  std::array<char, 65> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  std::string name(host.data());
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '-');
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}-{}-{:x}", name.substr(0, 40), ::getpid(),
                     std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

int work(const SweepRequest& request, const std::string& config, const std::string& where) {
  const SweepPlan plan = plan_of(request, config);
  SweepWorkerOptions options;
  options.sweep.threads = request.common.threads;
  options.sweep.data_directory = request.common.data;
  options.sweep.device = choose_device(request.common.device);
  options.sweep.files = std::make_shared<InputCache>(options.sweep.threads);
  options.sweep.stop = &interrupted();
  options.worker = worker_name();
  options.scratch = fs::temp_directory_path().string();
  options.lapse_s = static_cast<double>(whole_option(request.values, "lapse", 1, 86'400));
  Progress progress("sweeping", request.common.quiet);
  options.on_progress = [&](std::size_t finished, std::size_t total) {
    progress.update(finished, total);
  };
  const auto chunk_units = [&] {
    if (request.values.count("chunk") != 0) {
      return static_cast<std::size_t>(whole_option(request.values, "chunk", 1, 100'000'000));
    }
    constexpr double kSecondsPerChunk = 4;
    return units_that_take(kSecondsPerChunk, plan, SweepUnits(plan), options);
  };
  const SweepStore store =
      SweepStore::open_for(open_object_store(where, "--worker", true), plan, chunk_units);
  const SweepWorkerOutcome outcome = run_worker(plan, store, options);
  request.note(fmt::format(
      "{}: this worker finished {} of {} chunks{}{}", where, outcome.chunks, store.chunks(),
      outcome.done_before == 0
          ? ""
          : fmt::format(" and {} that others had finished before it", outcome.done_before),
      outcome.interrupted ? "; stopped, the same command continues"
                          : fmt::format("; corun sweep --merge {} --output "
                                        "FILE makes results of them",
                                        where)));
  return outcome.interrupted ? kInterrupted : code_of(outcome.failures);
}

int show_status(const SweepRequest& request, const std::string& where) {
  const SweepStoreStatus status =
      status_of(SweepStore::open(open_object_store(where, "--status", false)));
  if (request.common.format == Format::kJson) {
    Json json;
    json["units"] = status.units;
    json["finished_units"] = status.finished_units;
    json["chunks"] = status.chunks;
    json["finished_chunks"] = status.finished_chunks;
    json["claimed_chunks"] = status.claimed_chunks;
    json["workers"] = status.workers;
    json["left_s"] = json_or_null(status.left_s);
    emit(request.common, json_text(json));
    return kDone;
  }
  emit(request.common,
       fmt::format(
           "{} of {} replications in {} of {} chunks are finished, {} chunks are claimed, {} "
           "workers so far{}\n",
           status.finished_units, status.units, status.finished_chunks, status.chunks,
           status.claimed_chunks, status.workers,
           status.left_s ? fmt::format("; about {:.0f} s left", *status.left_s) : ""));
  return kDone;
}

int write_launcher(const SweepRequest& request, const std::string& config,
                   const std::string& name) {
  const auto entry = std::ranges::find(kLaunchers, name, &LauncherEntry::name);
  if (entry == kLaunchers.end()) {
    std::vector<std::string_view> names;
    for (const LauncherEntry& known : kLaunchers) names.push_back(known.name);
    throw InputError("--launcher", fmt::format("found '{}', expected one of {}", printable(name),
                                               fmt::join(names, ", ")));
  }
  const auto store = request.given("store");
  if (!store) {
    throw InputError("--launcher", "its workers share a folder or a bucket; give it by --store");
  }
  LauncherSweep sweep;
  sweep.program = own_program("--launcher");
  sweep.config = fs::absolute(config).string();
  sweep.options = options_for_tasks(request);
  if (is_s3_place(*store)) {
    sweep.bucket = true;
    sweep.store = *store;
    while (sweep.store.ends_with('/')) sweep.store.pop_back();
    sweep.output = fs::absolute(fs::path(sweep.store).filename()).string() + ".h5";
  } else {
    sweep.store = fs::absolute(*store).lexically_normal().string();
    sweep.output = sweep.store + ".h5";
  }
  sweep.image = *request.given("image");
  sweep.workers = static_cast<std::size_t>(whole_option(request.values, "tasks", 1, 100'000));
  if (!request.values["threads"].defaulted()) sweep.threads = request.common.threads;
  emit(request.common, launcher_text(entry->launcher, sweep));
  return kDone;
}

int write_slurm(const SweepRequest& request, const std::string& config, const std::string& into) {
  SlurmSweep sweep;
  std::error_code error;
  sweep.program = own_program("--slurm");
  sweep.config = fs::absolute(config).string();
  sweep.options = options_for_tasks(request);
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
  const SweepPlan plan = plan_of(request, config);
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
  only("lapse", "worker");
  only("chunk", "worker");
  only("store", "launcher");
  only("image", "launcher");
  only("metrics", "answers");
  only("figure", "answers");
  if (request.values.count("launcher") == 0) only("tasks", "slurm");
  only("point", "dump-config");
  const std::vector<const char*> modes = {"merge",  "answers", "slurm",   "shard",
                                          "worker", "status",  "launcher"};
  const char* first = nullptr;
  for (const char* mode : modes) {
    if (request.values.count(mode) == 0) continue;
    if (first != nullptr) {
      throw InputError(std::string("--") + mode, std::string("does not go with --") + first);
    }
    first = mode;
  }
  const bool needs_config = request.values.count("merge") == 0 &&
                            request.values.count("answers") == 0 &&
                            request.values.count("status") == 0;
  if (!needs_config && request.flag("until")) {
    throw InputError("--until",
                     "goes with CONFIG only: the results have what the sweep was run with");
  }
  if (needs_config != (request.values.count("CONFIG") != 0)) {
    throw InputError("corun sweep",
                     needs_config ? "expected a configuration with a section 'sweep', such as "
                                    "corun sweep examples/sweep.yaml --output sweep.h5"
                                  : "--merge, --answers and --status read what sweeps have "
                                    "written; leave out CONFIG");
  }
}

}  // namespace

int sweep_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "sweep";
  command.usage =
      "corun sweep CONFIG --output FILE [options]\n"
      "       corun sweep CONFIG --worker STORE\n"
      "       corun sweep --merge PART... --output FILE\n"
      "       corun sweep --answers FILE [--metrics isd,ps] [--figure FILE.svg]";
  command.summary =
      "Many configurations, each over many seeds, on all cores. CONFIG is an ordinary "
      "configuration\n"
      "with one more section, 'sweep': a grid, a list, random points or a Latin hypercube of keys "
      "to\n"
      "set. What is finished is kept at once: the same command continues a sweep that was stopped\n"
      "or killed. --worker splits it over machines, in chunks that any number of workers take from "
      "a\n"
      "folder or a bucket; --shard splits it in fixed parts. The results of --merge are the same "
      "bytes. "
      "--answers: the best configurations and policies, what matters, the Pareto front,\n"
      "which differences are significant (docs/sweeps.md).";
  command.examples =
      "  corun sweep examples/sweep.yaml --output sweep.h5\n"
      "  corun sweep --answers sweep.h5 --figure sweep.svg\n"
      "  corun sweep examples/sweep.yaml --shard 1/2 --output part1\n"
      "  corun sweep examples/sweep.yaml --shard 2/2 --output part2\n"
      "  corun sweep --merge part1 part2 --output merged.h5\n"
      "  corun sweep examples/sweep.yaml --worker store\n"
      "  corun sweep --status store\n"
      "  corun sweep --merge store --output merged.h5\n"
      "  corun sweep examples/sweep.yaml --launcher slurm --store store --output workers.sbatch\n"
      "  corun sweep examples/sweep.yaml --slurm jobs --tasks 16\n"
      "  corun sweep examples/sweep.yaml --dump-config --point 3\n";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("resume", "what happens anyway: a sweep that was stopped continues (for older scripts)");
  add("until", po::value<std::string>(),
      "stop a point when its intervals are narrow enough: half of each at most this share of the "
      "mean, such as 0.05; 'replications' is then the most (docs/sweeps.md)");
  add("shard", po::value<std::string>(),
      "NUMBER/OF: one of so many equal parts; --output is then the part's own file");
  add("merge", po::value<std::vector<std::string>>()->multitoken(),
      "make one results file of all parts");
  add("partial", "with --merge: leave out points that are not finished");
  add("slurm", po::value<std::string>(),
      "write scripts for a Slurm cluster into this directory: submit.sh, array.sbatch, "
      "merge.sbatch");
  add("tasks", po::value<std::string>()->default_value("8"),
      "with --slurm: tasks of the array; with --launcher: workers");
  add("worker", po::value<std::string>(),
      "take chunks of the sweep from this folder or bucket (s3://BUCKET/PREFIX), which other "
      "workers share, until all are finished");
  add("lapse", po::value<std::string>()->default_value("60"),
      "with --worker: seconds after which the chunk of a worker that shows no sign of life is "
      "another's");
  add("chunk", po::value<std::string>(),
      "with --worker: replications of a chunk of a new store (as many as take 4 s)");
  add("status", po::value<std::string>(), "how far the workers of this store are");
  add("launcher", po::value<std::string>(),
      "write a file that starts workers: slurm, kubernetes, parallel, snakemake or hyperqueue");
  add("store", po::value<std::string>(),
      "with --launcher: the folder or bucket that workers share");
  add("image", po::value<std::string>()->default_value("corun:latest"),
      "with --launcher kubernetes: the image of the containers");
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
  if (const auto store = request.given("status")) return show_status(request, *store);
  const std::vector<std::string> parts = list_option(request.values, "merge");
  if (!parts.empty()) return merge(request, parts);
  const std::string config = *request.given("CONFIG");
  if (const auto store = request.given("worker")) return work(request, config, *store);
  if (const auto launcher = request.given("launcher")) {
    return write_launcher(request, config, *launcher);
  }
  return run(request, config);
}

}  // namespace corun::inline cli
