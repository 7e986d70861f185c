#include "experiments/replay/replay_output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include "experiments/base/build_info.hpp"
#include "experiments/base/json.hpp"
#include "experiments/config/config_yaml.hpp"
#include "traces/csv_reader.hpp"
#include "traces/paper_workloads.hpp"

namespace corun {

namespace {

Json to_json(const Interval& i) {
  return {{"mean", json_number(i.mean)}, {"lo", json_number(i.lo)}, {"hi", json_number(i.hi)}};
}

Json to_json(const MetricIntervals& metrics) {
  Json out = Json::object();
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    out[std::string(metric_info(static_cast<Metric>(m)).name)] = to_json(metrics[m]);
  }
  return out;
}

Json to_json(const Coverage& c) {
  return {{"measured", c.measured}, {"modelled", c.modelled}, {"extrapolated", c.extrapolated}};
}

const Interval& of(const MetricIntervals& metrics, Metric m) {
  return metrics[static_cast<std::size_t>(m)];
}

/// With this many digits; never "-0.0".
std::string fixed(double x, int digits) {
  std::string text = fmt::format("{:.{}f}", x, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

/// "17.3 [16.9, 17.8]"
std::string with_interval(const Interval& i, double scale, int digits, bool single) {
  if (std::isnan(i.mean)) return "-";
  if (single) return fixed(i.mean * scale, digits);
  return fmt::format("{} [{}, {}]", fixed(i.mean * scale, digits), fixed(i.lo * scale, digits),
                     fixed(i.hi * scale, digits));
}

std::string plain(const Interval& i, double scale, int digits) {
  return std::isnan(i.mean) ? "-" : fixed(i.mean * scale, digits);
}

/// An aligned table: first column to the left, the others to the right.
void print_aligned(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += c == 0 ? fmt::format("{:<{}}", row[c], width[c])
                     : fmt::format("  {:>{}}", row[c], width[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(out, "{}\n", line);
  }
}

/// What the paper reports for a policy on its own queue, as "ISD / PS (Table)"; empty if nothing.
std::string paper_figures(const PolicyInstance& policy) {
  std::string text;
  for (const std::string_view table : {"JRS-IV", "JRS-V", "JRS-VI", "JRS-VII"}) {
    const PaperSchedule schedule = paper_schedule(table);
    if (schedule.policy != policy.entry->name) continue;
    // The printed tables are without exploration and go by the mean alone.
    const auto& settings = policy.config.settings;
    const auto above_zero = [&](const char* name) {
      const auto at = settings.find(name);
      return at != settings.end() && std::get<double>(at->second) > 0;
    };
    const auto explore = settings.find("explore");
    const bool drawn =
        explore != settings.end() && std::get<std::string>(explore->second) != "epsilon";
    if (above_zero("epsilon") || above_zero("risk") || drawn) continue;
    if (!schedule.fill_by.empty()) {
      const auto by = policy.config.settings.find("by");
      const std::string asked =
          by == policy.config.settings.end() ? "utilisation" : std::get<std::string>(by->second);
      if (schedule.fill_by != asked) continue;
    }
    const PaperReported reported = paper_reported(table);
    text = fmt::format("{:.1f} / {:.1f} ({})", reported.isd_with_bin_pct, reported.ps_with_bin_pct,
                       table.substr(4));
  }
  return text;
}

std::vector<std::size_t> ranked_by_isd(const Comparison& comparison) {
  std::vector<std::size_t> order(comparison.policies.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return of(comparison.policies[a], Metric::kIsd).mean <
           of(comparison.policies[b], Metric::kIsd).mean;
  });
  return order;
}

double kendall_tau(const Comparison& x, const Comparison& y) {
  const std::size_t n = x.policies.size();
  double concordant = 0;
  double pairs = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      const double dx = of(x.policies[a], Metric::kIsd).mean - of(x.policies[b], Metric::kIsd).mean;
      const double dy = of(y.policies[a], Metric::kIsd).mean - of(y.policies[b], Metric::kIsd).mean;
      pairs += 1;
      // A pair tied in both worlds agrees; a tie in one of them says nothing.
      concordant += dx * dy > 0 || (dx == 0 && dy == 0) ? 1 : dx * dy < 0 ? -1 : 0;
    }
  }
  return pairs > 0 ? concordant / pairs : 1;
}

void print_winner(std::ostream& out, const Experiment& experiment, const ReplayResult& result,
                  Metric metric, bool smaller, const char* what) {
  const auto& policies = experiment.policies();
  // Who never shares has slowdown 0 and saves nothing: a bound, not an answer.
  const auto usable = [&](std::size_t p) {
    const Coverage& c = result.coverage_by_policy[p];
    return !policies[p].granted_truth && c.measured + c.modelled + c.extrapolated > 0 &&
           !std::isnan(of(result.comparison.policies[p], metric).mean);
  };
  std::size_t best = policies.size();
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (!usable(p)) continue;
    if (best == policies.size()) {
      best = p;
      continue;
    }
    const double difference = of(result.comparison.policies[p], metric).mean -
                              of(result.comparison.policies[best], metric).mean;
    if (smaller ? difference < 0 : difference > 0) best = p;
  }
  if (best == policies.size()) return;
  std::string ties;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (p == best || !usable(p)) continue;
    const Interval& d = of(result.comparison.versus[p][best], metric);
    if (d.lo <= 0 && d.hi >= 0) ties += (ties.empty() ? "" : ", ") + policies[p].label;
  }
  fmt::print(out, "{}: {}{}\n", what, policies[best].label,
             ties.empty() ? "" : "; not told apart from it (95 %): " + ties);
}

}  // namespace

