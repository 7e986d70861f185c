#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/charts/svg_chart.hpp"
#include "experiments/commands/live_command.hpp"
#include "experiments/config/config_yaml.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/live/run/live_config.hpp"
#include "experiments/live/run/run_files.hpp"
#include "experiments/live/run/validation.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

/// `corun live validate`: what `corun live run` has measured, beside what the simulator says of it.
namespace corun::live {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
constexpr const char* kPlace = "corun live validate";

/// The overrides of keys that live configurations and others share.
std::vector<std::string> shared_overrides(const std::vector<std::string>& overrides) {
  std::vector<std::string> shared;
  for (const std::string& text : overrides) {
    const std::string first = text.substr(0, text.find_first_of(".[="));
    if (first != "live" && first != "workloads" && first != "queue") shared.push_back(text);
  }
  return shared;
}

/// The run in `directory` must be of this configuration's queue.
void check_queue(const LiveConfig& config, const Trace& queue, const std::string& directory) {
  const auto differs = [&](const std::string& how) {
    throw InputError(config.queue_place, "the run in '" + printable(directory, 300) +
                                             "' is of another queue: " + how +
                                             "; run corun live run CONFIG again, or give the "
                                             "directory in place of CONFIG");
  };
  if (config.queue.size() != queue.names.size()) {
    differs("it has " + std::to_string(queue.names.size()) + " jobs, this one " +
            std::to_string(config.queue.size()));
  }
  for (std::size_t j = 0; j < queue.names.size(); ++j) {
    if (config.queue[j].name == queue.names[j] &&
        config.queue[j].submit == queue.workload.jobs[j].submit) {
      continue;
    }
    differs("its job " + std::to_string(j + 1) + " is '" + queue.names[j] + "' at " +
            csv_seconds(queue.workload.jobs[j].submit) + " s, here it is '" + config.queue[j].name +
            "' at " + csv_seconds(config.queue[j].submit) + " s");
  }
}

std::vector<std::string> names_of(const std::vector<JobId>& jobs, const Trace& queue) {
  std::vector<std::string> names;
  for (const JobId j : jobs) names.push_back(queue.names[index(j)]);
  return names;
}

// ---- as JSON ------------------------------------------------------------------------------------

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const std::optional<ValidationError>& error) {
  if (!error) return nullptr;
  const auto interval = [](const Interval& x) {
    return Json{{"mean", x.mean}, {"lo", x.lo}, {"hi", x.hi}};
  };
  Json json = interval(error->mean);
  json["size"] = interval(error->size);
  json["count"] = error->count;
  return json;
}

Json json_of(const Validated& v) {
  return {{"measured", or_null(v.measured)},
          {"predicted", or_null(v.predicted)},
          {"replayed", or_null(v.replayed)},
          {"measured_minus_predicted", json_of(v.error_of_predicted)},
          {"measured_minus_replayed", json_of(v.error_of_replayed)}};
}

Json json_of(const PolicyValidation& p, const Trace& queue) {
  Json jobs = Json::array();
  for (const ValidatedJob& j : p.jobs) {
    const auto figure = [&](double JobFigures::*f) {
      return Json{{"measured", j.measured.*f},
                  {"predicted", j.predicted ? Json((*j.predicted).*f) : Json(nullptr)},
                  {"replayed", j.replayed.*f}};
    };
    jobs.push_back({{"job", queue.names[index(j.job)]},
                    {"gpu", index(j.gpu)},
                    {"company", names_of(j.company, queue)},
                    {"isd", figure(&JobFigures::isd)},
                    {"jct_s", figure(&JobFigures::jct_s)}});
  }
  Json groups = Json::array();
  for (const ValidatedGroup& g : p.groups) {
    groups.push_back({{"jobs", names_of(g.jobs, queue)},
                      {"together", g.together},
                      {"ps", {{"measured", g.measured_ps}, {"replayed", g.replayed_ps}}}});
  }
  return {{"policy", p.label},
          {"left_out", {{"failed", p.failed}, {"not_run", p.not_run}, {"beside", p.beside}}},
          {"isd", json_of(p.isd)},
          {"jct_s", json_of(p.jct_s)},
          {"ps", json_of(p.ps)},
          {"jobs", std::move(jobs)},
          {"groups", std::move(groups)}};
}

