#pragma once

#include <cstddef>
#include <span>

#include "models/knowledge/knowledge_base.hpp"
#include "support/statistics/mean_interval.hpp"

/// Accuracy of the means of a knowledge base for a pair that it has not learnt from.
namespace corun::inline evaluation {

/// Each pair left out in turn and predicted from the others. Jobs are in several pairs, so this is no
/// accuracy for unseen jobs. Errors and `gain` are fractions.
struct LeaveOneOut {
  std::size_t pairs = 0;
  double mae_isd = 0;          ///< of the cluster means
  double mae_isd_overall = 0;  ///< of the mean over all pairs
  double mae_ps = 0;
  double mae_ps_overall = 0;
  /// mae_isd_overall - mae_isd with its 95 % bootstrap interval over co-runs: above 0 the cluster means
  /// are better.
  Interval gain;
  std::size_t intervals_isd = 0;  ///< ISDs with a 90 % interval
  std::size_t isd_below = 0;      ///< of these, below and above the interval
  std::size_t isd_above = 0;
  std::size_t intervals_ps = 0;
  std::size_t ps_below = 0;
  std::size_t ps_above = 0;
  double covered_isd() const { return covered(intervals_isd, isd_below + isd_above); }
  double covered_ps() const { return covered(intervals_ps, ps_below + ps_above); }

 private:
  static double covered(std::size_t all, std::size_t outside) {
    return all == 0 ? 0 : 1 - static_cast<double>(outside) / static_cast<double>(all);
  }
};

/// Skips rows of other than two members and rows without clusters by these labels (observe_pair()).
LeaveOneOut leave_one_pair_out(std::span<const CorunMeasurement> rows, const Clusters& clusters,
                               Labels labels);

}  // namespace corun::inline evaluation
