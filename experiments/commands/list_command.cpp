#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/base/json.hpp"
#include "experiments/commands/cli.hpp"
#include "experiments/config/key_descriptions.hpp"
#include "experiments/knowledge/knowledge_catalog.hpp"
#include "models/interference/catalog.hpp"
#include "policies/catalog.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/catalog.hpp"
#include "traces/csv_reader.hpp"

namespace corun {

namespace {

struct Row {
  std::string name;
  std::string description;
  std::vector<std::pair<std::string, std::string>> parameters;
};

std::string fallback_text(const ParameterValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>) {
          return fmt::format("{}", v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return fmt::format("[{}]", fmt::join(v, ", "));
        } else {
          return "null";
        }
      },
      value);
}

/// The first sentence of the comment that opens a file, on one line.
std::string first_sentence(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  for (std::string line; std::getline(file, line) && line.starts_with('#');) {
    line.erase(0, line.find_first_not_of("# "));
    if (line.empty()) break;
    text += (text.empty() ? "" : " ") + line;
    const auto end = text.find(". ");
    if (end != std::string::npos) return text.substr(0, end + 1);
    if (text.back() == '.') break;
  }
  return text;
}

/// Whether a configuration is one of `corun live`, which `corun replay` refuses.
bool is_live(const std::filesystem::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("live:") || line.starts_with("workloads:")) return true;
  }
  return false;
}

/// The experiments that come with corun, called by the path to give to `corun replay`, or to
/// `corun live run` where the description says so: those under the working directory, else those of
/// the checkout that the program was built in. The description is the first sentence of their comment.
std::vector<Row> shipped_experiments() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path root = "experiments";
  if (!fs::is_directory(root, error)) {
    root = fs::read_symlink("/proc/self/exe", error).parent_path() / "../../experiments";
    root = root.lexically_normal();
  }
  std::vector<Row> rows;
  for (auto at = fs::recursive_directory_iterator(root, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().extension() != ".yaml") continue;
    rows.push_back({at->path().string(),
                    (is_live(at->path()) ? "[corun live run] " : "") + first_sentence(at->path()),
                    {}});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  if (rows.empty()) {
    throw InputError("corun list experiments",
                     "none found in experiments/; run it in the checkout");
  }
  return rows;
}

std::vector<Row> rows_of(const std::string& what) {
  std::vector<Row> rows;
  if (what == "policies") {
    for (const PolicyEntry& e : policy_catalog()) {
      Row row{std::string(e.name), std::string(e.description), {}};
      for (const ParameterSpec& p : e.parameters) {
        row.parameters.emplace_back(
            p.name, fmt::format("{} (default {})", p.description, fallback_text(p.fallback)));
      }
      rows.push_back(std::move(row));
    }
  } else if (what == "models") {
    for (const InterferenceModelEntry& e : interference_model_catalog()) {
      rows.push_back({std::string(e.name), std::string(e.description), {}});
    }
  } else if (what == "traces") {
    for (const TraceEntry& e : trace_catalog()) {
      rows.push_back({std::string(e.name), std::string(e.description), {}});
    }
  } else if (what == "knowledge") {
    for (const KnowledgeEntry& e : knowledge_catalog()) {
      rows.push_back({std::string(e.name), std::string(e.description), {}});
    }
  } else if (what == "experiments") {
    return shipped_experiments();
  } else {
    constexpr std::array<std::string_view, 6> kKnown{"policies",  "models",      "traces",
                                                     "knowledge", "experiments", "keys"};
    throw InputError("corun list",
                     what.empty()
                         ? "what? One of policies, models, traces, knowledge, experiments, keys"
                         : "no list '" + printable(what) + "': " + did_you_mean(what, kKnown));
  }
  return rows;
}

/// The keys of a configuration: default and meaning, and on a line of its own what may stand there.
std::string keys_text(Format format) {
  const std::vector<KeyDescription> keys = describe_keys();
  if (format == Format::kJson) {
    Json json = Json::array();
    for (const KeyDescription& k : keys) {
      json.push_back({{"name", k.key},
                      {"default", k.by_default},
                      {"value", k.value},
                      {"description", k.meaning}});
    }
    return json.dump(2) + "\n";
  }
  std::string text;
  if (format == Format::kCsv) {
    text = "name,default,value,description\n";
    for (const KeyDescription& k : keys) {
      text += csv_text(k.key) + ',' + csv_text(k.by_default) + ',' + csv_text(k.value) + ',' +
              csv_text(k.meaning) + '\n';
    }
    return text;
  }
  constexpr std::size_t kLongest = 16;  // a longer default pushes its own meaning on, no other
  std::size_t width = 0;
  for (const KeyDescription& k : keys) width = std::max(width, k.key.size());
  for (const KeyDescription& k : keys) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n    {}\n", k.key, width, k.by_default, kLongest,
                        k.meaning, k.value);
  }
  return text;
}

}  // namespace

int list_command(const std::vector<std::string>& arguments) {
  CommandLine command;
  command.name = "list";
  command.usage = "corun list policies|models|traces|knowledge|experiments|keys [options]";
  command.summary =
      "What there is, one line each; policies with their parameters, keys of a configuration with\n"
      "their default and what may stand there.";
  command.examples = "  corun list policies\n  corun list traces --format json\n";
  command.positional = "what";
  command.configured = false;
  CommonOptions common;
  const auto values = parse_command_line(command, arguments, common);
  if (!values) return kDone;
  const std::string what = values->count("what") ? (*values)["what"].as<std::string>() : "";
  if (what == "keys") {
    emit(common, keys_text(common.format));
    return kDone;
  }
  const std::vector<Row> rows = rows_of(what);
  std::ostringstream out;
  if (common.format == Format::kJson) {
    Json json = Json::array();
    for (const Row& r : rows) {
      Json entry{{"name", r.name}, {"description", r.description}};
      if (what == "policies") {
        entry["parameters"] = Json::object();
        for (const auto& [name, text] : r.parameters) entry["parameters"][name] = text;
      }
      json.push_back(std::move(entry));
    }
    out << json.dump(2) << "\n";
  } else if (common.format == Format::kCsv) {
    out << "name,description\n";
    for (const Row& r : rows) out << csv_text(r.name) << ',' << csv_text(r.description) << '\n';
  } else {
    std::size_t width = 0;
    for (const Row& r : rows) width = std::max(width, r.name.size());
    for (const Row& r : rows) {
      out << fmt::format("{:<{}}  {}\n", r.name, width, r.description);
      for (const auto& [name, text] : r.parameters) {
        out << fmt::format("    {}: {}\n", name, text);
      }
    }
  }
  emit(common, out.str());
  return kDone;
}

}  // namespace corun
