#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/data/data_commands.hpp"
#include "cli/note.hpp"
#include "runner/inputs/public_data_sets.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/checksum.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/tables/gavel_pairs.hpp"
#include "traces/tables/lucid_colocation.hpp"

/// `corun data derive`: makes the tables that corun reads from the authors' published files.
namespace corun::inline cli {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;

/// A table to write.
struct DerivedTable {
  std::string folder;  ///< folder of the data directory in which corun looks for it
  std::string name;
  std::size_t rows = 0;
  std::string text;
};

std::vector<DerivedTable> derive_gavel(const std::string& from) {
  std::vector<DerivedTable> tables;
  WorkloadKeys keys;
  for (const std::string gpu : {"v100", "p100", "k80"}) {
    const GavelThroughputs rates = read_gavel_throughputs(from, gpu, keys);
    std::ostringstream pairs;
    const std::size_t rows = write_gavel_pairs(pairs, rates);
    tables.push_back({"gavel", "gavel_" + gpu + "_pairs.csv", rows, pairs.str()});
    if (gpu != "k80") continue;
    std::ostringstream solo;
    const std::size_t jobs = write_gavel_solo(solo, rates);
    tables.push_back({"gavel", "gavel_solo.csv", jobs, solo.str()});
  }
  return tables;
}

std::vector<DerivedTable> derive_lucid(const std::string& from,
                                       const std::optional<std::string>& single) {
  std::optional<LucidSolo> solo;
  if (single) solo = read_lucid_solo(*single);
  std::ostringstream pairs;
  const std::size_t rows = write_lucid_pairs(pairs, from, solo ? &*solo : nullptr);
  std::vector<DerivedTable> tables{{"lucid", "lucid_pairs.csv", rows, pairs.str()}};
  if (solo) {
    std::ostringstream jobs;
    write_lucid_solo(jobs, *solo);
    tables.push_back({"lucid", "lucid_solo.csv", solo->jobs.size(), jobs.str()});
  }
  return tables;
}

/// The files of all tables in `directory`, which is made if missing. InputError if one is among
/// `inputs`.
std::vector<OutputText> table_files(const std::vector<DerivedTable>& tables,
                                    const std::string& directory, const CommonOptions& common,
                                    const std::vector<NamedFile>& inputs) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw InputError("--out", "'" + printable(directory) + "' cannot be made: " + error.message());
  }
  std::vector<OutputText> files;
  std::vector<NamedFile> outputs;
  for (const DerivedTable& table : tables) {
    files.push_back(
        {"--out", checked_output_path(directory + "/" + table.name, "--out"), table.text});
    outputs.push_back({"--out", files.back().path});
  }
  if (common.output) outputs.push_back({"--output", *common.output});
  check_outputs_differ(outputs, inputs);
  return files;
}

/// The word of `corun data list` for the checksum; "-" for a table that corun does not read.
std::string_view checksum_word(const DerivedTable& table, const std::string& sha256) {
  const std::string file = table.folder + "/" + table.name;
  for (const PublicDataSet& set : public_data_sets()) {
    if (set.file == file) return set.sha256 == sha256 ? "same" : "different";
  }
  return "-";
}

std::string report(const std::vector<DerivedTable>& tables, const std::vector<OutputText>& files,
                   Format format) {
  using enum TextTable::Align;
  Json json = Json::array();
  std::string csv = "file,rows,sha256,checksum\n";
  TextTable table({kLeft, kRight, kLeft});
  table.add({"file", "rows", "sha256", "checksum"});
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string sha256 = sha256_of_text(tables[i].text);
    const std::string rows = std::to_string(tables[i].rows);
    const std::string word(checksum_word(tables[i], sha256));
    json.push_back({{"file", files[i].path},
                    {"rows", tables[i].rows},
                    {"sha256", sha256},
                    {"checksum", word}});
    csv += fmt::format("{},{},{},{}\n", csv_text(files[i].path), rows, sha256, word);
    table.add({files[i].path, rows, sha256, word});
  }
  if (format == Format::kJson) return json_text(json);
  return format == Format::kCsv ? csv : table.text();
}

CommandLine derive_command_line() {
  CommandLine command;
  command.name = "data derive";
  command.usage = "corun data derive gavel|lucid --from FILE --out DIR [options]";
  command.summary =
      "Makes the tables that corun reads of the files that authors publish (`corun data` says "
      "where), and\n"
      "says whether they are those that corun was tested with:\n\n"
      "  gavel  simulation_throughputs.json to gavel_v100_pairs.csv, gavel_p100_pairs.csv,\n"
      "         gavel_k80_pairs.csv and gavel_solo.csv\n"
      "  lucid  colocate_info.csv to lucid_pairs.csv; with --solo single_data.csv also "
      "lucid_solo.csv, and\n"
      "         what each job shows alone beside its pairs, which models learn from\n\n"
      "Other files of these names in DIR stay, unless --force is given.";
  command.examples =
      "  corun data derive gavel --from simulation_throughputs.json --out DIR/gavel\n"
      "  corun data derive lucid --from colocate_info.csv --solo single_data.csv --out DIR/lucid\n";
  command.positional = "WHAT";
  command.configured = false;
  auto add = command.own.add_options();
  add("from", po::value<std::string>(), "the published file");
  add("solo", po::value<std::string>(), "lucid: the published table of single jobs");
  add("out", po::value<std::string>(), "directory of the tables, made where it is missing");
  return command;
}

std::string needed_option(const po::variables_map& values, const std::string& key,
                          const std::string& question) {
  if (values.count(key) == 0) throw InputError("corun data derive", question);
  return values[key].as<std::string>();
}

}  // namespace

int data_derive_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto values = parse_command_line(derive_command_line(), arguments, common);
  if (!values) return kDone;
  constexpr std::array<std::string_view, 2> kKnown{"gavel", "lucid"};
  const std::string what = needed_option(*values, "WHAT", "needs a name: gavel or lucid");
  if (what != "gavel" && what != "lucid") {
    throw InputError("corun data derive",
                     "no data set '" + printable(what) + "': " + did_you_mean(what, kKnown));
  }
  const std::string from =
      find_input_file(needed_option(*values, "from", "needs the authors' file; give --from FILE"),
                      common, "--from");
  const std::string out =
      needed_option(*values, "out", "needs a folder for its tables; give --out DIR");
  std::vector<NamedFile> inputs{{"--from", from}};
  std::optional<std::string> solo;
  if (values->count("solo") != 0) {
    if (what != "lucid") throw InputError("--solo", "is for lucid; leave it out");
    solo = find_input_file((*values)["solo"].as<std::string>(), common, "--solo");
    inputs.push_back({"--solo", *solo});
  } else if (what == "lucid") {
    note(common, "without --solo the table does not say what each job shows alone");
  }
  const std::vector<DerivedTable> tables =
      what == "gavel" ? derive_gavel(from) : derive_lucid(from, solo);
  const std::vector<OutputText> files = table_files(tables, out, common, inputs);
  emit(common, report(tables, files, common.format), files);
  return kDone;
}

}  // namespace corun::inline cli
