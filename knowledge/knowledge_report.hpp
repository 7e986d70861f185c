#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "knowledge/knowledge_file.hpp"
#include "models/knowledge/knowledge_base.hpp"

/// Reports of a knowledge base as text, JSON, CSV and figure: the numbers behind PriRecT fig. 5 and
/// 6 (box plots of ISD and PS by pair of clusters) and JRS fig. 4 (their ranking).
namespace corun::inline knowledge {

/// The observations of one pair of clusters.
struct ClusterPairKnowledge {
  int cluster = 0;
  int co_runner = 0;
  const Statistic* statistic = nullptr;  ///< into the knowledge base, never null
  PredictionInterval interval;           ///< of the next such co-run, 90 %
  int rank = 0;                          ///< from 1; least ISD and greatest PS first
};

/// The observed pairs, best rank first, ties by lower clusters. The result points into `kb`.
std::vector<ClusterPairKnowledge> ranked_isd(const KnowledgeBase& kb);
std::vector<ClusterPairKnowledge> ranked_ps(const KnowledgeBase& kb);

/// ISD and PS in %.
std::string knowledge_table(const KnowledgeBase& kb);
/// ISD and PS as fractions.
nlohmann::ordered_json knowledge_json(const KnowledgeBase& kb);
/// The same with the file's description and sources.
std::string knowledge_file_table(const KnowledgeFile& file);
nlohmann::ordered_json knowledge_file_json(const KnowledgeFile& file);
/// Columns metric,cluster,partner,count,mean,variance,min,q1,median,q3,max,lo,hi,rank; fractions.
std::string knowledge_csv(const KnowledgeBase& kb);
/// Box plots [%] of ISD by ordered and PS by unordered pair of clusters, as SVG.
std::string knowledge_figure(const KnowledgeBase& kb, const std::string& title);

}  // namespace corun::inline knowledge
