#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "evaluation/measurement_output.hpp"
#include "evaluation/pair_draws.hpp"
#include "knowledge/model_file.hpp"
#include "knowledge/model_origin.hpp"
#include "models/scoring/device.hpp"
#include "runner/inputs/file_kind.hpp"
#include "runner/inputs/job_kinds.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "traces/gpu_catalog.hpp"

/// `corun model suggest`: which pairs of a queue to measure next.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

/// Matchings of larger queues take minutes.
constexpr std::size_t kMostJobs = 200;
constexpr std::int64_t kMostBudget = 1000;

CommandLine suggest_command_line() {
  CommandLine command;
  command.name = "model suggest";
  command.usage =
      "corun model suggest --model MODEL --jobs FILE [--measured TABLE ...] [--budget N] [options]";
  command.summary =
      "Names the pairs of a queue whose measurement is worth most: the queue is paired by the "
      "costs\n"
      "that the model expects, and each measurement is the one that lowers the expected regret of "
      "that\n"
      "pairing most, given those before it in the list. A measurement also tells of related "
      "pairs.\n"
      "`corun live corun CONFIG --pairs LIST.csv` measures the pairs that --out wrote.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out mine.model && corun model suggest "
      "\\\n"
      "      --model mine.model --jobs examples/jobs.csv --measured examples/mine.corun.csv \\\n"
      "      --budget 5 --out next.csv\n"
      "  corun model fit --pairs papers --out p.model && corun model suggest --model p.model \\\n"
      "      --jobs examples/jobs.csv --budget 3 --format json\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("model", po::value<std::string>(),
      "what `corun model fit` wrote, or prefitted: what comes with corun");
  add("jobs", po::value<std::string>(),
      "the queue: a job trace (docs/formats.md), a table of profiles such as solo.csv of live "
      "mode, or a table of pairs, of which the jobs are taken");
  add("measured", po::value<std::vector<std::string>>()->composing(),
      "table of pairs that were measured, once for each: they are known and not suggested again");
  add("gpu", po::value<std::string>(),
      "GPU type on which the queue will run, for a model of several; else not known");
  add("sharing", po::value<std::string>(),
      "time-slicing or mps: how the queue will share it, likewise");
  add("budget", po::value<std::string>()->default_value("10"), "how many pairs");
  add("out", po::value<std::string>(), "also write the list to this CSV, for live mode");
  add("seed", po::value<std::string>()->default_value("1"), "of the draws from the model");
  return command;
}

std::string required(const po::variables_map& values, const std::string& key,
                     const std::string& what) {
  if (values.count(key) == 0) {
    throw InputError("corun model suggest", "--" + key + " is missing: " + what);
  }
  return values[key].as<std::string>();
}

/// Where the queue will run, as far as the user has said it.
struct Machine {
  std::string gpu, sharing;
  std::vector<SpeedTable::Campaign> campaigns() const {
    if (gpu.empty() && sharing.empty()) return {};
    return {campaign_on(gpu, sharing_of(sharing).value_or(Sharing::kUnknown))};
  }
};

Machine machine_of(const po::variables_map& values) {
  Machine machine;
  if (values.count("gpu") != 0) machine.gpu = values["gpu"].as<std::string>();
  if (values.count("sharing") != 0) {
    machine.sharing = choice_option(values, "sharing", {"time-slicing", "mps"});
  }
  return machine;
}

/// All pairs of kinds, and a kind beside itself where the queue has two of it.
std::vector<MeasurementProblem::Pair> pairs_of(const JobKinds& kinds) {
  std::vector<std::size_t> copies(kinds.names.size(), 0);
  for (const std::uint32_t kind : kinds.jobs) ++copies[kind];
  std::vector<MeasurementProblem::Pair> pairs;
  for (std::uint32_t a = 0; a < copies.size(); ++a) {
    for (std::uint32_t b = copies[a] > 1 ? a : a + 1; b < copies.size(); ++b) {
      pairs.push_back({a, b, true});
    }
  }
  return pairs;
}

/// The measurements of these pairs in the tables.
std::vector<MeasuredPair> measurements_of(const std::vector<std::string>& tables,
                                          const JobKinds& kinds,
                                          const std::vector<MeasurementProblem::Pair>& pairs,
                                          const CommonOptions& common, WorkloadKeys& keys) {
  std::map<WorkloadKey, std::uint32_t> kind_of;
  for (std::uint32_t k = 0; k < kinds.keys.size(); ++k) kind_of.emplace(kinds.keys[k], k);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> place;
  for (std::size_t p = 0; p < pairs.size(); ++p)
    place.emplace(std::pair{pairs[p].a, pairs[p].b}, p);
  std::vector<MeasuredPair> found;
  for (const std::string& path : tables) {
    check_kind(path, {FileKind::kPairs, FileKind::kGroups}, "a table of measured co-runs");
    const Measurements table = read_measurements(path, keys);
    for (const std::string& text : table.notes) note(common, text);
    for (const SpeedTable::Row& row : table.speeds.rows) {
      const auto a = kind_of.find(table.speeds.jobs[row.a]);
      const auto b = kind_of.find(table.speeds.jobs[row.b]);
      if (a == kind_of.end() || b == kind_of.end()) continue;
      const bool in_order = a->second <= b->second;
      const auto at = place.find(std::minmax(a->second, b->second));
      if (at == place.end()) continue;
      found.push_back(
          {at->second, in_order ? row.speed_a : row.speed_b, in_order ? row.speed_b : row.speed_a});
    }
  }
  return found;
}