Json parameters_json(const PolicyInstance& policy) {
  Json out = Json::object();
  const auto put = [&](const std::string& name, const auto& value) {
    std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>) {
            out[name] = nullptr;
          } else if constexpr (std::is_same_v<T, std::vector<JobId>>) {
            out[name] = Json::array();
          } else {
            out[name] = v;
          }
        },
        value);
  };
  for (const ParameterSpec& spec : policy.entry->parameters) {
    const std::string name(spec.name);
    const auto given = policy.config.settings.find(name);
    if (given == policy.config.settings.end()) {
      put(name, spec.fallback);
    } else {
      put(name, given->second);
    }
  }
  return out;
}

ResultsHeader results_header(const Experiment& experiment) {
  ResultsHeader header;
  header.corun_version = version();
  header.commit = commit();
  header.config = dump_yaml(experiment.config());
  header.seed = experiment.config().seed;
  header.inputs = experiment.inputs();
  for (const PolicyInstance& policy : experiment.policies()) {
    header.policies.push_back({policy.label, std::string(policy.entry->name),
                               parameters_json(policy).dump(), policy.granted_truth});
  }
  return header;
}

void print_table(std::ostream& out, const Experiment& experiment, const ReplayResult& result) {
  const Config& config = experiment.config();
  const auto& policies = experiment.policies();
  // The papers probed nobody.
  const bool paper_queue = config.workload.source == "jrs-queue" && config.probing.probes == 0;
  const std::size_t jobs =
      result.replications.empty() ? 0 : result.replications.front().trace->names.size();
  const std::vector<std::string> models = experiment.cluster().models();
  fmt::print(
      out, "{}: {} jobs on {} x {} ({}), {} start; world {}{}{}; belief {} from {}\n",
      config.workload.source, jobs, experiment.cluster().gpu_count(), fmt::join(models, ", "),
      name_of(config.cluster.sharing), name_of(config.control.start), config.world.model.text(),
      config.world.model == WorldKind::kMeasured
          ? fmt::format(" (else {})", config.world.fallback.text())
          : "",
      config.world.noise ? "" : ", no noise", config.belief.model.text(), config.belief.initial);

  if (config.probing.probes > 0) {
    fmt::print(out, "policies that learn from probes: up to {} probe{} of {:g} s per job{}\n",
               config.probing.probes, config.probing.probes == 1 ? "" : "s", config.probing.seconds,
               config.probing.keeps_progress ? ", progress kept" : "");
  }

  std::size_t random = policies.size();
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (policies[p].entry->name == "random" && random == policies.size()) random = p;
  }
  const bool versus = random < policies.size();
  const std::size_t n = result.replications.size();
  fmt::print(out, "{} replication{}, seed {}{}{}\n\n", n, n == 1 ? "" : "s", config.seed,
             n == 1 ? "; one says nothing about chance: no intervals" : "; [95 % intervals]",
             versus ? "; v. random: paired difference" : "");
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"policy", "ISD %", "PS %"});
  if (versus) {
    rows.front().insert(rows.front().end(), {"ISD v. random", "PS v. random"});
  }
  rows.front().insert(rows.front().end(), {"JCT s", "makespan s", "GPU util %", "measured %"});
  if (paper_queue) rows.front().push_back("paper: ISD / PS");
  bool truth = false;
  double jobs_given_up = 0;
  std::string given_up_under;
  bool oom = false;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const MetricIntervals& m = result.comparison.policies[p];
    std::vector<std::string> row{policies[p].label + (policies[p].granted_truth ? " *" : ""),
                                 with_interval(of(m, Metric::kIsd), 100, 1, n == 1),
                                 with_interval(of(m, Metric::kPs), 100, 1, n == 1)};
    if (versus) {
      const MetricIntervals& d = result.comparison.versus[p][random];
      row.push_back(p == random ? "" : with_interval(of(d, Metric::kIsd), 100, 1, n == 1));
      row.push_back(p == random ? "" : with_interval(of(d, Metric::kPs), 100, 1, n == 1));
    }
    row.push_back(plain(of(m, Metric::kJctS), 1, 0));
    row.push_back(plain(of(m, Metric::kMakespanS), 1, 0));
    row.push_back(plain(of(m, Metric::kGpuUtil), 100, 1));
    const Coverage& coverage = result.coverage_by_policy[p];
    const double shared = coverage.measured + coverage.modelled + coverage.extrapolated;
    row.push_back(shared > 0 ? fixed(coverage.measured * 100, 0) : "-");
    if (paper_queue) row.push_back(paper_figures(policies[p]));
    rows.push_back(std::move(row));
    truth |= policies[p].granted_truth;
    oom |= of(m, Metric::kOom).mean > 0;
    if (const double failed = of(m, Metric::kFailed).mean; failed > 0) {
      given_up_under += (given_up_under.empty() ? "" : ", ") + policies[p].label;
      jobs_given_up = std::max(jobs_given_up, failed);
    }
  }
  print_aligned(out, rows);
  fmt::print(out, "\n");
  if (n > 1) {
    print_winner(out, experiment, result, Metric::kIsd, true, "least slowdown");
    print_winner(out, experiment, result, Metric::kPs, false, "most packing saving");
  }
  fmt::print(out,
             "ISD: how much longer a job took than alone, less is better; PS: time saved by a "
             "group on its GPU, more is better\n");
  const Coverage& c = result.coverage;
  if (c.measured + c.modelled + c.extrapolated > 0) {
    fmt::print(out,
               "co-run time whose cost was measured {:.1f} %, modelled {:.1f} %, extrapolated "
               "{:.1f} %\n",
               c.measured * 100, c.modelled * 100, c.extrapolated * 100);
  }
  if (truth) fmt::print(out, "* was granted the truth about co-run costs: a bound, not a policy\n");
  if (paper_queue) {
    fmt::print(out,
               "paper: means over the printed rows of that JRS table, bins included; one run "
               "each, on its own pairs\n");
  }
  if (!given_up_under.empty()) {
    fmt::print(
        out,
        "up to {:.4g} of {} jobs were given up, out of memory once too often, under {}: times "
        "and slowdowns are of the others\n",
        jobs_given_up, jobs, given_up_under);
  } else if (oom) {
    fmt::print(out,
               "some runs ended out of memory and were repeated: see `oom` in --format json\n");
  }
  if (result.interrupted) {
    fmt::print(out, "interrupted: {} of {} replications\n", result.replications.size(),
               config.replications);
  }
}

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

