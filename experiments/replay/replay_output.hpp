#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiments/replay/replay.hpp"
#include "experiments/results/results_header.hpp"

/// How a replay is shown: to people, to scripts, to spreadsheets.
namespace corun {

/// The comparison as an aligned table, beside what the JRS paper reports where the workload is its
/// queue, and two lines that say who wins.
void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result);

/// The object of DESIGN section 6; undefined metrics are null.
nlohmann::ordered_json to_json(const Experiment& experiment, const ReplayResult& result);

/// policy,versus,metric,mean,lo,hi: one row per policy and metric (`versus` empty), then one per
/// ordered pair of policies and metric.
void print_csv(std::ostream& out, const Experiment& experiment, const ReplayResult& result);

/// The parameters of a policy as JSON: those given and the fallbacks of the others.
nlohmann::ordered_json parameters_json(const PolicyInstance& policy);

/// What a results file of this experiment says of itself.
ResultsHeader results_header(const Experiment& experiment);

/// One world of `--worlds`: its name and what came out.
struct WorldResult {
  std::string world;
  const Experiment* experiment = nullptr;
  const ReplayResult* result = nullptr;
};

/// Whether the ranking of policies by mean ISD survives the change of world: per world the ranking,
/// and Kendall's tau of each with the first.
void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds);
nlohmann::ordered_json ranking_json(const std::vector<WorldResult>& worlds);

}  // namespace corun
