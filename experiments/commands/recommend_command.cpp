#include <cmath>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/atomic_file.hpp"
#include "experiments/base/json.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/experiment/experiment.hpp"
#include "experiments/export/argo_manifest.hpp"
#include "experiments/export/container_csv.hpp"
#include "models/device.hpp"
#include "models/knowledge/cluster_mean_belief.hpp"
#include "policies/group_policy.hpp"
#include "policies/recommender.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/job_csv.hpp"
#include "traces/profile_csv.hpp"

/// `corun recommend`: the queue form of the same policy code that `replay` runs.
namespace corun {

namespace {

namespace po = boost::program_options;
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const auto to = text.find(separator, from);
    parts.push_back(text.substr(from, to - from));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

/// "1-1,0-2"
std::vector<std::pair<int, int>> cluster_order(const std::string& text) {
  constexpr std::int64_t kMost = 1000;  // what there is, the knowledge base says
  std::vector<std::pair<int, int>> order;
  for (const std::string& pair : split(text, ',')) {
    const auto parts = split(pair, '-');
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

/// A job trace, or a table of profiles: then all jobs are there at once, and how long they take is
/// not known, which no recommendation asks.
Trace read_queue(const std::string& path) {
  WorkloadKeys keys;
  const std::vector<std::string> header = CsvReader(path, {}, {.ignore_unknown = true}).header();
  if (std::find(header.begin(), header.end(), "solo_s") != header.end()) {
    return read_job_csv(path, keys);
  }
  const ProfileTable table = read_profile_csv(path);
  Trace trace;
  trace.source = path;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    JobSpec job;
    job.work = std::chrono::seconds(1);
    job.profile = table.profiles[i];
    add_job(trace, job, table.jobs[i], kUnknownWorkload, kUnknownCluster, kUnknownUncertainty);
  }
  order_arrivals(trace);
  return trace;
}

/// What is shown of one group.
struct Recommendation {
  Group group;
  std::vector<std::string> jobs;
  std::vector<int> clusters;
  std::vector<double> uncertainty;
  std::vector<std::string> overridden;      ///< jobs whose cluster or uncertainty a file gave
  std::vector<std::string> blank;           ///< jobs without a profile
  std::array<PredictionInterval, 2> isd{};  ///< of the next such co-run, 90 %; NaN where unknown
  PredictionInterval ps{};
  std::int64_t observations = 0;  ///< co-runs of this pair of clusters
  std::string reason;
};

Json to_json(const Recommendation& r) {
  Json entry;
  entry["jobs"] = r.jobs;
  entry["clusters"] = r.clusters;
  // A bin's costs are nobody's belief: the knowledge base knows pairs.
  entry["isd"] = r.group.expected ? Json{json_number(r.group.expected->isd_a),
                                         json_number(r.group.expected->isd_b)}
                                  : Json(nullptr);
  entry["ps"] = r.group.expected ? json_number(r.group.expected->ps) : Json(nullptr);
  const auto interval = [](const PredictionInterval& i) -> Json {
    return std::isfinite(i.lo) ? Json{i.lo, i.hi} : Json(nullptr);
  };
  entry["isd_interval"] =
      r.group.expected ? Json{interval(r.isd[0]), interval(r.isd[1])} : Json(nullptr);
  entry["ps_interval"] = r.group.expected ? interval(r.ps) : Json(nullptr);
  entry["observations"] = r.observations;
  entry["overridden"] = r.overridden;
  entry["uncertainty"] = Json::array();
  for (const double u : r.uncertainty) entry["uncertainty"].push_back(json_number(u));
  entry["reason"] = r.reason;
  return entry;
}

/// A job without profile has no distance.
std::string shown_distance(double d) {
  return std::isfinite(d) ? fmt::format("{:.1f}", d) : "unknown";
}

std::string reason_of(const Recommendation& r, const std::string& by, bool given) {
  std::string text;
  if (r.group.bin) {
    text = given ? fmt::format("bin of {}, as given", r.jobs.size())
                 : fmt::format("bin of {} filled by {} up to one GPU", r.jobs.size(), by);
  } else {
    text = fmt::format("cluster pair {}-{}, rank {}, uncertainty {}/{}", r.group.clusters->first,
                       r.group.clusters->second, r.group.rank, shown_distance(r.uncertainty[0]),
                       shown_distance(r.uncertainty[1]));
  }
  if (r.group.expected && !r.group.expected->observed) text += ", never observed: overall mean";
  if (!r.blank.empty()) text += fmt::format(", no profile of {}", fmt::join(r.blank, ", "));
  if (!r.overridden.empty()) {
    text += fmt::format(", {} by --overrides", fmt::join(r.overridden, ", "));
  }
  return text;
}

}  // namespace

int recommend_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "recommend";
  command.usage = "corun recommend [options]";
  command.summary =
      "The Job Recommendation Service: a queue of profiled jobs in, groups that should share a "
      "GPU\n"
      "out, each with the ISD and PS the knowledge base expects, the uncertainty of its jobs, and\n"
      "the reason. The planner is the one that `corun replay` simulates.";
  command.examples =
      "  corun recommend --queue jrs-queue --kb jrs --objective min-slowdown\n"
      "  corun recommend --kb prirect --objective balance --pairing greedy-rank\n"
      "  corun recommend --objective max-packing --pairing given --order 1-1,1-2,2-2,0-0,0-2\n"
      "  corun recommend --queue examples/jobs.csv --argo workflow.yaml   to hand to `argo "
      "submit`\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("queue", po::value<std::string>()->default_value("jrs-queue"),
      "jrs-queue, or a CSV: a job trace or a table of profiles (docs/formats.md)");
  add("kb", po::value<std::string>()->default_value("jrs"),
      "knowledge base to believe: one of `corun list knowledge`, or a file of `corun kb`");
  add("overrides", po::value<std::string>(),
      "CSV of clusters and uncertainties that hold in place of the profile's");
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
  add("seed", po::value<std::string>()->default_value("1"), "for epsilon");
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
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  const std::shared_ptr<Device> device = choose_device(common.device);
  const auto text = [&](const char* key) { return (*parsed)[key].as<std::string>(); };
  const auto choice = [&](const char* key, const std::vector<std::string_view>& known) {
    std::string value = text(key);
    if (std::find(known.begin(), known.end(), value) == known.end()) {
      throw InputError(std::string("--") + key,
                       "found '" + printable(value) + "': " + did_you_mean(value, known));
    }
    return value;
  };

