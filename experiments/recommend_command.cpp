#include <cmath>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/cli.hpp"
#include "experiments/experiment.hpp"
#include "models/device.hpp"
#include "policies/group_policy.hpp"
#include "policies/recommender.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "traces/csv_reader.hpp"

/// `corun recommend`: the queue form of the same policy code that `replay` runs.
namespace corun {

namespace {

namespace po = boost::program_options;
using Json = nlohmann::ordered_json;

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
  std::vector<std::pair<int, int>> order;
  for (const std::string& pair : split(text, ',')) {
    const auto parts = split(pair, '-');
    const auto a = parts.size() == 2 ? parse_integer(parts[0]) : std::nullopt;
    const auto b = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
    if (!a || !b || *a < 0 || *b < 0 || *a >= kClusters || *b >= kClusters) {
      throw InputError("--order", "found '" + printable(pair) +
                                      "', expected pairs of clusters 0 to 2, e.g. 1-1,0-2");
    }
    order.emplace_back(static_cast<int>(*a), static_cast<int>(*b));
  }
  return order;
}

/// What is shown of one group.
struct Recommendation {
  Group group;
  std::vector<std::string> jobs;
  std::vector<int> clusters;
  std::vector<double> uncertainty;
  std::string reason;
};

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json to_json(const Recommendation& r) {
  Json entry;
  entry["jobs"] = r.jobs;
  entry["clusters"] = r.clusters;
  // A bin's costs are nobody's belief: the knowledge base knows pairs.
  entry["isd"] = r.group.expected
                     ? Json{number(r.group.expected->isd_a), number(r.group.expected->isd_b)}
                     : Json(nullptr);
  entry["ps"] = r.group.expected ? number(r.group.expected->ps) : Json(nullptr);
  entry["uncertainty"] = Json::array();
  for (const double u : r.uncertainty) entry["uncertainty"].push_back(number(u));
  entry["reason"] = r.reason;
  return entry;
}

std::string reason_of(const Recommendation& r, const std::string& by, bool given) {
  if (r.group.bin) {
    return given ? fmt::format("bin of {}, as given", r.jobs.size())
                 : fmt::format("bin of {} filled by {} up to one GPU", r.jobs.size(), by);
  }
  std::string text =
      fmt::format("cluster pair {}-{}, rank {}, uncertainty {:.1f}/{:.1f}", r.group.clusters->first,
                  r.group.clusters->second, r.group.rank, r.uncertainty[0], r.uncertainty[1]);
  if (r.group.expected && !r.group.expected->observed) text += ", never observed: overall mean";
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
      "  corun recommend --objective max-packing --pairing given --order 1-1,1-2,2-2,0-0,0-2\n";
  command.configured = false;
  auto add = command.own.add_options();
  add("queue", po::value<std::string>()->default_value("jrs-queue"),
      "jrs-queue, or a job trace in CSV (docs/formats.md)");
  add("kb", po::value<std::string>()->default_value("jrs"),
      "knowledge base to believe: jrs, prirect, none, or a file");
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
  CommonOptions common;
  const auto parsed = parse_command_line(command, arguments, common);
  if (!parsed) return kDone;
  choose_device(common.device);
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
  config.workload.order = "trace";
  for (const auto& [key, flag] : std::map<std::string, std::string>{{"workload.source", "--queue"},
                                                                    {"workload.path", "--queue"},
                                                                    {"belief.initial", "--kb"},
                                                                    {"policies[0]", "--objective"},
                                                                    {"policies[0].bin", "--bin"}}) {
    config.places[key] = flag;
  }
  if (text("queue") != "jrs-queue") {
    config.workload.source = "csv";
    config.workload.path = text("queue");
  }
  config.belief.initial = text("kb");
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

  const Experiment experiment(std::move(config), common.data);
  const Trace trace = experiment.make_trace(0);
  const std::unique_ptr<World> world = experiment.make_world(trace);
  const auto made = experiment.make_policy(trace, 0, experiment.policies().front(), *world);
  const auto& recommender = dynamic_cast<const Recommender&>(*made);
  const ClusterBelief& clusters = *recommender.belief().as_clusters();

  // The queue stands before an idle cluster; gangs of one size are planned together.
  const std::vector<JobView> faces = experiment.make_faces(trace, 0);
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
      }
      r.group = std::move(group);
      r.reason = reason_of(r, by, parsed->count("bin") != 0);
      groups.push_back(std::move(r));
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
    out << json.dump(2) << "\n";
  } else if (common.format == Format::kCsv) {
    out << "group,job,cluster,uncertainty,isd,ps,reason\n";
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Recommendation& r = groups[g];
      for (std::size_t j = 0; j < r.jobs.size(); ++j) {
        const auto& e = r.group.expected;
        out << g << ',' << csv_text(r.jobs[j]) << ',' << r.clusters[j] << ','
            << csv_number(r.uncertainty[j]) << ','
            << (e ? csv_number(j == 0 ? e->isd_a : e->isd_b) : "") << ','
            << (e ? csv_number(e->ps) : "") << ',' << csv_text(r.reason) << '\n';
      }
    }
    for (const std::string& job : alone) {
      out << ',' << csv_text(job) << ",,,,,alone\n";
    }
  } else {
    std::size_t width = 4;
    for (const Recommendation& r : groups) {
      width = std::max(width, fmt::format("{}", fmt::join(r.jobs, " + ")).size());
    }
    out << fmt::format("{:<{}}  {:>15}  {:>6}  {}\n", "jobs", width, "ISD % expected", "PS %",
                       "reason");
    for (const Recommendation& r : groups) {
      const auto& e = r.group.expected;
      out << fmt::format("{:<{}}  {:>15}  {:>6}  {}\n", fmt::format("{}", fmt::join(r.jobs, " + ")),
                         width,
                         e ? fmt::format("{:.1f} / {:.1f}", e->isd_a * 100, e->isd_b * 100) : "-",
                         e ? fmt::format("{:.1f}", e->ps * 100) : "-", r.reason);
    }
    for (const std::string& job : alone) out << job << "  alone\n";
  }
  emit(common, out.str());
  return kDone;
}

}  // namespace corun
