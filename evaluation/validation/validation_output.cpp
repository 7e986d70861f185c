#include "evaluation/validation/validation_output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "sim/base/math.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/charts/svg_chart.hpp"
#include "support/json.hpp"
#include "support/text_table.hpp"

namespace corun::inline evaluation {

namespace {

constexpr std::size_t kNamedJobs = 3;

std::string per_cent(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }
std::string signed_per_cent(double fraction) { return fmt::format("{:+.1f}", 100 * fraction); }

double job_error(const ValidatedJob& job) { return std::abs(job.jct_s / job.real_jct_s - 1); }

/// A job's name in outputs; most have a number only.
Json job_json(const ValidatedRun& run, std::size_t j) {
  const std::string& name = run.jobs[j].name;
  return name.empty() ? Json(j) : Json(name);
}
std::string job_text(const ValidatedRun& run, std::size_t j) {
  const std::string& name = run.jobs[j].name;
  return name.empty() ? std::to_string(j) : printable(name);
}

/// The jobs that are furthest off.
std::vector<std::size_t> largest(const ValidatedRun& run) {
  std::vector<std::size_t> order(run.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t j) { return job_error(run.jobs[j]); });
  order.resize(std::min(order.size(), kNamedJobs));
  return order;
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> error_cells(const Errors& e) {
  return {signed_per_cent(e.mean_sign), per_cent(e.makespan), per_cent(e.job_median),
          per_cent(e.job_p90)};
}

void append(std::vector<std::string>& row, std::vector<std::string> cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

std::string errors_text(const Validation& v) {
  std::vector<std::vector<std::string>> rows{{"run", "simulated by", "given", "limit", "mean JCT",
                                              "makespan", "job median", "job p90", "largest",
                                              "covered"}};
  for (const ValidatedRun& run : v.runs) {
    std::vector<std::string> row{run.run, "corun", name_of(run.given),
                                 v.in_rounds ? fmt::format("{:g}", run.limit) : "-"};
    append(row, error_cells(run.errors));
    std::string names;
    for (const std::size_t j : largest(run)) {
      names += fmt::format("{}{}: {:.0f}", names.empty() ? "" : ", ", job_text(run, j),
                           100 * job_error(run.jobs[j]));
    }
    row.push_back(names);
    row.push_back(run.covered ? per_cent(*run.covered) : "-");
    rows.push_back(std::move(row));
  }
  for (const AuthorsErrors& authors : v.authors) {
    std::vector<std::string> row{authors.run, "its authors", "policy", "1"};
    append(row, error_cells(authors.errors));
    append(row, {"-", "-"});
    rows.push_back(std::move(row));
  }
  return aligned(std::move(rows));
}

/// How the policies rank; nothing for one.
std::string order_text(const Validation& v) {
  if (!v.tau) return "";
  std::string out = fmt::format("\nKendall's tau of policies by mean JCT, given the {}: {:.2f}",
                                name_of(v.ranked), *v.tau);
  if (v.request.draws > 0) out += fmt::format(" ({:.2f} to {:.2f})", v.tau_low, v.tau_high);
  out += "\n";
  for (const InvertedPair& pair : v.inverted) {
    out += fmt::format("inverted: {} is really shorter than {}, by {:.1f} %\n", pair.first,
                       pair.second, 100 * pair.real_difference);
  }
  return out;
}

std::string progress_text(const Validation& v) {
  std::vector<std::vector<std::string>> rows{
      {"run", "job median", "job p90", "rounds needed / received"}};
  for (const ValidatedRun& run : v.runs) {
    if (!run.progress) continue;
    rows.push_back({run.run, per_cent(run.progress->job_median), per_cent(run.progress->job_p90),
                    fmt::format("{:.3f}", run.progress->rounds_ratio)});
  }
  if (rows.size() == 1) return "";
  return "\nGiven the allocations, but not which round of a job was its last: errors [%]\n" +
         aligned(std::move(rows));
}

std::string parts_text(const Validation& v) {
  std::vector<std::vector<std::string>> rows{
      {"run", "from the run itself", "mean JCT", "makespan", "job median", "job p90"}};
  for (const PartErrors& part : v.parts) {
    std::vector<std::string> row{part.run, part.part};
    append(row, error_cells(part.errors));
    rows.push_back(std::move(row));
  }
  return "\nWhat would be enough: errors [%] with parts of the model from the tested run itself\n" +
         aligned(std::move(rows));
}

std::string kinds_text(const Validation& v) {
  std::vector<std::vector<std::string>> rows{{"run", "given", "kind", "jobs", "bias"}};
  for (const ValidatedRun& run : v.runs) {
    for (const KindBias& kind : run.kinds) {
      rows.push_back({run.run, name_of(run.given), kind.kind, std::to_string(kind.jobs),
                      signed_per_cent(kind.bias)});
    }
  }
  return "\nBias by kind of job: mean of simulated / real - 1 [%]\n" + aligned(std::move(rows));
}

std::string parameters_text(const RunParameters& p) {
  std::string out = fmt::format(
      "\nParameters: round {:g} s + {:.2f} s per start, sd {:.1f} s; round 0 {:.0f} s after its "
      "last arrival, at {:.0f} s; end of a job sd {:.0f} s\n",
      p.round_s, p.per_start_s, p.round_sd_s, p.first_delay_s, p.first_round_s, p.end_sd_s);
  out += "start cost:";
  for (const auto& [model, cost] : p.start_s) out += fmt::format(" {} {:.1f} s,", model, cost);
  out += fmt::format(" other models {:.1f} s; sd {:.1f} s\n", p.unknown_start_s, p.start_sd_s);
  out += fmt::format(
      "speed: sd of the log {:.3f} between configurations, {:.3f} between campaigns, {:.3f} "
      "between jobs, {:.3f} between leases; {:.1f} % of leases are stragglers, at {:.2f} of the "
      "speed\n",
      p.configuration_sd, p.campaign_sd, p.job_sd, p.lease_sd, 100 * p.straggler_share,
      p.straggler_factor);
  return out;
}

Json errors_json(const Errors& e) {
  return {{"mean_jct_error", e.mean_jct},
          {"makespan_error", e.makespan},
          {"job_error_median", e.job_median},
          {"job_error_p90", e.job_p90},
          {"mean_jct_bias", e.mean_sign}};
}

Json run_json(const ValidatedRun& run) {
  Json json{{"run", run.run}, {"policy", run.policy}, {"given", name_of(run.given)}};
  json.update(errors_json(run.errors));
  json["covered"] = json_or_null(run.covered);
  if (!run.jobs.empty() && run.jobs.front().name.empty()) json["limit"] = run.limit;
  json["mean_jct_s"] = {{"real", run.real_mean_jct_s},
                        {"simulated", run.mean_jct_s},
                        {"low", run.mean_low_s},
                        {"high", run.mean_high_s}};
  json["makespan_s"] = {{"real", run.real_makespan_s},
                        {"simulated", run.makespan_s},
                        {"low", run.makespan_low_s},
                        {"high", run.makespan_high_s}};
  if (run.progress) {
    json["own_progress"] = {{"job_error_median", run.progress->job_median},
                            {"job_error_p90", run.progress->job_p90},
                            {"rounds_ratio", run.progress->rounds_ratio}};
  }
  json["largest"] = Json::array();
  for (const std::size_t j : largest(run)) {
    json["largest"].push_back({{"job", job_json(run, j)}, {"error", job_error(run.jobs[j])}});
  }
  json["kinds"] = Json::array();
  for (const KindBias& kind : run.kinds) {
    json["kinds"].push_back({{"kind", kind.kind}, {"jobs", kind.jobs}, {"bias", kind.bias}});
  }
  return json;
}

Json parameters_json(const Validation& v) {
  const RunParameters& p = v.parameters;
  Json starts = Json::object();
  for (const auto& [model, cost] : p.start_s) starts[model] = cost;
  return {{"round_s", p.round_s},
          {"per_start_s", p.per_start_s},
          {"round_sd_s", p.round_sd_s},
          {"first_delay_s", p.first_delay_s},
          {"first_round_s", p.first_round_s},
          {"end_sd_s", p.end_sd_s},
          {"start_s", starts},
          {"unknown_start_s", p.unknown_start_s},
          {"start_sd_s", p.start_sd_s},
          {"configuration_sd", p.configuration_sd},
          {"campaign_sd", p.campaign_sd},
          {"job_sd", p.job_sd},
          {"lease_sd", p.lease_sd},
          {"straggler_share", p.straggler_share},
          {"straggler_factor", p.straggler_factor},
          {"interval_inflation_policy", v.inflation_policy},
          {"interval_inflation_allocation", v.inflation_allocation}};
}

}  // namespace

std::string validation_table(const Validation& v) {
  if (!v.in_rounds) {
    std::string out = fmt::format(
        "{}: jobs of live runs beside the prediction before the run (given the policy) and the "
        "replay of its decisions (given the allocation)\n"
        "Errors |simulated / real - 1| [%]; of the mean with its sign\n\n",
        v.request.directory);
    return out + errors_text(v) + order_text(v) + kinds_text(v);
  }
  std::string out = fmt::format(
      "{}: fitted on {}, tested on {}; {} draws, seed {}\n"
      "Errors |simulated / real - 1| [%]; of the mean with its sign; limit: run-time "
      "limit over declared run time, as declared\n\n",
      v.request.directory, joined(v.request.fit), joined(v.request.test), v.request.draws,
      v.request.seed);
  out += errors_text(v) + order_text(v);
  out += progress_text(v) + parts_text(v) + kinds_text(v) + parameters_text(v.parameters);
  for (const std::string& hint : v.hints) out += "hint: " + hint + "\n";
  return out;
}

nlohmann::ordered_json validation_json(const Validation& v) {
  Json json{{"fit", v.request.fit},
            {"test", v.request.test},
            {"draws", v.request.draws},
            {"seed", v.request.seed}};
  json["runs"] = Json::array();
  for (const ValidatedRun& run : v.runs) json["runs"].push_back(run_json(run));
  json["tau"] = json_or_null(v.tau);
  json["tau_interval"] = v.tau && v.request.draws > 0 ? Json{v.tau_low, v.tau_high} : Json(nullptr);
  json["tau_given"] = name_of(v.ranked);
  json["inverted"] = Json::array();
  for (const InvertedPair& pair : v.inverted) {
    json["inverted"].push_back({{"shorter", pair.first},
                                {"longer", pair.second},
                                {"real_difference", pair.real_difference}});
  }
  json["authors"] = Json::array();
  for (const AuthorsErrors& authors : v.authors) {
    Json row{{"run", authors.run}};
    row.update(errors_json(authors.errors));
    json["authors"].push_back(std::move(row));
  }
  json["enough"] = Json::array();
  for (const PartErrors& part : v.parts) {
    Json row{{"run", part.run}, {"part", part.part}};
    row.update(errors_json(part.errors));
    json["enough"].push_back(std::move(row));
  }
  json["checks"] = Json::array();
  for (const RunCheck& check : v.checks) {
    json["checks"].push_back({{"run", check.run},
                              {"clock", check.clock},
                              {"rates", check.rates},
                              {"run_time_error", check.run_time}});
  }
  json["parameters"] = v.in_rounds ? parameters_json(v) : Json(nullptr);
  json["hints"] = v.hints;
  return json;
}

nlohmann::ordered_json validation_page_json(const Validation& v) {
  Json json = validation_json(v);
  for (std::size_t r = 0; r < v.runs.size(); ++r) {
    Json& jobs = json["runs"][r]["jobs"] = Json::array();
    for (const ValidatedJob& job : v.runs[r].jobs) {
      jobs.push_back(Json::array({job.real_jct_s, job.jct_s, job.low_s, job.high_s}));
    }
  }
  return json;
}

std::string validation_csv(const Validation& v) {
  std::string out = "run,given,job,real_jct_s,jct_s,low_s,high_s,error\n";
  for (const ValidatedRun& run : v.runs) {
    for (std::size_t j = 0; j < run.jobs.size(); ++j) {
      const ValidatedJob& job = run.jobs[j];
      out += fmt::format("{},{},{}", csv_text(run.run), name_of(run.given),
                         csv_text(job.name.empty() ? std::to_string(j) : job.name));
      for (const double x : {job.real_jct_s, job.jct_s, job.low_s, job.high_s, job_error(job)}) {
        out += "," + csv_number(x);
      }
      out += "\n";
    }
  }
  return out;
}

std::string validation_config(const Validation& v) {
  const RunParameters& p = v.parameters;
  std::string costs;
  for (const auto& [model, cost] : p.start_s) {
    if (model.find(',') != std::string::npos) {
      throw InputError("--write-config",
                       "the model '" + printable(model) +
                           "' has a comma in its name, expected none in cluster.start.costs");
    }
    costs += fmt::format("{}{}={:.4g}", costs.empty() ? "" : ",", model, cost);
  }
  std::string quoted;
  for (const char c : costs) quoted += c == '\'' ? "''" : std::string(1, c);
  // That of a log-normal factor with the same ratio of deviation to mean.
  const double ratio = p.unknown_start_s > 0 ? p.start_sd_s / p.unknown_start_s : 0;
  const double start_sigma = std::sqrt(math::log(1 + ratio * ratio));
  std::string out = fmt::format(
      "# What a real cluster adds to a trace, fitted on {} by corun validate (docs/validity.md). "
      "Add "
      "the jobs, the cluster and policies.\n",
      joined(v.request.fit));
  out += fmt::format("cluster:\n  start: {{cost_s: {:.4g}, costs: '{}', sigma: {:.3f}}}\n",
                     p.unknown_start_s, quoted, start_sigma);
  out += "world:\n";
  out += fmt::format("  job_sigma: {:.4f}  # of the run's speeds around the declared ones\n",
                     std::hypot(p.campaign_sd, p.job_sd));
  out += fmt::format("  run_sigma: {:.4f}\n  stragglers: {:.4f}\n  straggler_speed: {:.3f}\n",
                     p.lease_sd, p.straggler_share, p.straggler_factor);
  out +=
      fmt::format("control:\n  round_s: {:g}\n  round_per_start_s: {:.3f}\n  round_sigma: {:.4f}\n",
                  p.round_s, p.per_start_s, p.round_sd_s / p.round_s);
  out += fmt::format(
      "  notice_s: 0  # not in the files: only with the end of a job in its last round, together "
      "sd "
      "{:.0f} s\n",
      p.end_sd_s);
  return out;
}

std::string validation_svg(const Validation& v) {
  LineChart chart;
  chart.title = "Completion times: simulated against real";
  chart.note = v.in_rounds ? "A mark is a job. Fitted on " + joined(v.request.fit) + "."
                           : std::string("A mark is a job.");
  for (const std::string& name : v.request.test) {
    LinePanel panel;
    panel.title = name;
    panel.x_axis = "real completion time [h]";
    panel.y_axis = "simulated completion time [h]";
    double longest = 0;
    for (const ValidatedRun& run : v.runs) {
      if (run.run != name) continue;
      LineSeries series;
      series.name = std::string("given the ") + name_of(run.given);
      for (const ValidatedJob& job : run.jobs) {
        series.points.push_back({job.real_jct_s / 3600, job.jct_s / 3600});
        series.points.emplace_back();  // no line from one job to the next
        longest = std::max({longest, job.real_jct_s / 3600, job.jct_s / 3600});
      }
      panel.series.push_back(std::move(series));
    }
    panel.series.push_back({"equal", {{0, 0}, {longest, longest}}});
    chart.panels.push_back(std::move(panel));
  }
  return svg_line_chart(chart);
}

}  // namespace corun::inline evaluation