  Config config = default_config();
  config.replications = 1;
  config.workload.order = QueueOrder::kTrace;
  for (const auto& [key, flag] :
       std::map<std::string, std::string>{{"workload.source", "--queue"},
                                          {"workload.path", "--queue"},
                                          {"belief.initial", "--kb"},
                                          {"belief.overrides", "--overrides"},
                                          {"policies[0]", "--objective"},
                                          {"policies[0].bin", "--bin"},
                                          {"policies[0].order", "--order"},
                                          {"cluster.nodes", "--queue"}}) {
    config.places[key] = flag;
  }
  std::optional<Trace> queue;
  if (text("queue") != "jrs-queue") {
    config.workload.source = "csv";
    config.workload.path = text("queue");
    queue = read_queue(find_input_file(text("queue"), common, "--queue"));
  }
  config.belief.initial = text("kb");
  if (parsed->count("overrides") != 0) config.belief.overrides = text("overrides");
  const auto seed = parse_integer(text("seed"));
  if (!seed || *seed < 0) {
    throw InputError("--seed",
                     "found '" + printable(text("seed")) + "', expected a whole number, 0 or more");
  }
  config.seed = static_cast<std::uint64_t>(*seed);

  PolicyConfig policy;
  policy.name = choice("objective", {"min-slowdown", "balance", "max-packing"});
  policy.settings["pairing"] = choice("pairing", pairing_names());
  const auto epsilon = parse_number(text("epsilon"));
  if (!epsilon || !(*epsilon >= 0 && *epsilon <= 1)) {
    throw InputError("--epsilon",
                     "found '" + printable(text("epsilon")) + "', expected a probability, 0 to 1");
  }
  policy.settings["epsilon"] = *epsilon;
  if (parsed->count("order") != 0) policy.settings["order"] = cluster_order(text("order"));
  if ((text("pairing") == "given") != (parsed->count("order") != 0)) {
    throw InputError("--order", "goes with --pairing given, and only with it");
  }
  const std::string by = choice("by", {"utilisation", "memory"});
  if (policy.name == "max-packing") {
    policy.settings["by"] = by;
    if (parsed->count("bin") != 0) policy.settings["bin"] = split(text("bin"), ',');
    if (parsed->count("bin-max") != 0) {
      const auto most = parse_integer(text("bin-max"));
      if (!most || *most < 1) {
        throw InputError("--bin-max", "found '" + printable(text("bin-max")) +
                                          "', expected a number of jobs, 1 or more");
      }
      policy.settings["bin_max"] = *most;
    }
  } else if (parsed->count("bin") != 0 || parsed->count("bin-max") != 0) {
    throw InputError(parsed->count("bin") != 0 ? "--bin" : "--bin-max",
                     "only --objective max-packing fills a bin");
  }
  config.policies = {policy};

