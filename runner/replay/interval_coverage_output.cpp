#include "runner/replay/interval_coverage_output.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "support/text_table.hpp"

namespace corun::inline runner {

namespace {

const std::string& label_of(const Experiment& experiment, const IntervalCoverage& c) {
  return experiment.policies()[c.policy].label;
}

std::string cell(double held, double approximate) {
  if (std::isnan(held)) return "-";
  return fmt::format("{}{:.1f}", approximate > 0.5 ? "~" : "", 100 * held);
}

}  // namespace

void check_coverage(std::size_t replications) {
  if (replications >= kFewestForCoverage) return;
  throw InputError(
      "--coverage",
      fmt::format("found {} replications, expected {} or more, because their mean stands "
                  "for the truth; give --set replications={}",
                  replications, kFewestForCoverage, 2 * kFewestForCoverage));
}

std::vector<IntervalCoverage> coverage_of_intervals(const Experiment& experiment,
                                                    const ReplayResult& result) {
  std::vector<std::vector<MetricValues>> values(experiment.policies().size());
  for (const Replication& replication : result.replications) {
    for (std::size_t p = 0; p < values.size(); ++p) {
      values[p].push_back(replication.runs[p].metrics);
    }
  }
  return interval_coverage(values, experiment.config().seed);
}

std::string coverage_table(const Experiment& experiment,
                           const std::vector<IntervalCoverage>& coverage) {
  using enum TextTable::Align;
  TextTable table({kLeft, kLeft, kRight});
  std::vector<std::string> head{"policy", "metric"};
  for (const std::size_t n : kCoverageSizes) head.push_back(fmt::format("n = {}", n));
  table.add(std::move(head));
  for (const IntervalCoverage& c : coverage) {
    std::vector<std::string> row{label_of(experiment, c), std::string(metric_info(c.metric).name)};
    for (std::size_t i = 0; i < kCoverageSizes.size(); ++i) {
      row.push_back(cell(c.held[i], c.approximate[i]));
    }
    table.add(std::move(row));
  }
  return fmt::format(
      "share of 95 % intervals of n replications that hold the mean of all others, %; {} trials a "
      "cell\n\n{}\n~ most of these intervals are marked as approximate: few or skewed values\n",
      kCoverageTrials, table.text());
}

Json coverage_json(const Experiment& experiment, const std::vector<IntervalCoverage>& coverage) {
  Json out = Json::array();
  for (const IntervalCoverage& c : coverage) {
    Json row = {{"policy", label_of(experiment, c)}, {"metric", metric_info(c.metric).name}};
    for (std::size_t i = 0; i < kCoverageSizes.size(); ++i) {
      row[fmt::format("n{}", kCoverageSizes[i])] = {{"held", json_number(c.held[i])},
                                                    {"approximate", json_number(c.approximate[i])}};
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string coverage_csv(const Experiment& experiment,
                         const std::vector<IntervalCoverage>& coverage) {
  std::string out = "policy,metric,n,held,approximate\n";
  for (const IntervalCoverage& c : coverage) {
    for (std::size_t i = 0; i < kCoverageSizes.size(); ++i) {
      if (std::isnan(c.held[i])) continue;
      out +=
          fmt::format("{},{},{},{},{}\n", csv_text(label_of(experiment, c)),
                      metric_info(c.metric).name, kCoverageSizes[i], c.held[i], c.approximate[i]);
    }
  }
  return out;
}

}  // namespace corun::inline runner
