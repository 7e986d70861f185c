#include "runner/replay/replay_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "support/statistics/interval_output.hpp"
#include "support/statistics/metric_choice.hpp"
#include "support/text_table.hpp"
#include "support/time_unit.hpp"

namespace corun::inline runner {

namespace {

/// A number with this many digits; never "-0.0".
std::string fixed(double x, int digits) {
  std::string text = fmt::format("{:.{}f}", x, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string mean_text(const Interval& i, double scale, int digits) {
  return std::isnan(i.mean) ? "-" : fixed(i.mean * scale, digits);
}

/// "17.3 [16.9, 17.8]"
std::string with_interval_text(const Interval& i, double scale, int digits) {
  if (std::isnan(i.mean)) return "-";
  return interval_text(i, fixed(i.mean * scale, digits), fixed(i.lo * scale, digits),
                       fixed(i.hi * scale, digits));
}

/// Digits after the point that show `significant` digits of a number above 0.
int digits_for(double number, int significant) {
  return significant - 1 - static_cast<int>(std::floor(std::log10(number)));
}

/// Absolute values of the means of a metric that are neither unknown nor 0.
std::vector<double> sizes(const std::vector<MetricIntervals>& policies, Metric metric) {
  std::vector<double> all;
  for (const MetricIntervals& metrics : policies) {
    const double mean = interval_of(metrics, metric).mean;
    if (std::isfinite(mean) && mean != 0) all.push_back(std::abs(mean));
  }
  return all;
}

double largest_mean(const ReplayResult& result, Metric metric) {
  const std::vector<double> means = sizes(result.comparison.policies, metric);
  return means.empty() ? 0 : std::ranges::max(means);
}

/// Completion times and queueing delays of jobs.
bool is_of_jobs(Metric metric) { return Metric::kJctS <= metric && metric <= Metric::kQueueP99S; }

}  // namespace

NumberFormat number_format(const ReplayResult& result, const ReplayView& view, Metric metric) {
  if (judged(metric).percent) return {"%", 100, 1, 1};
  NumberFormat format;
  if (metric_info(metric).unit == "s") {
    const TimeUnit unit =
        time_unit(largest_mean(result, is_of_jobs(metric) ? Metric::kJctS : metric));
    format.unit = unit.name;
    format.scale = 1 / unit.seconds;
  } else if (metric_info(metric).unit != "1") {
    format.unit = metric_info(metric).unit;
  }
  const std::vector<double> means = sizes(result.comparison.policies, metric);
  const bool whole = format.unit.empty() &&
                     std::ranges::all_of(means, [](double x) { return x == std::floor(x); });
  if (!means.empty() && !whole) {
    constexpr int kMost = 6;
    format.digits = std::clamp(std::min(digits_for(std::ranges::min(means) * format.scale, 3),
                                        digits_for(std::ranges::max(means) * format.scale, 4)),
                               0, kMost);
  }
  format.difference_digits = format.digits;
  if (!view.baseline) return format;
  std::vector<MetricIntervals> differences;
  for (const auto& row : result.comparison.versus) differences.push_back(row[*view.baseline]);
  if (const std::vector<double> steps = sizes(differences, metric); !steps.empty()) {
    format.difference_digits = std::clamp(digits_for(std::ranges::max(steps) * format.scale, 3),
                                          format.digits, format.digits + 2);
  }
  return format;
}

ReplayColumn mean_column(const ReplayResult& result, const ReplayView& view, Metric metric,
                         const std::string& name, bool with_interval) {
  const NumberFormat format = number_format(result, view, metric);
  ReplayColumn column{name + (format.unit.empty() ? "" : " " + format.unit), {}};
  for (const MetricIntervals& metrics : result.comparison.policies) {
    column.cells.push_back((with_interval ? with_interval_text : mean_text)(
        interval_of(metrics, metric), format.scale, format.digits));
  }
  return column;
}

ReplayColumn difference_column(const Experiment& experiment, const ReplayResult& result,
                               const ReplayView& view, Metric metric) {
  const NumberFormat format = number_format(result, view, metric);
  const std::size_t baseline = view.baseline.value();
  ReplayColumn column{"vs. " + experiment.policies()[baseline].label, {}};
  for (std::size_t p = 0; p < result.comparison.policies.size(); ++p) {
    column.cells.push_back(
        p == baseline
            ? ""
            : with_interval_text(interval_of(result.comparison.versus[p][baseline], metric),
                                 format.scale, format.difference_digits));
  }
  return column;
}

std::string table_of(const Experiment& experiment, const ReplayResult& result,
                     const std::vector<ReplayColumn>& columns) {
  std::vector<std::vector<std::string>> rows{{"policy"}};
  for (const PolicyInstance& policy : experiment.policies()) {
    rows.push_back({policy.label + (policy.granted_truth ? " *" : "")});
  }
  std::vector<bool> failed(experiment.policies().size(), false);
  for (const FailedRun& run : failed_runs(result)) failed[run.policy] = true;
  for (std::size_t p = 0; p < failed.size(); ++p) {
    if (failed[p]) rows[p + 1].front() += " !";
    if (interval_of(result.comparison.policies[p], Metric::kFailed).mean > 0) {
      rows[p + 1].front() += " ^";
    }
  }
  for (const ReplayColumn& column : columns) {
    rows.front().push_back(column.head);
    for (std::size_t p = 0; p < column.cells.size(); ++p) rows[p + 1].push_back(column.cells[p]);
  }
  return aligned(std::move(rows));
}

}  // namespace corun::inline runner
