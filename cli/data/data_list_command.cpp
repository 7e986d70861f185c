#include <string_view>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/data/data_commands.hpp"
#include "runner/inputs/public_data_sets.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"

/// `corun data list`: the public data sets, and which of them are present.
namespace corun::inline cli {

namespace {

struct Listed {
  const PublicDataSet* set;
  FoundDataSet found;
};

std::vector<Listed> list_data_sets(const std::string& directory) {
  std::vector<Listed> all;
  for (const PublicDataSet& set : public_data_sets()) {
    all.push_back({&set, find_data_set(set, directory)});
  }
  return all;
}

std::string_view checksum_word(const FoundDataSet& found) {
  if (!found.present) return "-";
  return found.as_tested ? "same" : "different";
}

std::string summary_of(const std::vector<Listed>& all, const std::string& directory) {
  std::size_t present = 0;
  std::size_t same = 0;
  for (const Listed& l : all) {
    present += l.found.present ? 1 : 0;
    same += l.found.as_tested ? 1 : 0;
  }
  if (directory.empty()) {
    return fmt::format("{} files, none here: no data directory; give --data DIR or set CORUN_DATA",
                       all.size());
  }
  return fmt::format("{} files, {} present in {}, {} of them as corun was tested with", all.size(),
                     present, printable(directory, 200), same);
}

std::string table_of(const std::vector<Listed>& all, const std::string& directory) {
  using enum TextTable::Align;
  constexpr std::size_t kShownDigits = 12;  // of a checksum, which is whole in JSON and CSV
  TextTable table({kLeft, kRight, kLeft});
  table.add({"file", "bytes", "sha256", "checksum"});
  const DataSource* source = nullptr;
  for (const auto& [set, found] : all) {
    if (set->source != source) {
      source = set->source;
      table.add_line("");
      table.add_line(
          fmt::format("github.com/{}; licence: {}", source->repository, source->licence));
    }
    table.add({std::string(set->file), found.present ? std::to_string(found.bytes) : "absent",
               found.present ? found.sha256.substr(0, kShownDigits) : "-",
               std::string(checksum_word(found))});
    table.add_line(fmt::format("    {}", set->holds));
    table.add_line(fmt::format("    {}: {}", origin_text(set->origin), set->path));
  }
  return table.text() + "\n" + summary_of(all, directory) + "\n";
}

Json json_of(const std::vector<Listed>& all, const std::string& directory) {
  Json files = Json::array();
  for (const auto& [set, found] : all) {
    files.push_back({{"file", set->file},
                     {"holds", set->holds},
                     {"licence", set->source->licence},
                     {"repository", set->source->repository},
                     {"path", set->path},
                     {"made", origin_text(set->origin)},
                     {"present", found.present},
                     {"bytes", found.present ? Json(found.bytes) : Json(nullptr)},
                     {"sha256", found.present ? Json(found.sha256) : Json(nullptr)},
                     {"tested_sha256", set->sha256},
                     {"checksum", checksum_word(found)}});
  }
  return {{"directory", directory.empty() ? Json(nullptr) : Json(directory)}, {"files", files}};
}

std::string csv_of(const std::vector<Listed>& all) {
  std::string text =
      "file,holds,licence,repository,path,made,present,bytes,sha256,tested_sha256,checksum\n";
  for (const auto& [set, found] : all) {
    for (const std::string_view field :
         {set->file, set->holds, set->source->licence, set->source->repository, set->path,
          origin_text(set->origin)}) {
      text += csv_text(field) + ',';
    }
    text += fmt::format("{},{},{},{},{}\n", found.present ? 1 : 0,
                        found.present ? std::to_string(found.bytes) : "", found.sha256, set->sha256,
                        checksum_word(found));
  }
  return text;
}

}  // namespace

int data_list_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "data list";
  command.usage = "corun data [list] [options]";
  command.summary =
      "Every file of the public data sets that corun, its studies and its tests read: its place "
      "below the\n"
      "data directory, its size ('absent': not there), what it holds, its licence, and its path in "
      "the\n"
      "authors' repository. Before the path: 'published', the authors' file itself; 'converted', "
      "in\n"
      "another form or a part of it; 'simulated', the answer of their program; or the command of "
      "corun\n"
      "that makes it. Column checksum: 'same' as of the file that corun was tested with, "
      "'different', "
      "or '-'.\n\n"
      "The directory is --data DIR, else CORUN_DATA, else share/corun/data of an installed corun.";
  command.examples =
      "  corun data\n"
      "  corun data --format csv --output data.csv\n"
      "  corun data --data DIR --format json\n";
  command.configured = false;
  CommonOptions common;
  if (!parse_command_line(command, arguments, common)) return kDone;
  if (common.output && !common.data.empty()) {
    std::vector<NamedFile> inputs;
    for (const PublicDataSet& set : public_data_sets()) {
      inputs.push_back({"corun data", common.data + "/" + std::string(set.file)});
    }
    check_outputs_differ({{"--output", *common.output}}, inputs);
  }
  const std::vector<Listed> all = list_data_sets(common.data);
  emit(common, common.format == Format::kJson  ? json_text(json_of(all, common.data))
               : common.format == Format::kCsv ? csv_of(all)
                                               : table_of(all, common.data));
  return kDone;
}

}  // namespace corun::inline cli
