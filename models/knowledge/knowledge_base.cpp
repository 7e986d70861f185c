#include "models/knowledge/knowledge_base.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <boost/math/distributions/students_t.hpp>

namespace corun {

namespace {

PredictionInterval normal_interval(const Statistic& statistic, double level) {
  const double n = statistic.effective_count();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (statistic.count() < 2 || n <= 1) return {kNone, kNone};
  const boost::math::students_t t(n - 1);
  const double reach =
      boost::math::quantile(t, 0.5 + level / 2) * std::sqrt(statistic.variance() * (1 + 1 / n));
  return {statistic.mean() - reach, statistic.mean() + reach};
}

}  // namespace

KnowledgeBase::KnowledgeBase(Clusters clusters, double decay)
    : clustering_(std::move(clusters)), decay_(decay), isd_(at(this->clusters(), 0)), ps_(isd_) {}

void KnowledgeBase::observe(int a, int b, double isd_a, double isd_b, double ps) {
  const double keep = 1 - decay_;
  isd(a, b).add(isd_a, keep);
  isd(b, a).add(isd_b, keep);
  this->ps(a, b).add(ps, keep);
}

void KnowledgeBase::merge(const KnowledgeBase& other) {
  if (!(clustering_ == other.clustering_)) {
    throw std::invalid_argument("knowledge bases with different clusters cannot be merged");
  }
  for (std::size_t i = 0; i < isd_.size(); ++i) {
    isd_[i].merge(other.isd_[i]);
    ps_[i].merge(other.ps_[i]);
  }
}

std::int64_t KnowledgeBase::pairs_observed() const {
  std::int64_t count = 0;
  for (const Statistic& s : ps_) count += s.count();
  return count;
}

double KnowledgeBase::overall(const std::vector<Statistic>& statistics) {
  double sum = 0;
  std::int64_t count = 0;
  for (const Statistic& s : statistics) {
    sum += s.mean() * static_cast<double>(s.count());
    count += s.count();
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

LearntRows learn_rows(KnowledgeBase& kb, std::span<const CorunMeasurement> rows, Labels labels) {
  LearntRows learnt;
  const Clusters& clusters = kb.clustering();
  const auto known = [&](const CorunMember& m) {
    if (labels == Labels::kPrinted && m.cluster >= 0 && m.cluster < clusters.count()) return true;
    return has_features(m.profile) && !(labels == Labels::kFromProfile && m.profile.imputed);
  };
  const auto cluster = [&](const CorunMember& m) {
    return labels == Labels::kPrinted ? cluster_of(clusters, m)
                                      : assign_cluster(clusters, m.profile).cluster;
  };
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) {
      ++learnt.larger_groups;
      continue;
    }
    const CorunMember& a = row.members[0];
    const CorunMember& b = row.members[1];
    if (!known(a) || !known(b)) {
      ++learnt.without_profile;
      continue;
    }
    const double solo = a.solo_s + b.solo_s;
    kb.observe(cluster(a), cluster(b), (a.corun_s - a.solo_s) / a.solo_s,
               (b.corun_s - b.solo_s) / b.solo_s, (solo - std::max(a.corun_s, b.corun_s)) / solo);
    ++learnt.pairs;
  }
  return learnt;
}

KnowledgeBase build_knowledge_base(std::span<const CorunMeasurement> rows,
                                   const Clusters& clusters) {
  KnowledgeBase kb(clusters);
  learn_rows(kb, rows);
  return kb;
}

PredictionInterval isd_interval(const KnowledgeBase& kb, int of, int beside, double level) {
  const Statistic& s = kb.isd(of, beside);
  PredictionInterval i = normal_interval(s, level);
  i.lo = std::max(i.lo, std::min(0.0, s.min()));
  return i;
}

PredictionInterval ps_interval(const KnowledgeBase& kb, int a, int b, double level) {
  const Statistic& s = kb.ps(a, b);
  PredictionInterval i = normal_interval(s, level);
  i.hi = std::min(i.hi, std::max(0.5, s.max()));
  return i;
}

}  // namespace corun
