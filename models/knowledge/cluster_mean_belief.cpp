#include "models/knowledge/cluster_mean_belief.hpp"

#include <cmath>

#include "models/formulas/overlap.hpp"

namespace corun::inline models {

void ClusterMeanBelief::learn(const EpisodeOutcome& outcome) {
  if (!outcome.is_pair()) return;
  const MemberOutcome& a = outcome.members[0];
  const MemberOutcome& b = outcome.members[1];
  kb_.observe(cluster(a.job), cluster(b.job), a.isd, b.isd, outcome.ps);
}

void ClusterMeanBelief::learn_probe(const ProbeOutcome& outcome) {
  kb_.observe(cluster(outcome.a), cluster(outcome.b), 1 / outcome.speed_a - 1,
              1 / outcome.speed_b - 1, pair_cost(1, 1, outcome.speed_a, outcome.speed_b).ps);
}

PairBelief ClusterMeanBelief::cluster_pair(int a, int b) const {
  const Statistic& ab = kb_.isd(a, b);
  const Statistic& ba = kb_.isd(b, a);
  const Statistic& ps = kb_.ps(a, b);
  PairBelief expected{ab.mean(), ba.mean(), ps.mean(), true};
  if (ps.count() == 0) {
    expected = {kb_.overall_isd(), kb_.overall_isd(), kb_.overall_ps(), false};
  } else {
    expected.co_runs = ps.effective_count();
  }
  if (ps.count() < 2) {  // one co-run has no spread of its own
    expected.sd_a = expected.sd_b = kb_.overall_isd_sd();
    expected.sd_ps = kb_.overall_ps_sd();
  } else {
    expected.sd_a = std::sqrt(ab.variance());
    expected.sd_b = std::sqrt(ba.variance());
    expected.sd_ps = std::sqrt(ps.variance());
  }
  return expected;
}

const KnowledgeBase* knowledge_base_of(const Belief& belief) {
  const auto* by_clusters = dynamic_cast<const ClusterMeanBelief*>(&belief);
  return by_clusters == nullptr ? nullptr : &by_clusters->knowledge_base();
}

}  // namespace corun::inline models
