#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/measurement.hpp"

/// The JRS knowledge base: for every ordered pair of clusters (a job of the first beside a job of the
/// second) count, mean and variance of ISD; for every unordered pair those of PS. Fractions.
namespace corun {

/// Count, mean and sum of squared deviations, updated one observation at a time (Welford).
struct Statistic {
  std::int64_t count = 0;
  double mean = 0;
  double m2 = 0;

  void add(double x) {
    ++count;
    const double d = x - mean;
    mean += d / static_cast<double>(count);
    m2 += d * (x - mean);
  }
  /// Sample variance; 0 for fewer than two observations.
  double variance() const { return count < 2 ? 0 : m2 / static_cast<double>(count - 1); }
};

class KnowledgeBase {
 public:
  explicit KnowledgeBase(int clusters) : clusters_(clusters), isd_(size()), ps_(size()) {}

  int clusters() const { return clusters_; }

  /// One co-run of a job of cluster `a` with a job of cluster `b`.
  void observe(int a, int b, double isd_a, double isd_b, double ps);

  /// ISD of a job of cluster `of` beside a job of cluster `beside`.
  const Statistic& isd(int of, int beside) const { return isd_[at(of, beside)]; }
  const Statistic& ps(int a, int b) const { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }
  Statistic& isd(int of, int beside) { return isd_[at(of, beside)]; }
  Statistic& ps(int a, int b) { return a <= b ? ps_[at(a, b)] : ps_[at(b, a)]; }

  /// Mean over all observations: what stands in for a pair of clusters never observed. 0 when empty.
  double overall_isd() const { return overall(isd_); }
  double overall_ps() const { return overall(ps_); }

 private:
  std::size_t size() const { return at(clusters_, 0); }
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(clusters_) +
           static_cast<std::size_t>(b);
  }
  static double overall(const std::vector<Statistic>& statistics);

  int clusters_;
  std::vector<Statistic> isd_;  ///< ordered pairs, row-major
  std::vector<Statistic> ps_;   ///< a <= b only
};

/// The knowledge base that these measurements of pairs give; larger groups are passed over. Members
/// without a cluster are assigned by their profile.
KnowledgeBase build_knowledge_base(std::span<const CorunMeasurement> rows);

}  // namespace corun
