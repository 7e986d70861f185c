#include "experiments/replay/replay_output.hpp"

#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "experiments/base/build_info.hpp"
#include "experiments/config/config_yaml.hpp"
#include "experiments/results/results_header.hpp"
#include "experiments/statistics/interval_output.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

namespace {

Json to_json(const MetricIntervals& metrics) {
  Json out = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    out[std::string(metric_info(static_cast<Metric>(m)).name)] = interval_json(metrics[m]);
  }
  return out;
}

Json to_json(const Coverage& c) {
  return {{"measured", c.measured}, {"modelled", c.modelled}, {"extrapolated", c.extrapolated}};
}

}  // namespace

Json to_json(const Experiment& experiment, const ReplayResult& result) {
  Json out;
  out["corun"] = version();
  out["config"] = to_json(experiment.config());
  out["replications"] = result.replications.size();
  out["coverage"] = to_json(result.coverage);
  out["warnings"] = experiment.warnings();
  if (!experiment.overload().empty()) out["warnings"].push_back(experiment.overload());
  out["inputs"] = experiment.inputs();
  out["policies"] = Json::array();
  const auto& policies = experiment.policies();
  for (std::size_t p = 0; p < policies.size(); ++p) {
    Json entry;
    entry["policy"] = policies[p].entry->name;
    entry["label"] = policies[p].label;
    entry["parameters"] = parameters_json(policies[p]);
    entry["granted_truth"] = policies[p].granted_truth;
    entry["metrics"] = to_json(result.comparison.policies[p]);
    entry["coverage"] = to_json(result.coverage_by_policy[p]);
    entry["versus"] = Json::object();
    for (std::size_t q = 0; q < policies.size(); ++q) {
      if (q != p) entry["versus"][policies[q].label] = to_json(result.comparison.versus[p][q]);
    }
    out["policies"].push_back(std::move(entry));
  }
  return out;
}

void print_csv(std::ostream& out, const Experiment& experiment, const ReplayResult& result) {
  const auto& policies = experiment.policies();
  const auto rows = [&](const std::string& policy, const std::string& other,
                        const MetricIntervals& metrics) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      const auto cell = [](double x) { return std::isnan(x) ? std::string() : csv_number(x); };
      fmt::print(out, "{},{},{},{},{},{}\n", csv_text(policy), csv_text(other),
                 metric_info(static_cast<Metric>(m)).name, cell(metrics[m].mean),
                 cell(metrics[m].lo), cell(metrics[m].hi));
    }
  };
  fmt::print(out, "policy,versus,metric,mean,lo,hi\n");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    rows(policies[p].label, "", result.comparison.policies[p]);
  }
  for (std::size_t p = 0; p < policies.size(); ++p) {
    for (std::size_t q = 0; q < policies.size(); ++q) {
      if (p != q) rows(policies[p].label, policies[q].label, result.comparison.versus[p][q]);
    }
  }
}

}  // namespace corun
