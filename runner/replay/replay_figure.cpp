#include "runner/replay/replay_figure.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "results/results_header.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/replay/replay_view.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/checksum.hpp"
#include "support/statistics/metric_choice.hpp"
#include "support/time_unit.hpp"

namespace corun::inline runner {

namespace {

/// The last line of the figure of an experiment: equal for equal configurations and inputs.
std::string identity_line(const Experiment& experiment) {
  const ResultsHeader header = results_header(experiment);
  std::string facts = header.config;
  for (const std::string& input : header.inputs) facts += input + "\n";
  return "<!-- corun replay, experiment sha256:" + sha256_of_text(facts) + " -->\n";
}

const Interval& mean_of(const ReplayResult& result, std::size_t policy, Metric metric) {
  return result.comparison.policies[policy][static_cast<std::size_t>(metric)];
}

std::string name_of(const PolicyInstance& policy) {
  return policy.label + (policy.granted_truth ? " *" : "");
}

/// The share of values up to each end of a bin, %, over the end. Empty bins are bridged by a level
/// line.
std::vector<LinePoint> cumulated(const LogHistogram& histogram, double scale) {
  std::vector<LinePoint> points;
  std::uint64_t seen = 0;
  const double percent = 100 / static_cast<double>(histogram.count());
  for (std::size_t b = 0; b < histogram.bins().size(); ++b) {
    if (histogram.bins()[b] == 0) continue;
    const double begin = histogram.begin_of(b) * scale;
    const double below = percent * static_cast<double>(seen);
    if (points.empty() || points.back().x < begin) points.push_back({begin, below});
    seen += histogram.bins()[b];
    points.push_back({histogram.begin_of(b + 1) * scale, percent * static_cast<double>(seen)});
  }
  return points;
}

LinePanel distribution_panel(const Experiment& experiment, const ReplayResult& result,
                             const TimeUnit& unit) {
  LinePanel panel{"Share of the jobs that finish within a time",
                  fmt::format("JCT [{}]", unit.name),
                  "jobs [%]",
                  true,
                  false,
                  {}};
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) {
    panel.series.push_back({name_of(experiment.policies()[p]),
                            cumulated(result.jct_by_policy[p], 1 / unit.seconds), true, false});
  }
  return panel;
}

/// Means by policy with their intervals.
LinePanel means_panel(const Experiment& experiment, const ReplayResult& result, Metric metric,
                      const std::string& title, double scale) {
  LinePanel panel{
      title + (judged(metric).smaller_is_better ? ", less is better" : ", more is better"),
      "",
      "",
      false,
      false,
      {}};
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) {
    const Interval& mean = mean_of(result, p, metric);
    panel.x_names.push_back(name_of(experiment.policies()[p]));
    panel.series.push_back(
        {panel.x_names.back(),
         {{static_cast<double>(p), mean.mean * scale, mean.lo * scale, mean.hi * scale}},
         false});
  }
  return panel;
}

}  // namespace

std::string replay_figure(const Experiment& experiment, const ReplayResult& result) {
  double longest_mean_s = 0;
  for (std::size_t p = 0; p < experiment.policies().size(); ++p) {
    longest_mean_s = std::max(longest_mean_s, mean_of(result, p, Metric::kJctS).mean);
  }
  const TimeUnit unit = time_unit(longest_mean_s);
  const std::size_t replications = result.replications.size();
  LineChart chart;
  chart.title =
      fmt::format("{}: {} jobs, {} GPUs, {} replication{}", workload_name(experiment.config()),
                  result.replications.front().trace->jobs.size(), experiment.cluster().gpu_count(),
                  replications, replications == 1 ? "" : "s");
  chart.columns = 2;
  chart.one_legend = true;
  chart.plot_wide = 400;
  chart.panels.push_back(distribution_panel(experiment, result, unit));
  chart.panels.push_back(means_panel(experiment, result, Metric::kJctS,
                                     fmt::format("Mean JCT [{}]", unit.name), 1 / unit.seconds));
  const Coverage& c = result.coverage;
  if (c.measured + c.modelled + c.extrapolated > 0) {
    chart.panels.push_back(means_panel(experiment, result, Metric::kIsd, "Mean ISD [%]", 100));
    chart.panels.push_back(means_panel(experiment, result, Metric::kPs, "Mean PS [%]", 100));
  }
  chart.note =
      "JCT: time from submission to finish. Share: finished jobs of all replications, times to 2 "
      "%.";
  if (replications >= kFewestReplications) {
    chart.note += " Means over replications with 95 % intervals.";
  }
  if (std::ranges::any_of(experiment.policies(), &PolicyInstance::granted_truth)) {
    chart.note += " * knows the true expected co-run costs.";
  }
  return svg_line_chart(chart) + identity_line(experiment);
}

void check_figure_replaceable(const Experiment& experiment, const std::string& path,
                              Existing existing) {
  if (existing == Existing::kReplace || !is_filled(path)) return;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.ends_with(identity_line(experiment))) return;
  refuse_existing(path, "--figure", "holds something else than a figure of this experiment");
}

}  // namespace corun::inline runner
