#pragma once

#include <string>
#include <vector>

#include "experiments/commands/cli.hpp"
#include "experiments/knowledge/knowledge_file.hpp"

/// Co-runs read and knowledge bases shown as the flags of `corun kb` say.
namespace corun {

/// Learns every table of --coruns, by name or path, each once.
void learn_coruns(KnowledgeFile& file, const std::vector<std::string>& tables,
                  const CommonOptions& common);

/// A knowledge base in the form that was asked for.
std::string knowledge_output(const KnowledgeFile& file, Format format);

}  // namespace corun
