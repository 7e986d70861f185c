#include "models/knowledge/knowledge_base.hpp"

#include <algorithm>

#include "models/knowledge/clusters.hpp"

namespace corun {

void KnowledgeBase::observe(int a, int b, double isd_a, double isd_b, double ps) {
  isd(a, b).add(isd_a);
  isd(b, a).add(isd_b);
  this->ps(a, b).add(ps);
}

double KnowledgeBase::overall(const std::vector<Statistic>& statistics) {
  double sum = 0;
  std::int64_t count = 0;
  for (const Statistic& s : statistics) {
    sum += s.mean * static_cast<double>(s.count);
    count += s.count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

KnowledgeBase build_knowledge_base(std::span<const CorunMeasurement> rows) {
  KnowledgeBase kb(kClusters);
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    const CorunMember& a = row.members[0];
    const CorunMember& b = row.members[1];
    const double solo = a.solo_s + b.solo_s;
    kb.observe(cluster_of(a), cluster_of(b), (a.corun_s - a.solo_s) / a.solo_s,
               (b.corun_s - b.solo_s) / b.solo_s, (solo - std::max(a.corun_s, b.corun_s)) / solo);
  }
  return kb;
}

}  // namespace corun
