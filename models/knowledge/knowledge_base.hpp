#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/knowledge/clusters.hpp"
#include "models/knowledge/statistic.hpp"
#include "sim/measurement.hpp"

/// The knowledge base of PriRecT and JRS: clusters of profiles, with statistics of ISD for every ordered pair
/// of clusters (a job of the first beside a job of the second) and of PS for every unordered pair (PriRecT
/// fig. 5 and 6, JRS fig. 4). ISD and PS are fractions. It learns one co-run at a time; its memory depends
/// only on the number of clusters.
namespace corun::inline models {

class KnowledgeBase {
 public:
  /// `decay`, from 0 to below 1: the share of its weight that a co-run loses with each newer one of the same
  /// pair of clusters. 0.05 halves the weight every 14 co-runs.
  explicit KnowledgeBase(Clusters clusters, double decay = 0);

  const Clusters& clustering() const { return clustering_; }
  int clusters() const { return clustering_.count(); }
  double decay() const { return decay_; }
  void set_decay(double decay) { decay_ = decay; }

  /// Adds a co-run of a job of cluster `a` with a job of cluster `b`. If a = b, both ISDs count for the same
  /// ordered pair.
  void observe(int a, int b, double isd_a, double isd_b, double ps);

  /// Adds the observations of a knowledge base with the same clusters and decay (std::invalid_argument if
  /// not). With decay, the observations of both count as equally recent.
  void merge(const KnowledgeBase& other);

  /// ISD of a job of cluster `of` beside a job of cluster `beside`.
  const Statistic& isd(int of, int beside) const { return isd_[at(of, beside)]; }
  const Statistic& ps(int a, int b) const { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }
  /// For reading from files.
  Statistic& isd(int of, int beside) { return isd_[at(of, beside)]; }
  Statistic& ps(int a, int b) { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }

  /// Mean over all pairs of clusters, weighted by their counts, for pairs never observed. 0 if empty.
  double overall_isd() const { return overall(isd_); }
  double overall_ps() const { return overall(ps_); }
  /// Standard deviation of all single observations around these means, including the differences between
  /// pairs of clusters, for pairs never observed. 0 for fewer than two observations.
  double overall_isd_sd() const { return overall_sd(isd_); }
  double overall_ps_sd() const { return overall_sd(ps_); }
  /// Number of co-runs observed.
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

/// Numbers of rows that a knowledge base learnt from and that it skipped, by reason.
struct LearntRows {
  std::int64_t pairs = 0;            ///< learnt from
  std::int64_t larger_groups = 0;    ///< not of two jobs
  std::int64_t without_profile = 0;  ///< a member has no cluster
};

/// A measured co-run of two, by clusters.
struct PairObservation {
  std::array<int, 2> cluster{};
  std::array<double, 2> isd{};  ///< JRS eq. 1, fractions
  double ps = 0;                ///< JRS eq. 2, a fraction
};

/// The source of a measured job's cluster.
enum class Labels : std::uint8_t {
  kPrinted,      ///< the cluster that the measurement names, else that of its profile
  kFromProfile,  ///< the cluster of its profile; an imputed profile has none
};

/// Empty for a group of another size, or if a member has no cluster by these labels.
std::optional<PairObservation> observe_pair(const Clusters& clusters, const CorunMeasurement& row,
                                            Labels labels);

/// Observes every measured pair, in order.
LearntRows learn_rows(KnowledgeBase& kb, std::span<const CorunMeasurement> rows,
                      Labels labels = Labels::kPrinted);

/// A knowledge base that has learnt these rows.
KnowledgeBase build_knowledge_base(std::span<const CorunMeasurement> rows,
                                   const Clusters& clusters = paper_clusters());

/// Of an ISD or a PS, in fractions.
struct PredictionInterval {
  double lo = 0;
  double hi = 0;
};

/// The interval that contains the next observation with probability `level`, for normal observations: mean -+
/// t * s * sqrt(1 + 1/n) with n - 1 degrees of freedom, where n is the effective number of co-runs (both jobs
/// of a co-run count once). A job does not run faster with co-runners than alone, so ISD is limited to 0 or
/// more and the PS of two jobs to at most 0.5, or to the extreme observed beyond. Both ends are NaN for fewer
/// than kFewestForInterval co-runs. Measured coverage: experiments/prirect/README.md.
inline constexpr int kFewestForInterval = 3;
PredictionInterval isd_interval(const KnowledgeBase& kb, int of, int beside, double level = 0.9);
PredictionInterval ps_interval(const KnowledgeBase& kb, int a, int b, double level = 0.9);
/// The probability, by the distribution of isd_interval(), that the next ISD is `most` or less; NaN for fewer co-runs.
double isd_probability(const KnowledgeBase& kb, int of, int beside, double most);

}  // namespace corun::inline models
