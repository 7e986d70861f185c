#pragma once

#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "knowledge/knowledge_file.hpp"

/// Reading of co-runs and output of knowledge bases by the flags of `corun kb`.
namespace corun::inline cli {

/// Learns each table of --coruns, given by name or path; prints notes on stderr. InputError as read_corun_table() and
/// learn_table().
void learn_coruns(KnowledgeFile& file, const std::vector<std::string>& tables,
                  const CommonOptions& common);

/// A knowledge base in `format`.
std::string knowledge_output(const KnowledgeFile& file, Format format);

}  // namespace corun::inline cli