  // What is written must be none of what is read, and nothing is written before all is known.
  std::vector<NamedFile> outputs;
  std::vector<NamedFile> inputs;
  if (common.output) outputs.push_back({"--output", *common.output});
  if (parsed->count("argo") != 0) outputs.push_back({"--argo", text("argo")});
  for (const char* key : {"queue", "kb", "overrides", "containers"}) {
    if (parsed->count(key) != 0) inputs.push_back({std::string("--") + key, text(key)});
  }
  check_outputs_differ(outputs, inputs);
  for (const NamedFile& output : outputs) checked_output_path(output.path, output.flag);

  const Experiment experiment(std::move(config), common.data, std::move(queue), device);
  const std::shared_ptr<const Trace> shared_trace = experiment.make_trace(0);
  const Trace& trace = *shared_trace;
  const std::unique_ptr<World> world = experiment.make_world(trace);
  const auto made = experiment.make_policy(trace, 0, experiment.policies().front(), *world);
  const auto& recommender = dynamic_cast<const Recommender&>(*made);
  const auto& belief = dynamic_cast<const ClusterMeanBelief&>(recommender.belief());
  const ClusterBelief& clusters = belief;

  // The queue stands before an idle cluster; gangs of one size are planned together.
  const std::vector<JobView> faces = experiment.views_of(trace, 0);
  const ClusterState idle(experiment.cluster());
  int largest = 1;
  for (const JobView& face : faces) largest = std::max(largest, face.gpus);
  std::vector<Recommendation> groups;
  std::vector<std::string> alone;
  for (int gang = 1; gang <= largest; ++gang) {
    std::vector<JobId> waiting;
    for (const JobId j : trace.workload.arrivals) {
      if (faces[index(j)].gpus == gang) waiting.push_back(j);
    }
    if (waiting.empty()) continue;
    const ClusterView view(Time{0}, StartMode::kGroup, waiting, faces, idle, 0, largest);
    for (Group& group : recommender.plan(view, waiting, groups.size(), waiting.size())) {
      if (group.jobs.size() == 1) {
        alone.push_back(trace.names[index(group.jobs.front())]);
        continue;
      }
      Recommendation r;
      for (const JobId j : group.jobs) {
        r.jobs.push_back(trace.names[index(j)]);
        r.clusters.push_back(clusters.cluster(j));
        r.uncertainty.push_back(clusters.uncertainty(j));
        const std::string& name = r.jobs.back();
        const auto given =
            std::find_if(experiment.overrides().begin(), experiment.overrides().end(),
                         [&](const ClusterOverride& o) { return o.job == name; });
        if (given != experiment.overrides().end()) r.overridden.push_back(name);
        if (std::isinf(r.uncertainty.back())) r.blank.push_back(name);
      }
      r.group = std::move(group);
      if (r.group.expected && r.group.expected->observed) {
        const KnowledgeBase& kb = belief.knowledge_base();
        const int a = r.clusters[0];
        const int b = r.clusters[1];
        r.isd = {isd_interval(kb, a, b), isd_interval(kb, b, a)};
        r.ps = ps_interval(kb, a, b);
        r.observations = kb.ps(a, b).count();
      } else {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        r.isd = {PredictionInterval{kNone, kNone}, PredictionInterval{kNone, kNone}};
        r.ps = {kNone, kNone};
      }
      r.reason = reason_of(r, by, parsed->count("bin") != 0);
      groups.push_back(std::move(r));
    }
  }

