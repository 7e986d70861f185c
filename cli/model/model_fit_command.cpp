#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/model/model_commands.hpp"
#include "cli/model/model_options.hpp"
#include "cli/note.hpp"
#include "knowledge/model_file.hpp"
#include "models/scoring/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"

/// `corun model fit`: fits an interference model to measured pairs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine fit_command_line() {
  CommandLine command;
  command.name = "model fit";
  command.usage =
      "corun model fit --pairs FILE [--pairs FILE ...] [--groups FILE ...] --out MODEL [options]";
  command.summary =
      "Learns what pairs of jobs cost each other from tables of measured pairs (Lucid's, Gavel's, "
      "or\n"
      "*.corun.csv; docs/formats.md) and keeps it in a file for `corun model predict`. One model\n"
      "serves jobs that were measured with other co-runners and jobs that were never measured.\n"
      "From groups of three and more it learns how the costs of pairs add up. Tables of several\n"
      "forms, GPU types and sharing modes may be given together.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out mine.model\n"
      "  corun model fit --groups examples/groups.csv --out groups.model\n"
      "  corun model fit --pairs lucid/lucid_pairs.csv --out lucid.model    needs --data\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "table of measured pairs or groups; once for each");
  add("groups", po::value<std::vector<std::string>>()->composing(),
      "table of measured groups, of two jobs and more; once for each");
  add("out", po::value<std::string>(), "the model");
  add("model", po::value<std::string>()->default_value("default"),
      "which, of `corun list models`; the default is the first of them");
  add("seed", po::value<std::string>()->default_value("1"), "of the fit's draws");
  add_effort_option(add);
  return command;
}

const InterferenceModelEntry& model_option(const po::variables_map& values) {
  const auto name = values["model"].as<std::string>();
  if (const InterferenceModelEntry* entry = find_interference_model(name)) return *entry;
  std::vector<std::string_view> known{"default"};
  for (const InterferenceModelEntry& e : interference_model_catalog()) known.push_back(e.name);
  throw InputError("--model", "found '" + printable(name) + "': " + did_you_mean(name, known));
}

/// Number of jobs that were measured.
std::size_t measured_jobs(const SpeedTable& table) {
  std::set<std::uint32_t> seen;
  for (const SpeedTable::Row& row : table.rows) {
    if (std::isnan(row.speed_a) && std::isnan(row.speed_b)) continue;
    seen.insert(row.a);
    seen.insert(row.b);
  }
  for (const SpeedTable::Group& group : table.groups)
    seen.insert(group.jobs.begin(), group.jobs.end());
  return seen.size();
}

std::shared_ptr<const InterferenceModel> fit(const InterferenceModelEntry& entry,
                                             const SpeedTable& table, const std::string& source,
                                             const FitOptions& options) {
  try {
    return entry.fit(table, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(source, e.what());
  }
}

/// "lookup, fitted on 35 measured pairs of 8 jobs"; with groups also their number and the rule of their mode.
std::string told(std::string_view name, const SpeedTable& table, const InterferenceModel& model,
                 std::size_t pairs) {
  std::string text = fmt::format("{}, fitted on {} measured pairs", name, pairs);
  const std::size_t groups = table.groups.size();
  if (groups > 0) text += fmt::format(" and {} larger groups", groups);
  text += fmt::format(" of {} jobs\n", measured_jobs(table));
  for (std::size_t mode = 0; mode < kSharings && groups > 0; ++mode) {
    const CoRunnerRule& rule = model.groups().rules[mode];
    const CoRunnerRule& unlearnt = kCoRunnerRules[mode];
    if (rule.pooling == unlearnt.pooling && rule.idle == unlearnt.idle) continue;
    text += fmt::format("excesses of groups with sharing {}: pooling {}, idle share {}, learnt\n",
                        kSharingNames[mode], rule.pooling, rule.idle);
  }
  const std::size_t saturations = model.groups().saturations.jobs.size();
  if (saturations > 0) {
    text += fmt::format(
        "groups of copies of one job: from its load on the GPU, known for {} jobs\n", saturations);
  }
  return text;
}

}  // namespace

int model_fit_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(fit_command_line(), arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::vector<std::string> pairs = list_option(*parsed, "pairs");
  const std::vector<std::string> groups = list_option(*parsed, "groups");
  if (pairs.empty() && groups.empty()) {
    throw InputError("corun model fit", "needs pairs; give --pairs FILE or --groups FILE");
  }
  const InterferenceModelEntry& entry = model_option(*parsed);
  const std::string output = model_output_option(*parsed, common, "corun model fit", "MODEL");
  std::vector<NamedFile> inputs;
  for (const std::string& path : pairs) {
    if (!papers_named(path))
      inputs.push_back({"--pairs", find_input_file(path, common, "--pairs")});
  }
  for (const std::string& path : groups) {
    inputs.push_back({"--groups", find_input_file(path, common, "--groups")});
  }
  check_outputs_differ({{"--out", output}}, inputs);
  const std::int64_t seed =
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max());
  FitOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.threads = static_cast<int>(common.threads);
  options.effort = effort_option(*parsed);
  if (std::ranges::find(pairs, "papers-published") != pairs.end()) {
    throw InputError("--pairs",
                     "papers-published says what `corun model eval --split` scores; what is "
                     "fitted on is 'papers'");
  }

  WorkloadKeys keys;
  const Measurements measured = read_pair_tables(pairs, common, keys, groups);
  const SpeedTable& table = measured.speeds;
  const auto model = fit(entry, table, measured.source, options);
  const std::size_t jobs = measured_jobs(table);
  std::string about = fmt::format("{} rows of {} jobs, seed {}", table.rows.size(), jobs, seed);
  if (model->effort() != 1) about += fmt::format(", effort {}", model->effort());
  write_model_file(output, {std::string(entry.name), model, workload_digests(*model, keys), about},
                   "--out", common.existing);
  const auto both = std::ranges::count_if(table.rows, [](const SpeedTable::Row& row) {
    return !std::isnan(row.speed_a) && !std::isnan(row.speed_b);
  });
  if (common.format == Format::kJson) {
    Json json{{"model", entry.name}, {"pairs", both}, {"jobs", jobs}};
    if (!groups.empty() || !table.groups.empty()) json["groups"] = table.groups.size();
    if (model->effort() != 1) json["effort"] = model->effort();
    std::cout << json_text(json);
  } else {
    std::cout << told(entry.name, table, *model, static_cast<std::size_t>(both));
  }
  note_effort(entry.name, model->effort(), common);
  note(common, "wrote " + printable(output, 200));
  return kDone;
}

}  // namespace corun::inline cli
