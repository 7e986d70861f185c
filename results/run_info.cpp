#include "results/run_info.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "support/atomic_file.hpp"
#include "support/json.hpp"

namespace corun::inline results {

void write_run_json(const std::string& results_path, const RunInfo& info,
                    const ResultsHeader& header, const ReplayResult& result) {
  Json json;
  json["kind"] = "corun run";
  json["schema_version"] = kResultsSchemaVersion;
  json["corun_version"] = header.corun_version;
  json["commit"] = header.commit;
  json["results"] = results_path;
  json["complete"] = !result.interrupted;
  json["replications"] = result.replications.size();
  if (!info.started_utc.empty()) json["started_utc"] = info.started_utc;
  json["wall_s"] = info.wall_s;
  json["threads"] = info.threads;
  json["device"] = info.device;
  json["policies"] = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < header.policies.size(); ++p) {
    double total = 0;
    double longest = 0;
    std::size_t passes = 0;
    for (const Replication& r : result.replications) {
      total += r.runs[p].decide_s;
      longest = std::max(longest, r.runs[p].longest_decision_s);
      passes += r.runs[p].record.passes;
    }
    nlohmann::ordered_json policy = {{"policy", header.policies[p].label}, {"passes", passes}};
    policy["decide_s"] = total;
    policy["longest_decision_s"] = longest;
    const DecisionTimes times = decision_times(result, p);
    policy["pass_p50_s"] = times.quantile_s(0.5);
    policy["pass_p95_s"] = times.quantile_s(0.95);
    policy["pass_p99_s"] = times.quantile_s(0.99);
    policy["pass_max_s"] = times.max_s();
    if (const PlanLosses losses = plan_losses(result, p); losses.plans > 0) {
      policy["bounded_plans"] = losses.plans;
      policy["mean_loss"] = losses.sum / static_cast<double>(losses.plans);
      policy["worst_loss"] = losses.worst;
    }
    json["policies"].push_back(std::move(policy));
  }
  write_file_atomically(results_path + ".run.json", json_text(json));
}

}  // namespace corun::inline results
