#include "cli/trace/trace_report.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/replay/left_out_table.hpp"
#include "sim/base/text.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::inline cli {

namespace {

constexpr std::array<std::string_view, std::size(kWorkQuantiles)> kQuantileNames{
    "min", "p5", "p25", "median", "p75", "p95", "p99", "max"};

std::vector<std::string> texts_of(const std::vector<LeftOut>& left_out) {
  std::vector<std::string> texts;
  for (const LeftOut& l : left_out) texts.push_back(text_of(l));
  return texts;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

/// The GPU type on which each run time was measured: "v100 (70 jobs), t4 (50 jobs)".
std::string measured_types_of(const Trace& trace) {
  std::map<std::uint32_t, std::size_t> jobs;  // by bit; 0: the job names no type, or several
  for (const TraceJob& job : trace.jobs) {
    const std::uint32_t models = job.spec.gpu_models;
    ++jobs[std::popcount(models) == 1 ? models : 0];
  }
  std::vector<std::string> parts;
  for (const auto& [bit, count] : jobs) {
    std::string type = "a GPU type that the file does not name";
    if (bit != 0) {
      type = printable(trace.gpu_model_names[static_cast<std::size_t>(std::countr_zero(bit))]);
    } else if (!trace.reference_type.empty()) {
      type = printable(trace.reference_type);
    }
    parts.push_back(fmt::format("{} ({} job{})", type, count, count == 1 ? "" : "s"));
  }
  return fmt::format("measured on {}", fmt::join(parts, ", "));
}

std::string summary_of(const TraceReport& report, const TraceStatistics& s) {
  std::string out;
  const auto line = [&](std::string_view what, const std::string& value) {
    out += fmt::format("{:<22}{}\n", what, value);
  };
  line("trace", printable(report.file, 300) + " (" + report.format + ")");
  line("jobs", std::to_string(s.jobs));
  line("GPUs asked for", fmt::format("{:.6g} in all, {:.4g} per job; {} jobs ask for a part of one",
                                     s.gpus, s.gpus / static_cast<double>(s.jobs), s.sharing));
  line("work", fmt::format("{:.6g} GPU-hours", s.gpu_s / 3600));
  line("run times", measured_types_of(*report.trace));
  if (s.arrivals_per_hour) {
    line("submitted",
         fmt::format("over {:.4g} hours, {:.4g} per hour; gaps vary by {:.3g} (Poisson: 1)",
                     (s.last_submit_s - s.first_submit_s) / 3600, *s.arrivals_per_hour,
                     *s.arrival_variation));
  } else {
    line("submitted", fmt::format("all at {:.6g} s", s.first_submit_s));
  }
  if (report.gpus) {
    const auto load = offered_load(s, *report.gpus);
    line("offered load",
         load ? fmt::format("{:.3g} of {} GPUs{}", *load, *report.gpus,
                            *load > 1 ? ": more than they can do without sharing" : "")
              : "none: all are submitted at once");
    if (s.gangs.back().gpus > *report.gpus) {
      line("does not fit", fmt::format("a job asks for {} GPUs at once, the cluster has {}",
                                       s.gangs.back().gpus, *report.gpus));
    }
  }
  line("profiles",
       fmt::format("{} jobs have one, {} a known demand of memory", s.with_profile, s.with_memory));
  if (s.elastic > 0) {
    line("elastic",
         fmt::format("{} jobs, on {} to {} GPUs", s.elastic, s.elastic_least, s.elastic_most));
  }
  if (s.spread > 0) {
    line("spread",
         fmt::format("{} jobs ran on several nodes, up to {}", s.spread, s.most_run_nodes));
  }
  if (s.most_phases > 0) {
    line("phases",
         fmt::format("{} jobs change, up to {} phases each; {} need more memory in a later one",
                     s.changing, s.most_phases, s.memory_grows));
  }
  if (s.with_model > 0) {
    line("GPU models", fmt::format("{} jobs name some of {}", s.with_model,
                                   fmt::join(report.trace->gpu_model_names, ", ")));
  }
  return out;
}

/// What was assumed of the file, jobs by state, and rows that are no jobs, with their reason.
std::string rows_table(const Trace& trace) {
  std::string out;
  if (!trace.states.empty()) {
    out += fmt::format("\n{:<24}  {:>10}\n", "state", "rows");
    for (const JobsInState& s : trace.states) {
      out += fmt::format("{:<24}  {:>10}{}\n", printable(s.state, 24), s.rows,
                         s.chosen ? "" : "  left out");
    }
  }
  out += left_out_table(trace.left_out);
  if (!trace.assumptions.empty()) out += "\nassumed\n";
  for (const std::string& assumption : trace.assumptions) out += "  " + assumption + "\n";
  return out;
}

std::string work_table(const TraceStatistics& s) {
  std::string out = "\nrun time alone [s]\n";
  for (std::size_t i = 0; i < s.work_quantiles_s.size(); ++i) {
    out += fmt::format("  {:<8}{:>14.6g}\n", kQuantileNames[i], s.work_quantiles_s[i]);
  }
  out += fmt::format("  {:<8}{:>14.6g}\n", "mean", s.mean_work_s);
  return out;
}

/// The fewest nodes and switches that a gang can be on; nothing where the cluster does not say.
struct LeastSpread {
  std::optional<int> nodes, switches;
};
LeastSpread least_spread(const TraceReport& report, int gpus) {
  LeastSpread spread;
  if (report.gpus_per_node == 0) return spread;
  spread.nodes = (gpus - 1) / report.gpus_per_node + 1;
  if (report.nodes_per_switch > 0) {
    spread.switches = (*spread.nodes - 1) / report.nodes_per_switch + 1;
  }
  return spread;
}

std::string gangs_table(const TraceReport& report, const TraceStatistics& s) {
  std::string out = fmt::format("\n{:>8}  {:>10}  {:>9}  {:>13}  {:>9}", "gang", "jobs", "of jobs",
                                "GPU-hours", "of work");
  if (report.gpus_per_node > 0) out += fmt::format("  {:>8}", "nodes");
  if (report.nodes_per_switch > 0) out += fmt::format("  {:>8}", "switches");
  out += "\n";
  const auto jobs = static_cast<double>(s.jobs);
  for (const GangStatistics& g : s.gangs) {
    out += fmt::format("{:>8}  {:>10}  {:>9}  {:>13.6g}  {:>9}", g.gpus, g.jobs,
                       percent(static_cast<double>(g.jobs), jobs), g.gpu_s / 3600,
                       percent(g.gpu_s, s.gpu_s));
    const LeastSpread spread = least_spread(report, g.gpus);
    if (spread.nodes) out += fmt::format("  {:>8}", *spread.nodes);
    if (spread.switches) out += fmt::format("  {:>8}", *spread.switches);
    out += "\n";
  }
  return out;
}

std::string virtual_clusters_table(const TraceStatistics& s) {
  if (s.virtual_clusters.empty()) return "";
  const auto jobs = static_cast<double>(s.jobs);
  std::string out = fmt::format("\n{:<24}  {:>10}  {:>9}  {:>13}  {:>9}\n", "virtual cluster",
                                "jobs", "of jobs", "GPU-hours", "of work");
  for (const VirtualClusterStatistics& v : s.virtual_clusters) {
    out += fmt::format("{:<24}  {:>10}  {:>9}  {:>13.6g}  {:>9}\n",
                       v.name.empty() ? "(none)" : printable(v.name), v.jobs,
                       percent(static_cast<double>(v.jobs), jobs), v.gpu_s / 3600,
                       percent(v.gpu_s, s.gpu_s));
  }
  return out;
}

/// Statistics of a GPU type and its load.
struct TypeRow {
  GpuTypeStatistics jobs;
  std::optional<double> gpus;  ///< of the cluster
  std::optional<double> load;  ///< of the type's GPUs if all jobs that may run there did
  PeakDemand peak;             ///< of the jobs that run there only
};

std::vector<TypeRow> rows_by_type(const TraceReport& report, const TraceStatistics& s) {
  std::vector<std::string> names;
  for (const GpusOfType& type : report.types) names.push_back(type.gpu_type);
  std::vector<double> gpus;
  for (const GpusOfType& type : report.types) gpus.push_back(type.gpus);
  std::vector<PeakDemand> peaks;
  if (!gpus.empty()) peaks = peak_demands(*report.trace, names, gpus);
  std::vector<TypeRow> rows;
  for (GpuTypeStatistics& type : gpu_type_statistics(*report.trace, names)) {
    TypeRow row{std::move(type), std::nullopt, std::nullopt, {}};
    if (!report.types.empty()) {
      row.peak = peaks[rows.size()];
      row.gpus = report.types[rows.size()].gpus;
      if (const auto all = offered_load(s, *row.gpus)) {
        row.load = s.gpu_s > 0 ? *all * row.jobs.gpu_s / s.gpu_s : 0;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string types_table(const TraceReport& report, const TraceStatistics& s) {
  const std::vector<TypeRow> rows = rows_by_type(report, s);
  if (rows.empty()) return "";
  std::string out = fmt::format(
      "\njobs that may run on each GPU type, and their work if all of them ran there\n{:<24}  "
      "{:>7}  {:>10}  {:>10}  {:>10}  {:>13}  {:>9}\n",
      "GPU type", "GPUs", "jobs", "only there", "measured", "GPU-hours", "load");
  for (const TypeRow& row : rows) {
    out += fmt::format("{:<24}  {:>7}  {:>10}  {:>10}  {:>10}  {:>13.6g}  {:>9}\n",
                       printable(row.jobs.gpu_type, 24),
                       row.gpus ? fmt::format("{:g}", *row.gpus) : "-", row.jobs.jobs,
                       row.jobs.only_here, row.jobs.measured, row.jobs.gpu_s / 3600,
                       row.load ? fmt::format("{:.3g}", *row.load) : "-");
  }
  for (const TypeRow& row : rows) {
    if (row.peak.above_s <= 0) continue;
    out += fmt::format(
        "warning: the jobs that run on {} only ask for up to {:g} GPUs at once; it has {:g}, and "
        "for "
        "{:.4g} hours they ask for more: they wait then\n",
        printable(row.jobs.gpu_type, 24), row.peak.gpus, *row.gpus, row.peak.above_s / 3600);
  }
  return out;
}

}  // namespace

std::string trace_report_table(const TraceReport& report) {
  const TraceStatistics s = trace_statistics(*report.trace);
  return summary_of(report, s) + work_table(s) + gangs_table(report, s) +
         virtual_clusters_table(s) + types_table(report, s) + rows_table(*report.trace);
}

nlohmann::ordered_json trace_report_json(const TraceReport& report) {
  const TraceStatistics s = trace_statistics(*report.trace);
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  Json json{{"file", report.file},
            {"format", report.format},
            {"jobs", s.jobs},
            {"skipped", texts_of(report.trace->left_out)},
            {"assumptions", report.trace->assumptions},
            {"gpus_asked", s.gpus},
            {"jobs_on_a_share", s.sharing},
            {"jobs_with_profile", s.with_profile},
            {"jobs_with_known_memory", s.with_memory},
            {"jobs_with_gpu_models", s.with_model},
            {"gpu_models", report.trace->gpu_model_names},
            {"jobs_elastic", s.elastic},
            {"elastic_least_gpus", s.elastic > 0 ? Json(s.elastic_least) : Json(nullptr)},
            {"elastic_most_gpus", s.elastic > 0 ? Json(s.elastic_most) : Json(nullptr)},
            {"jobs_spread", s.spread},
            {"most_run_nodes", s.spread > 0 ? Json(s.most_run_nodes) : Json(nullptr)},
            {"jobs_with_phases", s.changing},
            {"most_phases", s.most_phases},
            {"jobs_whose_memory_grows", s.memory_grows},
            {"gpu_hours", s.gpu_s / 3600},
            {"first_submit_s", s.first_submit_s},
            {"last_submit_s", s.last_submit_s},
            {"arrivals_per_hour", or_null(s.arrivals_per_hour)},
            {"arrival_variation", or_null(s.arrival_variation)}};
  json["solo_s"] = {{"mean", s.mean_work_s}};
  for (std::size_t i = 0; i < s.work_quantiles_s.size(); ++i) {
    json["solo_s"][std::string(kQuantileNames[i])] = s.work_quantiles_s[i];
  }
  json["gangs"] = Json::array();
  for (const GangStatistics& g : s.gangs) {
    const LeastSpread spread = least_spread(report, g.gpus);
    json["gangs"].push_back(
        {{"gpus", g.gpus},
         {"jobs", g.jobs},
         {"gpu_hours", g.gpu_s / 3600},
         {"least_nodes", spread.nodes ? Json(*spread.nodes) : Json(nullptr)},
         {"least_switches", spread.switches ? Json(*spread.switches) : Json(nullptr)}});
  }
  json["virtual_clusters"] = Json::array();
  for (const VirtualClusterStatistics& v : s.virtual_clusters) {
    json["virtual_clusters"].push_back(
        {{"name", v.name}, {"jobs", v.jobs}, {"gpu_hours", v.gpu_s / 3600}});
  }
  json["gpu_types"] = Json::array();
  for (const TypeRow& row : rows_by_type(report, s)) {
    json["gpu_types"].push_back(
        {{"name", row.jobs.gpu_type},
         {"jobs", row.jobs.jobs},
         {"jobs_only_there", row.jobs.only_here},
         {"jobs_measured", row.jobs.measured},
         {"gpu_hours", row.jobs.gpu_s / 3600},
         {"cluster_gpus", or_null(row.gpus)},
         {"offered_load", or_null(row.load)},
         {"most_gpus_asked", row.gpus ? Json(row.peak.gpus) : Json(nullptr)},
         {"hours_above", row.gpus ? Json(row.peak.above_s / 3600) : Json(nullptr)}});
  }
  json["left_out"] = Json::array();
  for (const LeftOut& l : report.trace->left_out) {
    json["left_out"].push_back(
        {{"reason", l.reason},
         {"rows", l.rows},
         {"first_line", l.first_line == 0 ? Json(nullptr) : Json(l.first_line)}});
  }
  json["states"] = Json::array();
  for (const JobsInState& state : report.trace->states) {
    json["states"].push_back(
        {{"state", state.state}, {"rows", state.rows}, {"jobs", state.chosen}});
  }
  json["cluster_gpus"] = or_null(report.gpus);
  json["offered_load"] = report.gpus ? or_null(offered_load(s, *report.gpus)) : Json(nullptr);
  return json;
}

std::string trace_report_csv(const TraceReport& report) {
  const Json json = trace_report_json(report);
  std::string text = "figure,value\n";
  const auto value_of = [](const Json& value) {
    return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
  };
  const auto row = [&](const std::string& figure, const Json& value) {
    text.append(csv_text(figure)).append(",").append(csv_text(value_of(value))).append("\n");
  };
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      for (const auto& [inner, figure] : value.items())
        row(fmt::format("{}.{}", key, inner), figure);
    } else if (value.is_array()) {
      for (const Json& item : value) {
        if (!item.is_object()) {
          row(key, item);
          continue;
        }
        const std::string name = key + "[" + value_of(item.begin().value()) + "]";
        for (auto field = std::next(item.begin()); field != item.end(); ++field) {
          row(name + "." + field.key(), field.value());
        }
      }
    } else {
      row(key, value);
    }
  }
  return text;
}

}  // namespace corun::inline cli