// ---- as CSV and as tables -----------------------------------------------------------------------

std::string csv_of(const std::vector<PolicyValidation>& policies, const Trace& queue) {
  std::string text = "policy,jobs,company,metric,measured,predicted,replayed\n";
  for (const PolicyValidation& p : policies) {
    const auto row = [&](const std::vector<JobId>& jobs, const std::vector<JobId>& company,
                         const char* metric, double measured, std::optional<double> predicted,
                         double replayed) {
      text += fmt::format("{},{},{},{},{},{},{}\n", csv_text(p.label),
                          fmt::join(names_of(jobs, queue), "+"),
                          fmt::join(names_of(company, queue), "+"), metric, csv_number(measured),
                          predicted ? csv_number(*predicted) : "", csv_number(replayed));
    };
    for (const ValidatedJob& j : p.jobs) {
      const auto both = [&](const char* metric, double JobFigures::*f) {
        row({j.job}, j.company, metric, j.measured.*f,
            j.predicted ? std::optional((*j.predicted).*f) : std::nullopt, j.replayed.*f);
      };
      both("isd", &JobFigures::isd);
      both("jct_s", &JobFigures::jct_s);
    }
    for (const ValidatedGroup& g : p.groups) {
      row(g.jobs, {}, "ps", g.measured_ps, std::nullopt, g.replayed_ps);
    }
  }
  return text;
}

std::string scaled(const std::optional<double>& value, double scale, int digits = 1) {
  return value ? fmt::format("{:.{}f}", scale * *value, digits) : "-";
}

std::string scaled(const Interval& x, double scale, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", scale * x.mean, digits, scale * x.lo, digits,
                     scale * x.hi, digits);
}

std::string table_of(const PolicyValidation& p, const Trace& queue) {
  std::vector<std::vector<std::string>> rows{
      {p.label, "with", "ISD %", "predicted", "replayed", "JCT s", "predicted", "replayed"}};
  for (const ValidatedJob& j : p.jobs) {
    const auto predicted = [&](double JobFigures::*f) {
      return j.predicted ? std::optional((*j.predicted).*f) : std::nullopt;
    };
    rows.push_back({queue.names[index(j.job)],
                    fmt::format("{}", fmt::join(names_of(j.company, queue), " + ")),
                    scaled(j.measured.isd, 100), scaled(predicted(&JobFigures::isd), 100),
                    scaled(j.replayed.isd, 100), scaled(j.measured.jct_s, 1, 2),
                    scaled(predicted(&JobFigures::jct_s), 1, 2), scaled(j.replayed.jct_s, 1, 2)});
  }
  std::string text = aligned(rows);
  rows = {{"co-run", "PS %", "replayed"}};
  for (const ValidatedGroup& g : p.groups) {
    if (g.jobs.size() < 2) continue;
    rows.push_back({fmt::format("{}", fmt::join(names_of(g.jobs, queue), " + ")),
                    scaled(g.measured_ps, 100), scaled(g.replayed_ps, 100)});
  }
  if (rows.size() > 1) text += "\n" + aligned(rows);
  return text + "\n";
}

