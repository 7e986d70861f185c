#include "runner/replay/replay_view.hpp"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/statistics/metric_choice.hpp"

namespace corun::inline runner {

namespace {

/// Policies of this name, ascending.
std::vector<std::size_t> named(const std::vector<PolicyInstance>& policies, std::string_view name) {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (policies[p].entry->name == name) found.push_back(p);
  }
  return found;
}

std::size_t baseline_called(const std::vector<PolicyInstance>& policies, const std::string& text) {
  std::vector<std::string_view> labels;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (policies[p].label == text) return p;
    labels.emplace_back(policies[p].label);
  }
  const std::vector<std::size_t> of_name = named(policies, text);
  if (of_name.size() == 1) return of_name.front();
  if (of_name.size() > 1) {
    std::vector<std::string_view> theirs;
    for (const std::size_t p : of_name) theirs.push_back(labels[p]);
    throw InputError("--baseline", fmt::format("'{}' names {} policies; give a label: {}", text,
                                               theirs.size(), fmt::join(theirs, ", ")));
  }
  throw InputError("--baseline", "no policy '" + printable(text) +
                                     "' in this run: " + did_you_mean(text, labels));
}

}  // namespace

std::vector<Metric> ReplayView::all_metrics() const {
  if (!metrics.empty()) return metrics;
  std::vector<Metric> all;
  for (std::size_t m = 0; m < kMetricCount; ++m) all.push_back(static_cast<Metric>(m));
  return all;
}

std::string workload_name(const Config& config) {
  const std::optional<std::string>& path = config.workload.path;
  if (!path) return config.workload.source;
  return printable(std::filesystem::path(*path).filename().string());
}

ReplayView replay_view(const Experiment& experiment, const std::optional<std::string>& baseline,
                       const std::optional<std::string>& metrics) {
  const std::vector<PolicyInstance>& policies = experiment.policies();
  ReplayView view;
  if (metrics) view.metrics = metrics_named(*metrics, "--metrics", MetricsAllowed::kAll);
  std::size_t compared_to = 0;
  if (baseline) {
    compared_to = baseline_called(policies, *baseline);
  } else if (const auto random = named(policies, "random"); !random.empty()) {
    compared_to = random.front();
  }
  if (policies.size() > 1) view.baseline = compared_to;
  return view;
}

}  // namespace corun::inline runner
