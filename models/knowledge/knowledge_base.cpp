#include "models/knowledge/knowledge_base.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <boost/math/distributions/students_t.hpp>

namespace corun::inline models {

namespace {

/// Of the ISDs of `of` beside `beside`: both jobs of a co-run count once.
double co_runs_behind(const Statistic& isd, int of, int beside) {
  return isd.effective_count() / (of == beside ? 2 : 1);
}

bool enough_for_interval(double co_runs) { return co_runs > kFewestForInterval - 0.5; }

/// `co_runs`: the effective number of co-runs behind the statistic.
PredictionInterval normal_interval(const Statistic& statistic, double co_runs, double level) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!enough_for_interval(co_runs)) return {kNone, kNone};
  const boost::math::students_t t(co_runs - 1);
  const double half_width = boost::math::quantile(t, 0.5 + level / 2) *
                            std::sqrt(statistic.variance() * (1 + 1 / co_runs));
  return {statistic.mean() - half_width, statistic.mean() + half_width};
}

}  // namespace

KnowledgeBase::KnowledgeBase(Clusters clusters, double decay)
    : clustering_(std::move(clusters)), decay_(decay), isd_(at(this->clusters(), 0)), ps_(isd_) {}

void KnowledgeBase::observe(int a, int b, double isd_a, double isd_b, double ps) {
  const double keep = 1 - decay_;
  isd(a, b).add(isd_a, keep);
  isd(b, a).add(isd_b, a == b ? 1 : keep);  // older co-runs fade once
  this->ps(a, b).add(ps, keep);
}

void KnowledgeBase::merge(const KnowledgeBase& other) {
  if (!(clustering_ == other.clustering_) || decay_ != other.decay_) {
    throw std::invalid_argument("knowledge bases with other clusters or decay cannot be merged");
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

double KnowledgeBase::overall_sd(const std::vector<Statistic>& statistics) {
  const double mean = overall(statistics);
  double squares = 0;
  std::int64_t count = 0;
  for (const Statistic& s : statistics) {
    if (s.count() == 0) continue;
    const double deviation = s.mean() - mean;
    squares += static_cast<double>(s.count() - 1) * s.variance() +
               static_cast<double>(s.count()) * deviation * deviation;
    count += s.count();
  }
  return count < 2 ? 0 : std::sqrt(squares / static_cast<double>(count - 1));
}

std::optional<PairObservation> observe_pair(const Clusters& clusters, const CorunMeasurement& row,
                                            Labels labels) {
  if (row.members.size() != 2) return std::nullopt;
  PairObservation seen;
  for (std::size_t i = 0; i < 2; ++i) {
    const CorunMember& m = row.members[i];
    if (labels == Labels::kPrinted && m.cluster >= 0 && m.cluster < clusters.count()) {
      seen.cluster[i] = m.cluster;
    } else {
      if (!has_features(m.profile)) return std::nullopt;
      if (labels == Labels::kFromProfile && m.profile.imputed) return std::nullopt;
      seen.cluster[i] = assign_cluster(clusters, m.profile).cluster;
    }
    seen.isd[i] = (m.corun_s - m.solo_s) / m.solo_s;
  }
  const CorunMember& a = row.members[0];
  const CorunMember& b = row.members[1];
  const double solo = a.solo_s + b.solo_s;
  seen.ps = (solo - std::max(a.corun_s, b.corun_s)) / solo;
  return seen;
}

LearntRows learn_rows(KnowledgeBase& kb, std::span<const CorunMeasurement> rows, Labels labels) {
  LearntRows learnt;
  for (const CorunMeasurement& row : rows) {
    const auto seen = observe_pair(kb.clustering(), row, labels);
    if (seen) {
      kb.observe(seen->cluster[0], seen->cluster[1], seen->isd[0], seen->isd[1], seen->ps);
      ++learnt.pairs;
    } else if (row.members.size() != 2) {
      ++learnt.larger_groups;
    } else {
      ++learnt.without_profile;
    }
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
  PredictionInterval i = normal_interval(s, co_runs_behind(s, of, beside), level);
  i.lo = std::max(i.lo, std::min(0.0, s.min()));
  return i;
}

PredictionInterval ps_interval(const KnowledgeBase& kb, int a, int b, double level) {
  const Statistic& s = kb.ps(a, b);
  PredictionInterval i = normal_interval(s, s.effective_count(), level);
  i.hi = std::min(i.hi, std::max(0.5, s.max()));
  return i;
}

double isd_probability(const KnowledgeBase& kb, int of, int beside, double most) {
  const Statistic& s = kb.isd(of, beside);
  const double co_runs = co_runs_behind(s, of, beside);
  if (!enough_for_interval(co_runs)) return std::numeric_limits<double>::quiet_NaN();
  const double sd = std::sqrt(s.variance() * (1 + 1 / co_runs));
  if (sd == 0) return s.mean() <= most ? 1 : 0;
  return boost::math::cdf(boost::math::students_t(co_runs - 1), (most - s.mean()) / sd);
}

}  // namespace corun::inline models
