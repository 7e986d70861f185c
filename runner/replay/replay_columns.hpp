#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/replay_result.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/replay/replay_view.hpp"

/// Columns of metrics in tables of a replay. All numbers of a metric have one unit and one number of
/// digits after the point. Times have the unit that fits the column (time_unit()); completion times,
/// their percentiles and queueing delays all have that of the mean JCT. Fractions are in %.
namespace corun::inline runner {

inline const Interval& interval_of(const MetricIntervals& metrics, Metric metric) {
  return metrics[static_cast<std::size_t>(metric)];
}

struct ReplayColumn {
  std::string head;
  std::vector<std::string> cells;  ///< by policy
};

/// How the numbers of a metric are printed.
struct NumberFormat {
  std::string unit;  ///< "min", "%"; empty: none
  double scale = 1;  ///< from the metric's own unit
  int digits = 0;    ///< after the point
  int difference_digits = 0;
};

/// One decimal for %. Else three significant digits for the least mean, as long as the greatest has
/// four at most.
NumberFormat number_format(const ReplayResult& result, const ReplayView& view, Metric metric);

/// "JCT min": means with their intervals if `with_interval`.
ReplayColumn mean_column(const ReplayResult& result, const ReplayView& view, Metric metric,
                         const std::string& name, bool with_interval);

/// "vs. random": paired differences to the baseline with their intervals, in the unit of
/// mean_column(); blank for the baseline. The view must have a baseline.
ReplayColumn difference_column(const Experiment& experiment, const ReplayResult& result,
                               const ReplayView& view, Metric metric);

/// Columns side by side; the first names the policies, with * for those that know the truth and ! for those that
/// failed in a replication.
std::string table_of(const Experiment& experiment, const ReplayResult& result,
                     const std::vector<ReplayColumn>& columns);

}  // namespace corun::inline runner