std::string summary_of(const std::vector<PolicyValidation>& policies) {
  std::vector<std::vector<std::string>> rows{
      {"measured (predicted, replayed)", "jobs", "left out", "ISD %", "JCT s", "PS %"}};
  for (const PolicyValidation& p : policies) {
    const auto three = [](const Validated& v, double scale, int digits = 1) {
      return fmt::format("{} ({}, {})", scaled(v.measured, scale, digits),
                         scaled(v.predicted, scale, digits), scaled(v.replayed, scale, digits));
    };
    rows.push_back({p.label, std::to_string(p.jobs.size()),
                    std::to_string(p.failed + p.not_run + p.beside), three(p.isd, 100),
                    three(p.jct_s, 1, 2), three(p.ps, 100)});
  }
  std::string text = aligned(rows) + "\n";
  rows = {
      {"measured - said, mean [95 %]", "ISD points", "size", "JCT s", "size", "PS points", "size"}};
  for (const PolicyValidation& p : policies) {
    const auto row = [&](const std::string& which,
                         std::optional<ValidationError> Validated::*error) {
      std::vector<std::string> cells{p.label + ", " + which};
      const auto add = [&](const Validated& v, double scale, int digits) {
        const std::optional<ValidationError>& e = v.*error;
        cells.push_back(e ? scaled(e->mean, scale, digits) : "-");
        cells.push_back(e ? scaled(e->size, scale, digits) : "-");
      };
      add(p.isd, 100, 1);
      add(p.jct_s, 1, 2);
      add(p.ps, 100, 1);
      rows.push_back(std::move(cells));
    };
    row("predicted", &Validated::error_of_predicted);
    row("replayed", &Validated::error_of_replayed);
  }
  return text + aligned(rows);
}

// ---- the figure ---------------------------------------------------------------------------------

/// Measured over said ISD of every job; what is said right lies on the diagonal.
std::string figure_of(const std::vector<PolicyValidation>& policies, const std::string& gpu) {
  LineChart chart;
  chart.title = "Individual slowdown on " + gpu + ": measured, and as the simulator says";
  chart.note =
      "A mark is a job. Predicted: before the run, the policy free to decide. Replayed: with the "
      "decisions of the run.";
  for (const bool replayed : {false, true}) {
    LinePanel panel;
    panel.title = replayed ? "replayed" : "predicted";
    panel.x_axis = std::string(replayed ? "replayed" : "predicted") + " ISD [%]";
    panel.y_axis = "measured ISD [%]";
    double least = 0;
    double most = 0;
    for (const PolicyValidation& p : policies) {
      LineSeries series;
      series.name = p.label;
      for (const ValidatedJob& j : p.jobs) {
        if (!replayed && !j.predicted) continue;
        const double said = 100 * (replayed ? j.replayed.isd : j.predicted->isd);
        const double measured = 100 * j.measured.isd;
        series.points.push_back({said, measured});
        series.points.emplace_back();  // no line from one job to the next
        least = std::min({least, said, measured});
        most = std::max({most, said, measured});
      }
      panel.series.push_back(std::move(series));
    }
    if (most > least) panel.series.push_back({"said = measured", {{least, least}, {most, most}}});
    chart.panels.push_back(std::move(panel));
  }
  return svg_line_chart(chart);
}

// ---- reading ------------------------------------------------------------------------------------

/// Every policy that has run, and what the user should know besides. The files read are added to `read`.
std::vector<PolicyValidation> validate_all(const Experiment& experiment, const Trace& queue,
                                           const std::string& directory,
                                           std::vector<std::string>& notes,
                                           std::vector<NamedFile>& read) {
  const auto predicted_ps = read_prediction(directory, std::string(metric_info(Metric::kPs).name));
  const auto gpus = static_cast<std::size_t>(experiment.cluster().gpu_count());
  std::vector<PolicyValidation> all;
  for (const PolicyInstance& policy : experiment.policies()) {
    const std::string runs = policy_file(directory, policy.label, ".jobs.csv");
    std::error_code error;
    if (!fs::exists(runs, error)) {
      notes.push_back(fmt::format("{} is left out: no file '{}'", policy.label, runs));
      continue;
    }
    read.push_back({kPlace, runs});
    read.push_back({kPlace, policy_file(directory, policy.label, ".events.csv")});
    const std::vector<JobsRow> rows = read_run(directory, policy.label, queue, gpus);
    const auto found = predicted_ps.find(policy.label);
    const auto ps = found == predicted_ps.end() ? std::nullopt : std::optional(found->second);
    try {
      all.push_back(validate(experiment, queue, policy.label, rows, ps));
    } catch (const PolicyError& e) {  // more jobs on a GPU than cluster.max_jobs_per_gpu
      throw InputError(runs, e.what());
    }
    const PolicyValidation& p = all.back();
    if (p.failed + p.not_run + p.beside == 0) continue;
    notes.push_back(
        fmt::format("{}: of {} jobs are left out: {} that did not finish, {} that were not run, {} "
                    "beside one that ended badly",
                    p.label, queue.names.size(), p.failed, p.not_run, p.beside));
  }
  if (all.empty()) {
    throw InputError(kPlace,
                     "no POLICY.jobs.csv in '" + printable(directory, 300) +
                         "': no policy came to its end there; run corun live run CONFIG again");
  }
  return all;
}

