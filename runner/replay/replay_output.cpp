#include "runner/replay/replay_output.hpp"

#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "results/results_header.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment_header.hpp"
#include "runner/experiment/real_runs.hpp"
#include "runner/replay/elastic_output.hpp"
#include "runner/replay/service_output.hpp"
#include "support/build_info.hpp"
#include "support/statistics/interval_output.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline runner {

namespace {

Json to_json(const MetricIntervals& intervals, const std::vector<Metric>& metrics) {
  Json out = Json::object();
  for (const Metric m : metrics) {
    out[std::string(metric_info(m).name)] = interval_json(intervals[static_cast<std::size_t>(m)]);
  }
  return out;
}

Json to_json(const Coverage& c) {
  Json json{{"measured", c.measured}, {"modelled", c.modelled}, {"extrapolated", c.extrapolated}};
  if (c.solo) {
    Json& solo = json["solo_times"];
    for (std::size_t s = 0; s < kSoloSources; ++s) {
      solo[name_of(static_cast<SoloSource>(s))] = (*c.solo)[s];
    }
  }
  return json;
}

}  // namespace

Json to_json(const Experiment& experiment, const ReplayResult& result, const ReplayView& view) {
  const std::vector<Metric> metrics = view.all_metrics();
  Json out;
  out["corun"] = version();
  out["config"] = to_json(experiment.config());
  out["replications"] = result.replications.size();
  out["coverage"] = to_json(result.coverage);
  out["warnings"] = texts_of(experiment.notes());
  out["real_runs"] = real_runs_text(experiment.policies(), experiment.cluster());
  out["inputs"] = experiment.inputs();
  const auto& policies = experiment.policies();
  out["baseline"] = view.baseline ? Json(policies[*view.baseline].label) : Json(nullptr);
  out["policies"] = Json::array();
  std::vector<Json> failures(policies.size(), Json::array());
  for (const FailedRun& run : failed_runs(result)) {
    failures[run.policy].push_back({{"replication", run.replication}, {"reason", run.reason}});
  }
  for (std::size_t p = 0; p < policies.size(); ++p) {
    Json entry;
    entry["policy"] = policies[p].entry->name;
    entry["label"] = policies[p].label;
    entry["parameters"] = parameters_json(policies[p]);
    entry["granted_truth"] = policies[p].granted_truth;
    const RealRun* real = real_run_of(policies[p], experiment.cluster());
    entry["real_run"] = real == nullptr ? Json(nullptr)
                                        : Json{{"run", real->run},
                                               {"source", real->source},
                                               {"mean_jct_error", real->mean_jct_error},
                                               {"makespan_error", real->makespan_error},
                                               {"job_error_median", real->job_error_median},
                                               {"job_error_p90", real->job_error_p90}};
    if (!failures[p].empty()) entry["failures"] = failures[p];
    entry["metrics"] = to_json(result.comparison.policies[p], metrics);
    entry["coverage"] = to_json(result.coverage_by_policy[p]);
    if (Json services = services_json(result, p); !services.empty()) {
      entry["services"] = std::move(services);
    }
    for (const auto& [name, interval] : elastic_figures(result, p)) {
      entry["elastic"][name] = interval_json(interval);
    }
    entry["versus"] = Json::object();
    for (std::size_t q = 0; q < policies.size(); ++q) {
      if (q == p) continue;
      entry["versus"][policies[q].label] = to_json(result.comparison.versus[p][q], metrics);
    }
    out["policies"].push_back(std::move(entry));
  }
  return out;
}

void print_csv(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
               const ReplayView& view) {
  const auto& policies = experiment.policies();
  const auto cells = [](const Interval& i) {
    const auto cell = [](double x) { return std::isnan(x) ? std::string() : csv_number(x); };
    return cell(i.mean) + "," + cell(i.lo) + "," + cell(i.hi);
  };
  std::vector<std::size_t> failures(policies.size(), 0);
  for (const FailedRun& run : failed_runs(result)) ++failures[run.policy];
  fmt::print(out, "policy,metric,mean,mean_lo,mean_hi,versus,diff,lo,hi\n");
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (failures[p] > 0) {
      const double share =
          static_cast<double>(failures[p]) / static_cast<double>(result.replications.size());
      fmt::print(out, "{},failed_runs,{},,,,,,\n", csv_text(policies[p].label), csv_number(share));
    }
    for (const Metric metric : view.all_metrics()) {
      const auto m = static_cast<std::size_t>(metric);
      const bool compared = view.baseline && p != *view.baseline;
      fmt::print(out, "{},{},{},{},{}\n", csv_text(policies[p].label), metric_info(metric).name,
                 cells(result.comparison.policies[p][m]),
                 compared ? csv_text(policies[*view.baseline].label) : "",
                 compared ? cells(result.comparison.versus[p][*view.baseline][m]) : ",,");
    }
    for (const auto& [name, interval] : elastic_figures(result, p)) {
      fmt::print(out, "{},{},{},,,,\n", csv_text(policies[p].label), name, cells(interval));
    }
  }
}

}  // namespace corun::inline runner
