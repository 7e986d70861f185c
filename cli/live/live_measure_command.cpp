#include <algorithm>
#include <iostream>

#include <fmt/ostream.h>

#include "cli/live/live_command.hpp"
#include "cli/live/live_options.hpp"
#include "live/gpu/gpu_box.hpp"
#include "live/jobs/measurement_output.hpp"

/// `corun live solo` and `corun live corun`: measure workloads alone and together.
namespace corun::live {

namespace {

namespace po = boost::program_options;

CommandLine measure_command_line(const std::string& word) {
  CommandLine command;
  command.name = "live " + word;
  command.usage = "corun live " + word + " CONFIG [options]";
  command.positional = "CONFIG";
  command.output = OutputUse::kOwn;
  add_live_options(command, true);
  command.own.add_options()("repeats", po::value<std::string>()->default_value("3"),
                            "how often each is measured")(
      "warm-up", po::value<std::string>()->default_value("1"),
      "runs before that count for nothing: a cold GPU clocks otherwise");
  return command;
}

/// The sets to measure: every workload alone, and the pairs of --pairs.
std::vector<CoRunners> sets_of(const LiveConfig& config, const po::variables_map& values,
                               const CommonOptions& common, bool pairs) {
  std::vector<CoRunners> sets;
  for (std::size_t w = 0; w < config.workloads.size(); ++w) sets.push_back({w});
  if (!pairs) return sets;
  const std::string wanted = values["pairs"].as<std::string>();
  const auto chosen = wanted == "all" ? all_pairs(config.workloads.size())
                      : wanted.ends_with(".csv")
                          ? read_pair_list(find_input_file(wanted, common, "--pairs"), config)
                          : parse_pairs(wanted, config, "--pairs");
  sets.insert(sets.end(), chosen.begin(), chosen.end());
  return sets;
}

void tell(const MeasuredCoRunners& co_runners, std::size_t total, const LiveConfig& config) {
  std::string how = co_runners.refused;
  for (const RunOutcome& o : co_runners.outcomes) {
    if (!how.empty()) how += ", ";
    if (o.end != RunEnd::kFinished) {
      how += fmt::format("{} ({})", name_of(o.end), o.why);
    } else if (o.load) {
      how += fmt::format("{} requests, p99 {:.1f} ms", o.load->count(),
                         1e3 * o.load->latency.quantile_s(0.99));
    } else {
      how += fmt::format("{:.2f} s", to_seconds(o.length()));
    }
  }
  fmt::print(std::cerr, "{} of {}: {}: {}\n", co_runners.number, total,
             co_runner_names(co_runners.members, config), how);
}

int measure_and_report(const CommandLine& command, const std::vector<std::string>& arguments,
                       bool pairs) {
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const auto& values = *parsed;
  const std::string path = config_path(command, values);
  const auto repeats = static_cast<int>(whole_option(values, "repeats", 1, 1000));
  MeasureOptions options;
  options.warm_up = static_cast<int>(whole_option(values, "warm-up", 0, 100));
  const LiveConfig config = load_live_config(path, common);
  const std::atomic<bool>& stop = interrupted();

  const Nvml nvml = open_nvml(values, {}, config.output);
  const GpuRules rules{pairs, config.shares_by_mps(), values.count("allow-others") != 0};
  const std::size_t gpu = choose_gpus(nvml, config.gpus, rules, config.gpus_place).front();
  const std::vector<CoRunners> sets = sets_of(config, values, common, pairs);
  make_results_directory(config, common);
  check_measured_before(config, nvml.gpus()[gpu].name);
  if (!common.quiet) {
    options.on_measured = [&](const MeasuredCoRunners& c, std::size_t total) {
      tell(c, total, config);
    };
  }
  const auto order = balanced_order(sets, repeats, config.config.seed);
  const MeasuredSession result = measure(nvml, gpu, config, order, stop, options);

  // Measurements before an interrupt are kept.
  const std::vector<std::string> files = write_measurement(result, config);
  if (common.format == Format::kJson) {
    std::cout << json_text(measurement_json(result, config));
  } else if (common.format == Format::kCsv) {
    std::cout << (pairs ? measured_corun_csv(result, config) : solo_csv(result.solo(config)));
  } else {
    std::cout << measurement_table(result, config, files);
  }
  if (result.interrupted) return kInterrupted;
  return std::ranges::all_of(result.sets, &MeasuredCoRunners::well) ? kDone : kCheckFailed;
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
                            "all, a list such as gemm+stream,gemm+gemm+rl (of pairs and larger "
                            "groups), or a CSV with columns job_a "
                            "and job_b, as `corun model suggest --out` writes");
  command.summary =
      "Runs each workload alone and all pairs together on a GPU, in an order balanced against\n"
      "drift, and writes measured.corun.csv beside solo.csv and runs.csv: set world.path to it "
      "and\n"
      "the box is a world of the simulator. A pair that does not fit into memory is noted. Groups "
      "of\n"
      "three and more of --pairs are also in measured.groups.csv, for `corun model fit --groups`.";
  command.examples =
      "  corun live corun my-box.yaml --repeats 3\n"
      "  corun live corun my-box.yaml --pairs gemm+stream,gemm+gemm\n"
      "  corun live corun my-box.yaml --pairs next.csv\n";
  return measure_and_report(command, arguments, true);
}

}  // namespace corun::live