std::string report(const std::vector<PolicyValidation>& policies, const Trace& queue, Format format,
                   const std::string& gpu, int gpus) {
  if (format == Format::kCsv) return csv_of(policies, queue);
  if (format == Format::kJson) {
    Json json{{"gpu", gpu}, {"gpus", gpus}, {"policies", Json::array()}};
    for (const PolicyValidation& p : policies) json["policies"].push_back(json_of(p, queue));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string text = gpu + ", " + std::to_string(gpus) + (gpus == 1 ? " GPU\n\n" : " GPUs\n\n");
  for (const PolicyValidation& p : policies) text += table_of(p, queue);
  return text + summary_of(policies);
}

}  // namespace

int validate_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "live validate";
  command.usage = "corun live validate CONFIG|DIRECTORY [options]";
  command.summary =
      "What `corun live run CONFIG` has measured beside what the simulator says of it, job by\n"
      "job: ISD, JCT and PS as measured, as predicted before the run, and as replayed after it\n"
      "with the decisions of the run, so that the error of the world stands apart from that of\n"
      "other decisions; means with 95 % intervals over jobs. Reads the directory of results\n"
      "(live.output, or --output DIR) alone: needs no GPU, and the directory may have been moved.\n"
      "--set reaches the simulator: world.noise=false, say.";
  command.examples =
      "  corun live run my-box.yaml && corun live validate my-box.yaml --figure isd.svg\n"
      "  corun live validate live-out --format csv\n";
  command.positional = "CONFIG";
  command.own.add_options()("figure", po::value<std::string>(),
                            "write measured over predicted and replayed ISD to this SVG");
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  if (values.count("CONFIG") == 0) {
    throw InputError(kPlace,
                     "which run? Give the configuration of corun live run, or its directory");
  }
  std::string figure;
  if (values.count("figure") != 0) {
    figure = checked_output_path(values["figure"].as<std::string>(), "--figure");
  }

  const std::string given = values["CONFIG"].as<std::string>();
  std::string directory = given;
  std::optional<LiveConfig> live;
  std::error_code error;
  if (!fs::is_directory(given, error)) {
    live = read_live_config(given, common.overrides);
    directory = common.output.value_or(live->output);
  } else if (common.output) {
    throw InputError("--output", "'" + printable(given) + "' is the directory of results already");
  }
  const std::string file = directory + "/" + kReplayFile;
  if (!fs::is_regular_file(file, error)) {
    throw InputError(kPlace, "no file '" + printable(file, 300) +
                                 "': no run of a queue is there; corun live run CONFIG makes one");
  }
  Config config = read_config(file, shared_overrides(common.overrides), policy_catalog());
  config.belief = {};  // nobody decides anew
  const std::string gpu = config.cluster.gpu_type;
  const Experiment experiment(std::move(config), common.data);
  const std::shared_ptr<const Trace> queue = experiment.make_trace(0);
  if (live) check_queue(*live, *queue, directory);

  std::vector<std::string> notes = experiment.warnings();
  std::vector<NamedFile> read{
      {kPlace, given}, {kPlace, file}, {kPlace, directory + "/" + kPredictionFile}};
  for (const std::string& input : experiment.input_files()) read.push_back({kPlace, input});
  const auto policies = validate_all(experiment, *queue, directory, notes, read);
  if (!figure.empty()) {
    check_outputs_differ({{"--figure", figure}}, read);
    write_file_atomically(figure, figure_of(policies, gpu));
  }
  for (const std::string& note : notes) {
    if (!common.quiet) std::fputs(("note: " + note + "\n").c_str(), stderr);
  }
  std::cout << report(policies, *queue, common.format, gpu, experiment.cluster().gpu_count());
  return kDone;
}

}  // namespace corun::live
