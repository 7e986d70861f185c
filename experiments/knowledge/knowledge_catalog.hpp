#pragma once

#include <span>
#include <string_view>

#include "models/knowledge/knowledge_base.hpp"

/// The knowledge bases that come with corun, by the name that `belief.initial` and `--kb` take.
namespace corun {

struct KnowledgeEntry {
  std::string_view name;
  std::string_view description;
  KnowledgeBase (*make)();
};

/// In the order of `corun list knowledge`.
std::span<const KnowledgeEntry> knowledge_catalog();

/// nullptr when there is none of that name.
const KnowledgeEntry* find_knowledge(std::string_view name);

}  // namespace corun
