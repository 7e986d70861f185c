#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/key_options.hpp"
#include "cli/note.hpp"
#include "cli/option_values.hpp"
#include "models/scoring/device.hpp"
#include "policies/groups/pairing.hpp"
#include "results/export/container_csv.hpp"
#include "runner/inputs/queue_file.hpp"
#include "runner/recommendation/recommendation.hpp"
#include "runner/recommendation/recommendation_output.hpp"
#include "runner/recommendation/service_recommendation_output.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "support/json.hpp"
#include "support/progress.hpp"

/// `corun recommend`: plans a queue with the policy code that `replay` runs.
namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

CommandLine recommend_command_line() {
  CommandLine command;
  command.name = "recommend";
  command.usage = "corun recommend [QUEUE] [options]";
  command.summary =
      "The Job Recommendation Service: a queue of profiled jobs in, groups that should share a "
      "GPU\n"
      "out, each with the ISD and PS the knowledge base expects, the uncertainty of its jobs, and\n"
      "the reason. The planner is the one that `corun replay` simulates. With --service: which "
      "jobs of\n"
      "the queue may run beside each service, and the probability that it then keeps its latency "
      "goal.";
  command.examples =
      "  corun recommend --queue jrs-queue --kb jrs --objective min-slowdown\n"
      "  corun recommend --kb prirect --objective balance --pairing greedy-rank\n"
      "  corun recommend examples/jobs.csv --objective max-packing\n"
      "  corun recommend --objective max-packing --pairing given --order 1-1,1-2,2-2,0-0,0-2\n"
      "  corun recommend --queue examples/jobs.csv --argo workflow.yaml   to hand to `argo "
      "submit`\n"
      "  corun recommend examples/jobs.csv --service examples/services.csv   which jobs may run "
      "beside a "
      "service\n";
  command.positional = "QUEUE";
  command.configured = false;
  add_columns_option(command);
  auto add = command.own.add_options();
  add("queue", po::value<std::string>()->default_value("jrs-queue"),
      "the same as QUEUE: jrs-queue, or a CSV: a job trace or a table of profiles");
  add("kb", po::value<std::string>()->default_value("jrs"),
      "knowledge base to believe: one of `corun list knowledge`, or a file of `corun kb`; with "
      "--service also a model file");
  add("overrides", po::value<std::string>(),
      "CSV of clusters and uncertainties that hold in place of the profile's");
  add("service", po::value<std::string>(),
      "table of services (as workload.services): says of each job whether it may run beside them");
  add("sure", po::value<std::string>()->default_value("0.95"),
      "with --service: probability, 0 to 1, of keeping the goal from which on a job may share");
  add("objective", po::value<std::string>()->default_value("min-slowdown"),
      "min-slowdown, balance or max-packing");
  add("pairing", po::value<std::string>()->default_value("matching"),
      "matching, greedy-rank, or given (see --order)");
  add("order", po::value<std::string>(), "ranking of cluster pairs for --pairing given: 1-1,0-2");
  add("by", po::value<std::string>()->default_value("utilisation"),
      "max-packing: fill the bin by utilisation or memory");
  add("bin", po::value<std::string>(), "max-packing: the bin itself, ID,ID,...");
  add("bin-max", po::value<std::string>(), "max-packing: most jobs in the bin");
  add("epsilon", po::value<std::string>()->default_value("0"),
      "probability, 0 to 1, that a slot ignores the precedence of low uncertainty");
  add("seed", po::value<std::string>()->default_value("1"),
      "for epsilon, and for the requests of services");
  add("argo", po::value<std::string>(),
      "also write an Argo Workflow to this file: one pod per group, its jobs on one shared GPU");
  add("containers", po::value<std::string>(),
      "with --argo: CSV of job,image,command,args; without, images are parameters of the workflow");
  add("gpus", po::value<std::string>()->default_value("4"),
      "with --argo: GPUs to use, so many pods run at a time");
  add("gpu-resource", po::value<std::string>()->default_value("nvidia.com/gpu.shared"),
      "with --argo: the resource of which a container asks for one slice");
  add("claim-template", po::value<std::string>(),
      "with --argo: share by this ResourceClaimTemplate in place of slices");
  return command;
}

/// The queue by either of its names.
std::string queue_of(const po::variables_map& values) {
  if (values.count("QUEUE") == 0) return values["queue"].as<std::string>();
  if (!values["queue"].defaulted()) {
    throw InputError("--queue", "the queue is given already as '" +
                                    printable(values["QUEUE"].as<std::string>()) +
                                    "'; leave one of them out");
  }
  return values["QUEUE"].as<std::string>();
}

