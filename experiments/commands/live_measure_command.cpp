#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/live_command.hpp"
#include "experiments/live/gpu/gpu_box.hpp"
#include "experiments/live/run/live_config.hpp"
#include "experiments/live/run/measurement.hpp"
#include "sim/error.hpp"

/// `corun live solo` and `corun live corun`: what workloads take alone and together.
namespace corun::live {

namespace {

namespace po = boost::program_options;
std::string company_name(const Company& members, const LiveConfig& config) {
  std::string name;
  for (const std::size_t w : members) name += (name.empty() ? "" : "+") + config.workloads[w].name;
  return name;
}

/// ISDs of the members in their order and PS, means over the runs of one company.
struct CompanyResult {
  Company members;
  int runs = 0;
  std::vector<double> isd;
  double ps = 0;
};

std::vector<CompanyResult> results_of(const MeasuredSession& session, const LiveConfig& config) {
  const std::vector<SoloRow> alone = session.solo(config);
  std::vector<CompanyResult> results;
  for (const MeasuredCompany& c : session.companies) {
    if (c.members.size() < 2 || !c.finished()) continue;
    double solo_sum = 0;
    double longest = 0;
    std::vector<double> isd;
    for (std::size_t m = 0; m < c.members.size(); ++m) {
      const std::string& name = config.workloads[c.members[m]].name;
      const auto row =
          std::find_if(alone.begin(), alone.end(), [&](const SoloRow& r) { return r.job == name; });
      if (row == alone.end()) break;
      const double corun_s = to_seconds(c.outcomes[m].length());
      solo_sum += row->solo_s;
      longest = std::max(longest, corun_s);
      isd.push_back((corun_s - row->solo_s) / row->solo_s);
    }
    if (isd.size() != c.members.size()) continue;
    auto result = std::find_if(results.begin(), results.end(),
                               [&](const CompanyResult& r) { return r.members == c.members; });
    if (result == results.end()) {
      results.push_back({c.members, 0, std::vector<double>(isd.size()), 0});
      result = results.end() - 1;
    }
    const double n = ++result->runs;
    for (std::size_t m = 0; m < isd.size(); ++m) result->isd[m] += (isd[m] - result->isd[m]) / n;
    result->ps += ((solo_sum - longest) / solo_sum - result->ps) / n;
  }
  return results;
}

int measure_and_report(const CommandLine& command, const std::vector<std::string>& arguments,
                       bool pairs) {
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  if (values.count("CONFIG") == 0) {
    throw InputError("corun " + command.name, "no configuration given; see docs/live.md for one");
  }
  const auto repeats = static_cast<int>(whole_option(values, "repeats", 1, 1000));
  MeasureOptions options;
  options.warm_up = static_cast<int>(whole_option(values, "warm-up", 0, 100));
  LiveConfig config = read_live_config(values["CONFIG"].as<std::string>(), common.overrides);
  if (common.output) config.output = *common.output;
  const std::atomic<bool>& stop = interrupted();
  options.stop = &stop;

  const Nvml nvml = open_nvml(values, {}, config.output);
  const bool mps = config.config.cluster.sharing == SharingMode::kMps;
  const GpuRules rules{pairs, mps, values.count("allow-others") != 0};
  const std::size_t gpu = choose_gpus(nvml, config.gpus, rules, config.gpus_place).front();
  std::vector<Company> companies;
  for (std::size_t w = 0; w < config.workloads.size(); ++w) companies.push_back({w});
  if (pairs) {
    const std::string wanted = values["pairs"].as<std::string>();
    const auto chosen = wanted == "all" ? all_pairs(config.workloads.size())
                                        : parse_pairs(wanted, config, "--pairs");
    companies.insert(companies.end(), chosen.begin(), chosen.end());
  }
  std::error_code error;
  std::filesystem::create_directories(config.output, error);
  if (error) {
    throw InputError(common.output ? "--output" : "live.output",
                     "'" + config.output + "' cannot be made: " + error.message());
  }

  Session session;
  Sharing sharing(session, nvml, std::span(&gpu, 1), mps);
  options.on_measured = [&](const MeasuredCompany& c, std::size_t total) {
    if (common.quiet) return;
    std::string how = c.refused;
    for (const RunOutcome& o : c.outcomes) {
      how += (how.empty() ? "" : ", ") + (o.end == RunEnd::kFinished
                                              ? fmt::format("{:.2f} s", to_seconds(o.length()))
                                              : std::string(name_of(o.end)) + " (" + o.why + ")");
    }
    std::fputs(
        fmt::format("{} of {}: {}: {}\n", c.number, total, company_name(c.members, config), how)
            .c_str(),
        stderr);
  };
  const auto order = balanced_order(companies, repeats, config.config.seed);
  const MeasuredSession result = measure(session, nvml, gpu, config, order, sharing, options);

  // What was measured before an interrupt is kept.
  const std::vector<SoloRow> alone = result.solo(config);
  write_file_atomically(config.output + "/runs.csv", result.runs_text(config));
  if (!alone.empty()) write_file_atomically(config.output + "/solo.csv", solo_text(alone));
  const std::string corun_csv = result.corun_text(config);
  if (!corun_csv.empty()) write_file_atomically(config.output + "/measured.corun.csv", corun_csv);

  const std::vector<CompanyResult> together = results_of(result, config);
  std::ostringstream out;
  if (common.format == Format::kJson) {
    const auto or_null = [](const std::optional<double>& v) {
      return v ? Json(*v) : Json(nullptr);
    };
    Json json{{"gpu", result.gpu_name},
              {"sharing", result.sharing},
              {"interrupted", result.interrupted},
              {"solo", Json::array()},
              {"together", Json::array()}};
    for (const SoloRow& r : alone) {
      json["solo"].push_back({{"job", r.job},
                              {"solo_s", r.solo_s},
                              {"solo_sd_s", r.sd_s},
                              {"runs", r.runs},
                              {"gpu_util_pct", or_null(r.profile.gpu_util_pct)},
                              {"mem_alloc_pct", or_null(r.profile.mem_alloc_pct)},
                              {"mem_time_pct", or_null(r.profile.mem_time_pct)},
                              {"mem_used_mib", or_null(r.profile.mem_used_mib)}});
    }
    for (const CompanyResult& r : together) {
      Json names = Json::array();
      for (const std::size_t w : r.members) names.push_back(config.workloads[w].name);
      json["together"].push_back(
          {{"jobs", std::move(names)}, {"runs", r.runs}, {"isd", r.isd}, {"ps", r.ps}});
    }
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (common.format == Format::kCsv) {
    out << (pairs ? corun_csv : solo_text(alone));
  } else {
    std::vector<std::vector<std::string>> rows{
        {"alone", "runs", "J_a s", "+-", "util %", "alloc %", "mem time %", "MiB"}};
    for (const SoloRow& r : alone) {
      rows.push_back({r.job, std::to_string(r.runs), shown(r.solo_s, 3), shown(r.sd_s, 3),
                      shown(r.profile.gpu_util_pct, 0), shown(r.profile.mem_alloc_pct, 1),
                      shown(r.profile.mem_time_pct, 0), shown(r.profile.mem_used_mib, 0)});
    }
    out << result.gpu_name << ", " << result.sharing << "\n\n" << aligned(rows);
    if (!together.empty()) {
      rows = {{"together", "runs", "ISD %", "PS %"}};
      for (const CompanyResult& r : together) {
        std::string isd;
        for (const double x : r.isd)
          isd += fmt::format("{}{:.1f}", isd.empty() ? "" : " / ", 100 * x);
        rows.push_back({company_name(r.members, config), std::to_string(r.runs), isd,
                        fmt::format("{:.1f}", 100 * r.ps)});
      }
      out << "\n" << aligned(rows);
    }
    out << "\nwritten to " << config.output << ": runs.csv" << (alone.empty() ? "" : ", solo.csv")
        << (corun_csv.empty() ? "" : ", measured.corun.csv") << "\n";
  }
  std::cout << out.str();
  if (result.interrupted) return kInterrupted;
  // That jobs do not fit together is an answer, not a failure.
  const bool all_well =
      std::all_of(result.companies.begin(), result.companies.end(), [](const MeasuredCompany& c) {
        const bool full =
            std::any_of(c.outcomes.begin(), c.outcomes.end(),
                        [](const RunOutcome& o) { return o.end == RunEnd::kOutOfMemory; });
        return c.finished() || !c.refused.empty() || (full && c.members.size() > 1);
      });
  return all_well ? kDone : kCheckFailed;
}

CommandLine measure_command_line(const std::string& word) {
  CommandLine command;
  command.name = "live " + word;
  command.usage = "corun live " + word + " CONFIG [options]";
  command.positional = "CONFIG";
  add_live_options(command, true);
  command.own.add_options()("repeats", po::value<std::string>()->default_value("3"),
                            "how often each is measured")(
      "warm-up", po::value<std::string>()->default_value("1"),
      "runs before that count for nothing: a cold GPU clocks otherwise");
  return command;
}

}  // namespace

int solo_command(const std::vector<std::string>& arguments) {
  CommandLine command = measure_command_line("solo");
  command.summary =
      "Runs each workload of a configuration alone on a GPU, several times, and writes solo.csv\n"
      "(time and profile) and runs.csv to live.output, or to the directory --output. Exit code 1\n"
      "when a run did not end well.";
  command.examples = "  corun live solo my-box.yaml --repeats 5\n";
  return measure_and_report(command, arguments, false);
}

int corun_command(const std::vector<std::string>& arguments) {
  CommandLine command = measure_command_line("corun");
  command.own.add_options()("pairs", po::value<std::string>()->default_value("all"),
                            "all, or a list such as gemm+stream,gemm+gemm");
  command.summary =
      "Runs each workload alone and all pairs together on a GPU, in an order balanced against\n"
      "drift, and writes measured.corun.csv beside solo.csv and runs.csv: set world.path to it "
      "and\n"
      "the box is a world of the simulator. A pair that does not fit into memory is noted.";
  command.examples =
      "  corun live corun my-box.yaml --repeats 3\n"
      "  corun live corun my-box.yaml --pairs gemm+stream,gemm+gemm\n";
  return measure_and_report(command, arguments, true);
}

}  // namespace corun::live
