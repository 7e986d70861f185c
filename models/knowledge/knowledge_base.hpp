#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/knowledge/clusters.hpp"
#include "models/knowledge/statistic.hpp"
#include "sim/measurement.hpp"

/// The knowledge base of PriRecT and JRS: clusters of profiles, and for every ordered pair of clusters
/// (a job of the first beside a job of the second) what is known of ISD, for every unordered pair of
/// PS (PriRecT fig. 5 and 6, JRS fig. 4). Fractions. It learns one co-run at a time, in memory that
/// depends on the number of clusters only.
namespace corun {

class KnowledgeBase {
 public:
  /// `decay` (0 to below 1): how much weight a co-run loses with each newer one of the same pair of
  /// clusters; 0 never forgets, 0.05 halves the weight every 14 co-runs.
  explicit KnowledgeBase(Clusters clusters, double decay = 0);

  const Clusters& clustering() const { return clustering_; }
  int clusters() const { return clustering_.count(); }
  double decay() const { return decay_; }
  void set_decay(double decay) { decay_ = decay; }

  /// One co-run of a job of cluster `a` with a job of cluster `b`. Within a cluster both ISDs count
  /// for the one ordered pair there is.
  void observe(int a, int b, double isd_a, double isd_b, double ps);

  /// Takes in what another box has learnt over the same clusters with the same decay
  /// (std::invalid_argument if not). With decay both count as equally recent.
  void merge(const KnowledgeBase& other);

  /// ISD of a job of cluster `of` beside a job of cluster `beside`.
  const Statistic& isd(int of, int beside) const { return isd_[at(of, beside)]; }
  const Statistic& ps(int a, int b) const { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }
  /// For files, which put back what they wrote.
  Statistic& isd(int of, int beside) { return isd_[at(of, beside)]; }
  Statistic& ps(int a, int b) { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }

  /// Mean over all pairs of clusters, by their counts: what stands in for one never observed. 0 when
  /// empty.
  double overall_isd() const { return overall(isd_); }
  double overall_ps() const { return overall(ps_); }
  /// Standard deviation of all single observations around those means, differences between pairs of
  /// clusters included: how far a pair never observed may lie. 0 for fewer than two observations.
  double overall_isd_sd() const { return overall_sd(isd_); }
  double overall_ps_sd() const { return overall_sd(ps_); }
  std::int64_t pairs_observed() const;

 private:
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(clusters()) +
           static_cast<std::size_t>(b);
  }
  static double overall(const std::vector<Statistic>& statistics);
  static double overall_sd(const std::vector<Statistic>& statistics);

  Clusters clustering_;
  double decay_;
  std::vector<Statistic> isd_;  ///< ordered pairs, row-major
  std::vector<Statistic> ps_;   ///< a <= b only
};

/// Rows that a knowledge base learnt from, and those it passed over, by reason.
struct LearntRows {
  std::int64_t pairs = 0;
  std::int64_t larger_groups = 0;    ///< three jobs or more: nobody's pair of clusters
  std::int64_t without_profile = 0;  ///< a member without any feature, and no cluster given
};

/// One measured co-run of two as a knowledge base sees it.
struct PairObservation {
  std::array<int, 2> cluster{};
  std::array<double, 2> isd{};  ///< JRS eq. 1, fractions
  double ps = 0;                ///< JRS eq. 2, a fraction
};

/// Which cluster a measured job is of.
enum class Labels : std::uint8_t {
  kPrinted,      ///< the cluster that the measurement names, else that of its profile
  kFromProfile,  ///< always that of its profile; an imputed profile is none
};

/// Nothing for a group of another size, or where a member has no cluster by these labels.
std::optional<PairObservation> observe_pair(const Clusters& clusters, const CorunMeasurement& row,
                                            Labels labels);

/// Observes every measured pair, in order.
LearntRows learn_rows(KnowledgeBase& kb, std::span<const CorunMeasurement> rows,
                      Labels labels = Labels::kPrinted);

/// The knowledge base that these measurements of pairs give.
KnowledgeBase build_knowledge_base(std::span<const CorunMeasurement> rows,
                                   const Clusters& clusters = paper_clusters());

struct PredictionInterval {
  double lo = 0;
  double hi = 0;
};

/// Where the next observation will lie with probability `level`: mean -+ t * s * sqrt(1 + 1/n) with
/// n - 1 degrees of freedom, n the effective number of co-runs (two jobs of one co-run are one), as if
/// it were normal, cut off where nothing is to be expected: nobody runs faster with co-runners than alone,
/// so that ISD is 0 or more and the PS of two 0.5 at most, or what was observed beyond that. NaN on
/// both sides for fewer than kFewestForInterval co-runs.
/// Measured coverage: docs/knowledge.md.
inline constexpr int kFewestForInterval = 3;
PredictionInterval isd_interval(const KnowledgeBase& kb, int of, int beside, double level = 0.9);
PredictionInterval ps_interval(const KnowledgeBase& kb, int a, int b, double level = 0.9);

}  // namespace corun
