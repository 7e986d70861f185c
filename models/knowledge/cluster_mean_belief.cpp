#include "models/knowledge/cluster_mean_belief.hpp"

namespace corun {

void ClusterMeanBelief::learn(const EpisodeOutcome& outcome) {
  if (outcome.members.size() != 2) return;
  const MemberOutcome& a = outcome.members[0];
  const MemberOutcome& b = outcome.members[1];
  kb_.observe(cluster(a.job), cluster(b.job), a.isd, b.isd, outcome.ps);
}

PairBelief ClusterMeanBelief::cluster_pair(int a, int b) const {
  const Statistic& ab = kb_.isd(a, b);
  const Statistic& ba = kb_.isd(b, a);
  const Statistic& ps = kb_.ps(a, b);
  if (ps.count() == 0) return {kb_.overall_isd(), kb_.overall_isd(), kb_.overall_ps(), false};
  return {ab.mean(), ba.mean(), ps.mean(), true};
}

}  // namespace corun
