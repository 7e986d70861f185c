#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiments/knowledge/knowledge_file.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "traces/paper_workloads.hpp"

/// The knowledge bases that come with corun, by the name that `belief.initial` and `--kb` take.
namespace corun {

struct KnowledgeEntry {
  std::string_view name;
  std::string_view description;
  KnowledgeBase (*make)();
  /// The co-runs behind it, for beliefs that know jobs one by one; nothing where only its clusters
  /// tell it from another.
  std::optional<PaperFilter> measurements = {};
};

/// In the order of `corun list knowledge`.
std::span<const KnowledgeEntry> knowledge_catalog();

/// nullptr when there is none of that name.
const KnowledgeEntry* find_knowledge(std::string_view name);

/// The one of that name, else the file of that path. InputError that begins with `place` where there is
/// neither, and as read_knowledge_file().
KnowledgeFile open_knowledge(const std::string& name_or_path, const std::string& place);

}  // namespace corun
