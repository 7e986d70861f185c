#include "live/run/queue_run_output.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "support/statistics/interval_output.hpp"
#include "support/text_table.hpp"

namespace corun::live {

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string metric_name(std::size_t metric) {
  return std::string(metric_info(static_cast<Metric>(metric)).name);
}

Json policy_json(const PolicyResult& result) {
  Json metrics = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    metrics[metric_name(m)] = {{"measured", json_number(result.measured[m])},
                               {"predicted", json_number(result.predicted.metrics[m])}};
  }
  Json errors = nullptr;
  if (const auto error = prediction_error(result)) {
    errors = {{"jobs", error->jobs},
              {"isd", interval_json(error->isd)},
              {"jct_s", interval_json(error->jct_s)}};
  }
  return {{"policy", result.label()},
          {"complete", result.complete},
          {"decisions_repeat", json_or_null(result.repeats)},
          {"metrics", std::move(metrics)},
          {"measured_minus_predicted", std::move(errors)}};
}

/// "measured (predicted)".
std::string both(const PolicyResult& result, Metric metric, double scale) {
  const auto one = [&](double x) {
    return std::isfinite(x) ? fmt::format("{:.1f}", scale * x) : std::string("-");
  };
  return one(at(result.measured, metric)) + " (" + one(at(result.predicted.metrics, metric)) + ")";
}

Rows metric_rows(const QueueRun& run) {
  Rows rows{{"measured (predicted)", "jobs", "failed", "ISD %", "PS %", "JCT s", "makespan s"}};
  for (const PolicyResult& r : run.policies) {
    rows.push_back({r.label() + (r.complete ? "" : " (cut short)"),
                    fmt::format("{:.0f}", at(r.measured, Metric::kJobs)),
                    fmt::format("{:.0f}", at(r.measured, Metric::kFailed)),
                    both(r, Metric::kIsd, 100), both(r, Metric::kPs, 100),
                    both(r, Metric::kJctS, 1), both(r, Metric::kMakespanS, 1)});
  }
  return rows;
}

Rows error_rows(const QueueRun& run) {
  Rows rows{{"measured - predicted", "jobs", "ISD points [95 %]", "JCT s [95 %]"}};
  for (const PolicyResult& r : run.policies) {
    const auto error = prediction_error(r);
    if (!error) continue;
    rows.push_back({r.label(), std::to_string(error->jobs), interval_text(error->isd, 100, 1),
                    interval_text(error->jct_s, 1, 1)});
  }
  return rows;
}

}  // namespace

Json queue_run_json(const QueueRun& run) {
  Json json{{"gpu", run.gpu_name}, {"gpus", run.gpus}, {"policies", Json::array()}};
  for (const PolicyResult& r : run.policies) json["policies"].push_back(policy_json(r));
  return json;
}

std::string queue_run_csv(const QueueRun& run) {
  const auto number = [](double x) { return std::isfinite(x) ? csv_number(x) : ""; };
  std::string text = "policy,metric,measured,predicted\n";
  for (const PolicyResult& r : run.policies) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      text += csv_text(r.label()) + "," + metric_name(m) + "," + number(r.measured[m]) + "," +
              number(r.predicted.metrics[m]) + "\n";
    }
  }
  return text;
}

std::string queue_run_table(const QueueRun& run) {
  std::string text = fmt::format("{}, {} {}\n\n{}", run.gpu_name, run.gpus,
                                 run.gpus == 1 ? "GPU" : "GPUs", aligned(metric_rows(run)));
  const Rows errors = error_rows(run);
  if (errors.size() > 1) text += "\n" + aligned(errors);
  return text;
}

}  // namespace corun::live
