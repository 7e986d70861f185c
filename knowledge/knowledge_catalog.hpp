#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "knowledge/knowledge_file.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "traces/paper_workloads.hpp"

/// The knowledge bases that come with corun, by the name in `belief.initial` and `--kb`.
namespace corun::inline knowledge {

struct KnowledgeEntry {
  std::string_view name;
  std::string_view description;
  KnowledgeBase (*make)();
  /// The co-runs that it learnt, for beliefs about individual jobs; empty if it differs from
  /// another entry in its clusters only.
  std::optional<PaperFilter> measurements = {};
};

/// In the order of `corun list knowledge`.
std::span<const KnowledgeEntry> knowledge_catalog();

/// nullptr if there is none of that name.
const KnowledgeEntry* find_knowledge(std::string_view name);

/// The knowledge base of that name, else the file of that path. InputError that begins with `place`
/// if there is neither; else as read_knowledge_file().
KnowledgeFile open_knowledge(const std::string& name_or_path, const std::string& place);

}  // namespace corun::inline knowledge