void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds) {
  fmt::print(out, "ranking by mean ISD, best first (tau: Kendall's, with {})\n",
             worlds.front().world);
  std::size_t width = 0;
  for (const WorldResult& w : worlds) width = std::max(width, w.world.size());
  bool survives = true;
  for (const WorldResult& w : worlds) {
    std::string line;
    for (const std::size_t p : ranked_by_isd(w.result->comparison)) {
      line += (line.empty() ? "" : " < ") + w.experiment->policies()[p].label;
    }
    const double tau = kendall_tau(worlds.front().result->comparison, w.result->comparison);
    survives &=
        ranked_by_isd(w.result->comparison) == ranked_by_isd(worlds.front().result->comparison);
    fmt::print(out, "  {:<{}}  tau {:+.2f}  {}\n", w.world, width, tau, line);
  }
  fmt::print(out, "the ranking {} the change of world\n",
             survives ? "survives" : "does not survive");
}

Json ranking_json(const std::vector<WorldResult>& worlds) {
  Json out;
  bool survives = true;
  const auto first = ranked_by_isd(worlds.front().result->comparison);
  out["worlds"] = Json::array();
  for (const WorldResult& w : worlds) {
    Json entry;
    entry["world"] = w.world;
    entry["ranking"] = Json::array();
    const auto order = ranked_by_isd(w.result->comparison);
    for (const std::size_t p : order) {
      entry["ranking"].push_back(w.experiment->policies()[p].label);
    }
    entry["tau"] = kendall_tau(worlds.front().result->comparison, w.result->comparison);
    survives &= order == first;
    out["worlds"].push_back(std::move(entry));
  }
  out["survives"] = survives;
  return out;
}

}  // namespace corun