void check_size(const JobKinds& kinds) {
  if (kinds.jobs.size() < 2) {
    throw InputError(kinds.source,
                     fmt::format("has {} of one GPU, expected two jobs or more to pair",
                                 kinds.jobs.empty() ? "no job" : "one job"));
  }
  if (kinds.jobs.size() > kMostJobs) {
    throw InputError(kinds.source, fmt::format("has {} jobs, expected a queue of at most {}; "
                                               "take some of them, as by `corun trace cut`",
                                               kinds.jobs.size(), kMostJobs));
  }
}

void check_budget(std::size_t budget, const MeasurementProblem& problem) {
  const auto measurable = static_cast<std::size_t>(
      std::ranges::count(problem.pairs, true, &MeasurementProblem::Pair::may_be_measured));
  if (measurable == 0) {
    throw InputError("--measured", "holds all pairs of these jobs: none is left to measure");
  }
  if (budget > measurable) {
    throw InputError("--budget", fmt::format("found {}, but {} pairs are left to measure; give at "
                                             "most that",
                                             budget, measurable));
  }
}

/// The pairs in `found`, each counted once.
std::size_t different(const std::vector<MeasuredPair>& found) {
  std::vector<std::size_t> pairs;
  for (const MeasuredPair& m : found) pairs.push_back(m.pair);
  std::ranges::sort(pairs);
  return static_cast<std::size_t>(std::unique(pairs.begin(), pairs.end()) - pairs.begin());
}

}  // namespace

int model_suggest_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(suggest_command_line(), arguments, common);
  if (!parsed) return kDone;
  const po::variables_map& values = *parsed;
  choose_device(common.device);
  const auto budget = static_cast<std::size_t>(whole_option(values, "budget", 1, kMostBudget));
  const auto seed = static_cast<std::uint64_t>(
      whole_option(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  const std::string model_path =
      find_fitted_model(required(values, "model", "give what `corun model fit` wrote"), common);
  const std::string jobs_path = find_input_file(
      required(values, "jobs", "give the queue, e.g. examples/jobs.csv"), common, "--jobs");
  std::vector<NamedFile> inputs = as_inputs({model_path});
  inputs.push_back({"--jobs", jobs_path});
  std::vector<std::string> tables;
  for (const std::string& path : list_option(values, "measured")) {
    tables.push_back(find_input_file(path, common, "--measured"));
    inputs.push_back({"--measured", tables.back()});
  }
  std::vector<NamedFile> outputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  if (values.count("out") != 0) {
    outputs.push_back({"--out", checked_output_path(values["out"].as<std::string>(), "--out")});
    check_name(outputs.back().path, "--out", {"csv"});
  }
  check_outputs_differ(outputs, inputs);

  WorkloadKeys keys;
  const JobKinds kinds = read_job_kinds(jobs_path, keys);
  for (const std::string& text : kinds.notes) note(common, text);
  check_size(kinds);
  const ModelFile file = read_model_file(model_path, keys, kinds.names);
  const std::vector<SpeedTable::Feature>& wanted = file.model->features();
  const std::vector<double> features = kind_features(kinds, wanted);
  std::vector<PairJob> jobs;
  for (std::size_t k = 0; k < kinds.keys.size(); ++k) {
    jobs.push_back({kinds.keys[k], {features.data() + k * wanted.size(), wanted.size()}});
  }

  const Machine machine = machine_of(values);
  const auto model = model_on(file.model, machine.gpu, machine.sharing);
  if (const std::string told =
          told_of_origin(printable(model_path), *file.model, jobs, machine.campaigns());
      !told.empty()) {
    note(common, told);
  }

  SuggestedMeasurements suggested;
  suggested.model = file.name;
  suggested.source = kinds.source;
  suggested.names = kinds.names;
  suggested.seed = seed;
  MeasurementProblem& problem = suggested.problem;
  problem.kinds = kinds.jobs;
  problem.pairs = pairs_of(kinds);
  const auto measured = measurements_of(tables, kinds, problem.pairs, common, keys);
  suggested.measured = different(measured);
  try {
    draw_pairs(*model, jobs, measured, {.seed = seed, .threads = common.threads}, problem);
  } catch (const std::invalid_argument& e) {
    throw InputError(kinds.source, e.what());
  }
  check_budget(budget, problem);
  try {
    suggested.plan =
        choose_measurements(problem, budget, {.seed = seed, .threads = common.threads});
  } catch (const std::invalid_argument&) {  // of draws that are not finite
    throw InputError(model_path, "it predicts speeds that no jobs have; fit the model again");
  }
  note_effort(printable(model_path), file.model->effort(), common);
  const std::vector<WorkloadKey>& learnt = file.model->workloads();
  const auto knows = [&](WorkloadKey key) {
    return std::ranges::find(learnt, key) != learnt.end();
  };
  if (suggested.measured == 0 && std::ranges::any_of(kinds.keys, knows)) {
    note(common,
         "pairs that the model has learnt from count as not measured; name their table with "
         "--measured");
  }
  std::vector<OutputText> files;
  if (values.count("out") != 0) {
    files.push_back({"--out", outputs.back().path, suggested_csv(suggested)});
  }
  emit(common,
       common.format == Format::kJson  ? json_text(suggested_json(suggested))
       : common.format == Format::kCsv ? suggested_csv(suggested)
                                       : suggested_table(suggested),
       std::move(files));
  return kDone;
}

}  // namespace corun::inline cli
