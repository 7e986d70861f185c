#include "experiments/commands/model/model_options.hpp"

#include <filesystem>
#include <set>

#include "experiments/base/atomic_file.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun {

std::optional<PapersScored> papers_named(const std::string& name) {
  if (name == "papers") return PapersScored::kAll;
  if (name == "papers-published") return PapersScored::kPublished;
  return std::nullopt;
}

PairTable read_pair_tables(const std::vector<std::string>& paths, const CommonOptions& common,
                           WorkloadKeys& keys) {
  PairTable all;
  std::set<std::string> read;
  for (const std::string& path : paths) {
    const std::optional<PapersScored> papers = papers_named(path);
    const std::string file =
        papers
            ? "papers"
            : std::filesystem::weakly_canonical(find_input_file(path, common, "--pairs")).string();
    if (!read.insert(file).second) {
      throw InputError("--pairs", "'" + printable(path) + "' is given twice; once is enough");
    }
    append(all, papers ? papers_pair_table(keys, *papers) : read_pair_table(file, keys));
  }
  return all;
}

std::string model_output_option(const boost::program_options::variables_map& values,
                                const CommonOptions& common, const std::string& command,
                                const std::string& example) {
  if (values.count("out") != 0 && common.output) {
    throw InputError("--out", "is another name of --output; give one of them");
  }
  if (values.count("out") == 0 && !common.output) {
    throw InputError(command, "needs a file to write; give --out " + example);
  }
  return checked_output_path(
      values.count("out") != 0 ? values["out"].as<std::string>() : *common.output, "--out");
}

}  // namespace corun