/// "1-1,0-2"
std::vector<std::pair<int, int>> cluster_order(const std::string& text) {
  constexpr std::int64_t kMost = 1000;  // the knowledge base checks which clusters exist
  std::vector<std::pair<int, int>> order;
  for (const std::string& pair : split_text(text, ',')) {
    const auto parts = split_text(pair, '-');
    const auto a = parts.size() == 2 ? parse_integer(parts[0]) : std::nullopt;
    const auto b = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
    if (!a || !b || *a < 0 || *b < 0 || *a > kMost || *b > kMost) {
      throw InputError("--order",
                       "found '" + printable(pair) + "', expected pairs of clusters, e.g. 1-1,0-2");
    }
    order.emplace_back(static_cast<int>(*a), static_cast<int>(*b));
  }
  return order;
}

/// Adds the options of a bin, which only max-packing fills.
void add_bin_settings(const po::variables_map& values, PolicyConfig& policy) {
  const std::string by = choice_option(values, "by", {"utilisation", "memory"});
  if (policy.name != "max-packing") {
    for (const char* key : {"bin", "bin-max"}) {
      if (values.count(key) == 0) continue;
      throw InputError(std::string("--") + key, "only --objective max-packing fills a bin");
    }
    return;
  }
  policy.settings["by"] = by;
  if (values.count("bin") != 0) {
    policy.settings["bin"] = split_text(values["bin"].as<std::string>(), ',');
  }
  if (values.count("bin-max") == 0) return;
  const auto text = values["bin-max"].as<std::string>();
  const auto most = parse_integer(text);
  if (!most || *most < 1) {
    throw InputError("--bin-max",
                     "found '" + printable(text) + "', expected a number of jobs, 1 or more");
  }
  policy.settings["bin_max"] = *most;
}

PolicyConfig policy_of(const po::variables_map& values) {
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  PolicyConfig policy;
  policy.name = choice_option(values, "objective", {"min-slowdown", "balance", "max-packing"});
  std::vector<std::string_view> pairings;
  for (const auto& [word, value] : kPairings) pairings.push_back(word);
  const std::string pairing = choice_option(values, "pairing", pairings);
  policy.settings["pairing"] = pairing;
  const auto epsilon = parse_number(text("epsilon"));
  if (!epsilon || !(*epsilon >= 0 && *epsilon <= 1)) {
    throw InputError("--epsilon",
                     "found '" + printable(text("epsilon")) + "', expected a probability, 0 to 1");
  }
  policy.settings["epsilon"] = *epsilon;
  if (values.count("order") != 0) policy.settings["order"] = cluster_order(text("order"));
  if ((pairing == "given") != (values.count("order") != 0)) {
    throw InputError("--order", "goes with --pairing given, and only with it");
  }
  add_bin_settings(values, policy);
  return policy;
}

/// The configuration of an experiment with the requested policy; errors name the flags.
Config config_of(const po::variables_map& values) {
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  Config config = default_config();
  config.replications = 1;
  config.workload.order = QueueOrder::kTrace;
  for (const auto& [key, flag] : {std::pair{"workload.source", "--queue"},
                                  {"workload.path", "--queue"},
                                  {"belief.initial", "--kb"},
                                  {"belief.overrides", "--overrides"},
                                  {"workload.services", "--service"},
                                  {"policies[0]", "--objective"},
                                  {"policies[0].bin", "--bin"},
                                  {"policies[0].order", "--order"},
                                  {"cluster.nodes", "--queue"}}) {
    config.places.set(key, flag);
  }
  if (const std::string queue = queue_of(values); queue != "jrs-queue") {
    config.workload.source = "csv";
    config.workload.path = queue;
  }
  config.belief.initial = text("kb");
  if (values.count("overrides") != 0) config.belief.overrides = text("overrides");
  if (values.count("service") != 0) config.workload.services = text("service");
  const auto seed = parse_integer(text("seed"));
  if (!seed || *seed < 0) {
    throw InputError("--seed",
                     "found '" + printable(text("seed")) + "', expected a whole number, 0 or more");
  }
  config.seed = static_cast<std::uint64_t>(*seed);
  config.policies = {policy_of(values)};
  return config;
}

/// InputError if an output is also one of `inputs`; checked before anything is written.
void check_files(const po::variables_map& values, const CommonOptions& common,
                 std::vector<NamedFile> inputs) {
  std::vector<NamedFile> outputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  if (values.count("argo") != 0) {
    outputs.push_back({"--argo", values["argo"].as<std::string>()});
    check_name(outputs.back().path, "--argo", {"yaml"});
  }
  inputs.push_back({"--queue", queue_of(values)});
  for (const char* key : {"kb", "overrides", "service"}) {
    if (values.count(key) != 0) {
      inputs.push_back({std::string("--") + key, values[key].as<std::string>()});
    }
  }
  if (values.count("containers") != 0) {
    inputs.push_back({"--containers", find_input_file(values["containers"].as<std::string>(),
                                                      common, "--containers")});
  }
  check_outputs_differ(outputs, inputs);
  for (const NamedFile& output : outputs) checked_output_path(output.path, output.flag);
}