  if (parsed->count("argo") != 0) {
    if (largest > 1) {
      throw InputError("--argo", "jobs of several GPUs cannot share one; leave them out");
    }
    const auto gpus = parse_integer(text("gpus"));
    if (!gpus || *gpus < 1 || *gpus > 1'000'000) {
      throw InputError("--gpus", "found '" + printable(text("gpus")) +
                                     "', expected a number of GPUs, 1 to 1000000");
    }
    if (parsed->count("claim-template") != 0 && text("claim-template").empty()) {
      throw InputError("--claim-template", "is empty, expected the name of a template");
    }
    ArgoPlan plan;
    for (const Recommendation& r : groups) {
      ArgoGroup group{r.jobs, r.reason, {}, {}};
      if (r.group.expected) {
        group.expected_isd = {r.group.expected->isd_a, r.group.expected->isd_b};
        group.expected_ps = r.group.expected->ps;
      }
      plan.groups.push_back(std::move(group));
    }
    plan.alone = alone;
    ArgoOptions options;
    options.gpus = static_cast<int>(*gpus);
    options.gpu_resource = text("gpu-resource");
    if (parsed->count("claim-template") != 0) options.claim_template = text("claim-template");
    std::optional<ContainerTable> containers;
    if (parsed->count("containers") != 0)
      containers = read_container_csv(find_input_file(text("containers"), common, "--containers"));
    const std::string manifest = argo_manifest(plan, options, containers ? &*containers : nullptr);
    write_file_atomically(checked_output_path(text("argo"), "--argo"), manifest);
    if (!common.quiet) {
      std::cerr << "note: wrote " << printable(text("argo"), 200)
                << (containers ? ""
                               : "; its images are parameters: argo submit -p image-NAME=IMAGE ...")
                << "\n";
    }
  } else {
    for (const char* key : {"containers", "claim-template", "gpus", "gpu-resource"}) {
      if (parsed->count(key) != 0 && !(*parsed)[key].defaulted()) {
        throw InputError(std::string("--") + key, "goes with --argo");
      }
    }
  }
  if (!common.quiet) {
    for (const std::string& warning : experiment.warnings()) {
      std::cerr << "note: " << warning << "\n";
    }
  }
  std::ostringstream out;
  if (common.format == Format::kJson) {
    Json json;
    json["groups"] = Json::array();
    for (const Recommendation& r : groups) json["groups"].push_back(to_json(r));
    json["alone"] = alone;
    out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (common.format == Format::kCsv) {
    out << "group,job,cluster,uncertainty,isd,isd_lo,isd_hi,ps,ps_lo,ps_hi,reason\n";
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Recommendation& r = groups[g];
      for (std::size_t j = 0; j < r.jobs.size(); ++j) {
        const auto& e = r.group.expected;
        out << g << ',' << csv_text(r.jobs[j]) << ',' << r.clusters[j] << ','
            << (std::isfinite(r.uncertainty[j]) ? csv_number(r.uncertainty[j]) : "") << ','
            << (e ? csv_number(j == 0 ? e->isd_a : e->isd_b) : "") << ','
            << (e ? csv_number(r.isd[j].lo) : "") << ',' << (e ? csv_number(r.isd[j].hi) : "")
            << ',' << (e ? csv_number(e->ps) : "") << ',' << (e ? csv_number(r.ps.lo) : "") << ','
            << (e ? csv_number(r.ps.hi) : "") << ',' << csv_text(r.reason) << '\n';
      }
    }
    for (const std::string& job : alone) {
      out << ',' << csv_text(job) << ",,,,,,,,,alone\n";
    }
  } else {
    const auto shown = [](double x, const PredictionInterval& in) {
      return std::isfinite(in.lo)
                 ? fmt::format("{:.1f} [{:.0f}, {:.0f}]", 100 * x, 100 * in.lo, 100 * in.hi)
                 : fmt::format("{:.1f}", 100 * x);
    };
    std::vector<std::array<std::string, 3>> cells{{"jobs", "ISD % [90 %]", "PS % [90 %]"}};
    for (const Recommendation& r : groups) {
      const auto& e = r.group.expected;
      cells.push_back({fmt::format("{}", fmt::join(r.jobs, " + ")),
                       e ? shown(e->isd_a, r.isd[0]) + " / " + shown(e->isd_b, r.isd[1]) : "-",
                       e ? shown(e->ps, r.ps) : "-"});
    }
    std::array<std::size_t, 3> width{};
    for (const auto& row : cells) {
      for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out << fmt::format("{:<{}}  {:>{}}  {:>{}}  {}\n", cells[i][0], width[0], cells[i][1],
                         width[1], cells[i][2], width[2], i == 0 ? "reason" : groups[i - 1].reason);
    }
    for (const std::string& job : alone) out << job << "  alone\n";
  }
  emit(common, out.str());
  return kDone;
}

}  // namespace corun
