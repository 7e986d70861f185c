#include "cli/kb/kb_options.hpp"

#include <nlohmann/json.hpp>

#include "cli/note.hpp"
#include "knowledge/corun_learning.hpp"
#include "knowledge/knowledge_report.hpp"
#include "support/json.hpp"

namespace corun::inline cli {

void learn_coruns(KnowledgeFile& file, const std::vector<std::string>& tables,
                  const CommonOptions& common) {
  for (const std::string& name : tables) {
    const CorunTable table =
        read_corun_table(is_corun_table(name) ? name : find_input_file(name, common, "--coruns"));
    for (const std::string& text : learn_table(file, table)) note(common, text);
  }
}

std::string knowledge_output(const KnowledgeFile& file, Format format) {
  switch (format) {
    case Format::kCsv:
      return knowledge_csv(file.kb);
    case Format::kJson:
      return json_text(knowledge_file_json(file));
    case Format::kTable:
      break;
  }
  return knowledge_file_table(file);
}

}  // namespace corun::inline cli