std::string argo_text(const RecommendedQueue& queue, const po::variables_map& values,
                      const CommonOptions& common) {
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  if (queue.largest_gang > 1) {
    throw InputError("--argo", "jobs of several GPUs cannot share one; leave them out");
  }
  const auto gpus = parse_integer(text("gpus"));
  if (!gpus || *gpus < 1 || *gpus > 1'000'000) {
    throw InputError("--gpus", "found '" + printable(text("gpus")) +
                                   "', expected a number of GPUs, 1 to 1000000");
  }
  ArgoOptions options;
  options.gpus = static_cast<int>(*gpus);
  options.gpu_resource = text("gpu-resource");
  if (values.count("claim-template") != 0) {
    options.claim_template = text("claim-template");
    if (options.claim_template.empty()) {
      throw InputError("--claim-template", "is empty, expected the name of a template");
    }
  }
  std::optional<ContainerTable> containers;
  if (values.count("containers") != 0) {
    containers = read_container_csv(find_input_file(text("containers"), common, "--containers"));
  }
  return argo_manifest(argo_plan(queue), options, containers ? &*containers : nullptr);
}

/// InputError for options that plan groups, where jobs beside services are asked for, and the other way round.
void check_service_options(const po::variables_map& values) {
  if (values.count("service") == 0) {
    if (!values["sure"].defaulted()) throw InputError("--sure", "goes with --service");
    return;
  }
  for (const char* key : {"objective", "pairing", "order", "by", "bin", "bin-max", "epsilon",
                          "argo", "containers", "gpus", "gpu-resource", "claim-template"}) {
    if (values.count(key) == 0 || values[key].defaulted()) continue;
    throw InputError(
        std::string("--") + key,
        "is of groups of the queue and does not go with --service; leave one of them out");
  }
}

/// `corun recommend --service`.
void print_for_services(const Experiment& experiment, const po::variables_map& values,
                        const CommonOptions& common) {
  const double sure = number_option(values, "sure", 0, 1, "a probability");
  std::vector<ServiceRecommendation> services;
  {
    Progress progress("recommending", common.quiet);
    services = recommend_for_services(experiment, sure, [&](std::size_t done, std::size_t total) {
      progress.update(done, total);
    });
  }
  for (const Note& one : experiment.notes()) note(common, one.text);
  emit(common, common.format == Format::kJson  ? json_text(services_recommendation_json(services))
               : common.format == Format::kCsv ? services_recommendation_csv(services)
                                               : services_recommendation_table(services));
}

}  // namespace

int recommend_command(const std::vector<std::string>& arguments) {
  CommonOptions common;
  const auto parsed = parse_command_line(recommend_command_line(), arguments, common);
  if (!parsed) return kDone;
  const po::variables_map& values = *parsed;
  check_service_options(values);
  const std::shared_ptr<Device> device = choose_device(common.device);
  const std::string given = queue_of(values);
  const std::vector<RenamedColumn> columns = columns_option(values);
  std::optional<Trace> jobs;
  if (given != "jrs-queue") {
    jobs = read_queue(find_input_file(given, common, "--queue"), columns);
  } else if (!columns.empty()) {
    throw InputError("--columns", "is for a CSV, and jrs-queue is none; leave it out");
  }
  Config config = config_of(values);
  if (jobs) {
    for (const TraceJob& job : jobs->jobs) {  // the plan of a queue needs room for each
      config.cluster.nodes = std::max<std::int64_t>(config.cluster.nodes, job.spec.gpus);
    }
  }
  check_files(values, common, {});
  const Experiment experiment(std::move(config), common.data, std::move(jobs), device);
  std::vector<NamedFile> inputs;
  for (const std::string& file : experiment.input_files()) inputs.push_back({"--kb", file});
  if (given != "jrs-queue")
    inputs.push_back({"--queue", find_input_file(given, common, "--queue")});
  check_files(values, common, std::move(inputs));
  if (values.count("service") != 0) {
    print_for_services(experiment, values, common);
    return kDone;
  }
  const RecommendedQueue queue = recommend(experiment);

  std::vector<OutputText> files;
  if (values.count("argo") != 0) {
    files.push_back({"--argo", values["argo"].as<std::string>(), argo_text(queue, values, common)});
  } else {
    for (const char* key : {"containers", "claim-template", "gpus", "gpu-resource"}) {
      if (values.count(key) == 0 || values[key].defaulted()) continue;
      throw InputError(std::string("--") + key, "goes with --argo");
    }
  }
  for (const Note& one : experiment.notes()) note(common, one.text);
  emit(common,
       common.format == Format::kJson  ? json_text(recommendation_json(queue))
       : common.format == Format::kCsv ? recommendation_csv(queue)
                                       : recommendation_table(queue),
       files);
  if (!files.empty()) {
    note(common, "wrote " + printable(files.front().path, 200) +
                     (values.count("containers") != 0
                          ? ""
                          : "; its images are parameters: argo submit -p image-NAME=IMAGE ..."));
  }
  return kDone;
}

}  // namespace corun::inline cli
