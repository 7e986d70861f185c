#pragma once

#include <string>
#include <vector>

#include "experiments/commands/cli.hpp"
#include "experiments/knowledge/knowledge_file.hpp"

/// The commands of `corun kb` beside `eval`, each in a file of its own, and what they share.
namespace corun {

int kb_build_command(const std::vector<std::string>& arguments);
int kb_show_command(const std::vector<std::string>& arguments);
int kb_assign_command(const std::vector<std::string>& arguments);
int kb_update_command(const std::vector<std::string>& arguments);

/// Learns every table of --coruns, by name or path, each once.
void learn_coruns(KnowledgeFile& file, const std::vector<std::string>& tables,
                  const CommonOptions& common);

/// A knowledge base in the form that was asked for.
std::string knowledge_output(const KnowledgeFile& file, Format format);

}  // namespace corun
