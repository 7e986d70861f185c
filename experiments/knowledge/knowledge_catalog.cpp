#include "experiments/knowledge/knowledge_catalog.hpp"

#include <array>

namespace corun {

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

}  // namespace corun
