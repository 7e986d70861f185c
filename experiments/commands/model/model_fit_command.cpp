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

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/model/model_commands.hpp"
#include "experiments/commands/model/model_options.hpp"
#include "experiments/commands/note.hpp"
#include "experiments/knowledge/model_file.hpp"
#include "models/scoring/device.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

/// `corun model fit`: fits an interference model to measured pairs.
namespace corun {

namespace {

namespace po = boost::program_options;

CommandLine fit_command_line() {
  CommandLine command;
  command.name = "model fit";
  command.usage = "corun model fit --pairs FILE [--pairs FILE ...] --out MODEL [options]";
  command.summary =
      "Learns what pairs of jobs cost each other from tables of measured pairs (Lucid's, Gavel's, "
      "or\n"
      "*.corun.csv; docs/formats.md) and keeps it in a file for `corun model predict`. One model\n"
      "serves jobs that were measured with other co-runners and jobs that were never measured.";
  command.examples =
      "  corun model fit --pairs examples/mine.corun.csv --out mine.model\n"
      "  corun model fit --pairs lucid/lucid_pairs.csv --out lucid.model    needs --data\n";
  command.configured = false;
  command.output = OutputUse::kOwn;
  auto add = command.own.add_options();
  add("pairs", po::value<std::vector<std::string>>()->composing(),
      "table of measured pairs; once for each");
  add("out", po::value<std::string>(), "the model");
  add("model", po::value<std::string>()->default_value("default"),
      "which, of `corun list models`; the default is the first of them");
  add("seed", po::value<std::string>()->default_value("1"), "of the fit's draws");
  return command;
}

const InterferenceModelEntry& model_option(const po::variables_map& values) {
  const auto name = values["model"].as<std::string>();
  if (const InterferenceModelEntry* entry = find_interference_model(name)) return *entry;
  std::vector<std::string_view> known{"default"};
  for (const InterferenceModelEntry& e : interference_model_catalog()) known.push_back(e.name);
  throw InputError("--model", "found '" + printable(name) + "': " + did_you_mean(name, known));
}

/// Number of jobs that occur in a row.
std::size_t measured_jobs(const SpeedTable& table) {
  std::set<std::uint32_t> seen;
  for (const SpeedTable::Row& row : table.rows) {
    if (std::isnan(row.speed_a) && std::isnan(row.speed_b)) continue;
    seen.insert(row.a);
    seen.insert(row.b);
  }
  return seen.size();
}

std::shared_ptr<const InterferenceModel> fit(const InterferenceModelEntry& entry,
                                             const PairTable& table, std::int64_t seed,
                                             unsigned threads) {
  FitOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.threads = static_cast<int>(threads);
  try {
    return entry.fit(table.speeds, options);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
}

}  // namespace

int model_fit_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(fit_command_line(), arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
  const std::vector<std::string> pairs = list_option(*parsed, "pairs");
  if (pairs.empty()) throw InputError("corun model fit", "needs pairs; give --pairs FILE");
  const InterferenceModelEntry& entry = model_option(*parsed);
  const std::string output = model_output_option(*parsed, common, "corun model fit", "MODEL");
  std::vector<NamedFile> inputs;
  for (const std::string& path : pairs) {
    if (!papers_named(path))
      inputs.push_back({"--pairs", find_input_file(path, common, "--pairs")});
  }
  check_outputs_differ({{"--out", output}}, inputs);
  const std::int64_t seed =
      whole_option(*parsed, "seed", 0, std::numeric_limits<std::int64_t>::max());
  if (std::ranges::find(pairs, "papers-published") != pairs.end()) {
    throw InputError("--pairs",
                     "papers-published says what `corun model eval --split` scores; what is "
                     "fitted on is 'papers'");
  }

  WorkloadKeys keys;
  const PairTable table = read_pair_tables(pairs, common, keys);
  const auto model = fit(entry, table, seed, common.threads);
  const std::size_t jobs = measured_jobs(table.speeds);
  const std::string about =
      fmt::format("{} rows of {} jobs, seed {}", table.speeds.rows.size(), jobs, seed);
  write_model_file(output, {std::string(entry.name), model, workload_digests(*model, keys), about},
                   "--out", common.existing);
  const auto measured = std::count(table.scored.begin(), table.scored.end(), true);
  if (common.format == Format::kJson) {
    std::cout << json_text(Json{{"model", entry.name}, {"pairs", measured}, {"jobs", jobs}});
  } else {
    std::cout << fmt::format("{}, fitted on {} measured pairs of {} jobs\n", entry.name, measured,
                             jobs);
  }
  note(common, "wrote " + printable(output, 200));
  return kDone;
}

}  // namespace corun
