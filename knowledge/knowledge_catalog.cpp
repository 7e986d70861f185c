#include "knowledge/knowledge_catalog.hpp"

#include <array>
#include <filesystem>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline knowledge {

namespace {

KnowledgeBase of_tables(const PaperFilter& tables, const Clusters& clusters) {
  WorkloadKeys keys;
  return build_knowledge_base(paper_measurements(keys, tables), clusters);
}

constexpr std::array<KnowledgeEntry, 4> kCatalog{{
    {"jrs",
     "the 46 pairs of JRS Tables II and III by printed cluster; other profiles go to the best "
     "optimum's",
     [] { return of_tables(kJrsKnowledgeBase, paper_clusters()); }, kJrsKnowledgeBase},
    {"prirect",
     "the 32 pairs of PriRecT Tables III and IV by printed cluster; other profiles as in jrs",
     [] { return of_tables(kPrirectKnowledgeBase, paper_clusters()); }, kPrirectKnowledgeBase},
    {"prirect-paper",
     "PriRecT's pairs with the clusters as printed: labels of one k-means solution, distances of "
     "another",
     [] { return of_tables(kPrirectKnowledgeBase, printed_clusters()); }},
    {"none", "clusters, but no co-run observed yet", [] { return KnowledgeBase(paper_clusters()); },
     PaperFilter{}},
}};

}  // namespace

std::span<const KnowledgeEntry> knowledge_catalog() { return kCatalog; }

const KnowledgeEntry* find_knowledge(std::string_view name) {
  for (const KnowledgeEntry& entry : kCatalog) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

KnowledgeFile open_knowledge(const std::string& name_or_path, const std::string& place) {
  if (const KnowledgeEntry* entry = find_knowledge(name_or_path)) {
    return {entry->make(), std::string(entry->description), {}};
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_path, error)) {
    std::vector<std::string_view> known;
    for (const KnowledgeEntry& e : kCatalog) known.push_back(e.name);
    throw InputError(place, "no file and no knowledge base '" + printable(name_or_path) +
                                "': " + did_you_mean(name_or_path, known));
  }
  return read_knowledge_file(name_or_path);
}

}  // namespace corun::inline knowledge
