#include "live/jobs/live_config.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "live/jobs/service_config.hpp"
#include "live/jobs/yaml_fields.hpp"
#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/yaml_tree.hpp"

namespace corun::live {

namespace {

using Kind = YamlNode::Kind;

std::string name_of(const YamlNode& node, const std::string& text) {
  // Names become file names and fields of CSV files.
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (text.empty() || text.size() > 100 || text[0] == '.' ||
      !std::all_of(text.begin(), text.end(), plain)) {
    throw InputError(
        node.key.empty() ? node.place() : node.key_place(),
        "found '" + printable(text) + "', expected a name of letters, digits, '-', '_' and '.'");
  }
  return text;
}

std::vector<std::string> texts_of(const YamlNode& node, const std::string& expected) {
  if (node.kind != Kind::kSequence) refuse(node, expected);
  std::vector<std::string> texts;
  for (const YamlNode& child : node.children) texts.push_back(line_of(child, expected));
  return texts;
}

void set_variable(std::vector<std::string>& environment, const std::string& name,
                  const std::string& value) {
  std::erase_if(environment, [&](const std::string& v) { return v.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

void add_environment(const YamlNode& map, std::vector<std::string>& environment) {
  if (map.kind != Kind::kMap) refuse(map, "a map of variables, {NAME: value}");
  for (const YamlNode& child : map.children) {
    set_variable(environment, child.key, line_of(child, "the value of a variable, one line"));
  }
}

void take_limits(const YamlNode& map, Limits& limits) {
  constexpr double kMost = 1e9;
  const auto take = [&](const char* key, double min, const std::string& what, auto&& set) {
    if (const YamlNode* node = map.find(key)) set(number_of(*node, min, kMost, what));
  };
  const auto mib = [](double x) { return static_cast<std::uint64_t>(x * 1024 * 1024); };
  take("timeout_s", 0, "a number of seconds", [&](double x) { limits.timeout = from_seconds(x); });
  take("grace_s", 0, "a number of seconds", [&](double x) { limits.grace = from_seconds(x); });
  take("processes", 1, "a number of processes",
       [&](double x) { limits.processes = static_cast<int>(x); });
  take("stdout_mib", 0, "a number of MiB", [&](double x) { limits.output_bytes = mib(x); });
  take("file_mib", 1, "a number of MiB", [&](double x) { limits.file_bytes = mib(x); });
  take("disk_free_mib", 0, "a number of MiB", [&](double x) { limits.disk_free_bytes = mib(x); });
}

class Reader {
 public:
  explicit Reader(const std::string& directory) : directory_(directory) {
    common_.environment = basic_environment();
    common_.limits.timeout = std::chrono::hours{24};
  }

  void read_live(const YamlNode& live) {
    check_keys(
        live, "a map of live settings",
        {"gpus", "output", "sample_s", "memory_reserve_mib", "environment", "pass_environment",
         "timeout_s", "grace_s", "processes", "stdout_mib", "file_mib", "disk_free_mib"});
    if (const YamlNode* gpus = live.find("gpus"); gpus != nullptr && gpus->kind != Kind::kNull) {
      if (gpus->kind != Kind::kSequence || gpus->children.empty()) {
        refuse(*gpus, "a list of GPU numbers, e.g. [0, 1], or null for all that may be used");
      }
      result_.gpus_place = gpus->place();
      for (const YamlNode& gpu : gpus->children) {
        const auto index = gpu.kind == Kind::kScalar ? parse_integer(gpu.text) : std::nullopt;
        if (!index) refuse(gpu, "the number of a GPU");
        result_.gpus.push_back(*index);
      }
    }
    if (const YamlNode* output = live.find("output")) {
      result_.output = line_of(*output, "a directory");
      if (result_.output.empty()) refuse(*output, "a directory");
    }
    if (const YamlNode* sample = live.find("sample_s")) {
      result_.sample_s = number_of(*sample, 0.01, 3600, "a number of seconds");
    }
    if (const YamlNode* reserve = live.find("memory_reserve_mib")) {
      result_.memory_reserve_mib = number_of(*reserve, 0, 1e9, "a number of MiB");
    }
    if (const YamlNode* names = live.find("pass_environment")) {
      for (const std::string& name : texts_of(*names, "a list of names of variables")) {
        if (const char* value = std::getenv(name.c_str())) {
          set_variable(common_.environment, name, value);
        }
      }
    }
    if (const YamlNode* map = live.find("environment")) add_environment(*map, common_.environment);
    take_limits(live, common_.limits);
  }

  void read_workloads(const YamlNode& map) {
    if (map.kind != Kind::kMap || map.children.empty()) refuse(map, "a map of workloads by name");
    for (const YamlNode& child : map.children) {
      check_keys(child, "a workload: {command: [PROGRAM, ARGUMENT, ...]}",
                 {"command", "directory", "environment", "service", "timeout_s", "grace_s",
                  "processes", "stdout_mib", "file_mib", "disk_free_mib"});
      LiveWorkload workload;
      workload.name = name_of(child, child.key);
      workload.command = common_;
      workload.command.name = workload.name;
      const YamlNode* command = child.find("command");
      if (command == nullptr) {
        throw InputError(child.key_place(), "workload '" + workload.name +
                                                "' has no command; add command: [PROGRAM, ...]");
      }
      const std::string expected = "a list of words, [PROGRAM, ARGUMENT, ...]; no shell reads them";
      workload.command.argv = texts_of(*command, expected);
      if (workload.command.argv.empty() || workload.command.argv[0].empty()) {
        refuse(*command, expected);
      }
      workload.command.place = command->place();
      if (workload.command.argv[0] == "corun") workload.command.argv[0] = own_program();
      workload.command.directory = directory_;
      if (const YamlNode* directory = child.find("directory")) {
        const std::filesystem::path path = line_of(*directory, "a directory");
        workload.command.directory = (std::filesystem::path(directory_) / path).string();
      }
      if (const YamlNode* map_of = child.find("environment")) {
        add_environment(*map_of, workload.command.environment);
      }
      take_limits(child, workload.command.limits);
      if (const YamlNode* service = child.find("service")) {
        workload.command.service = read_live_service(*service, directory_);
      }
      // A missing program is reported now, not in the middle of a long run.
      workload.command.argv[0] =
          find_program(workload.command.argv[0], workload.command.environment,
                       workload.command.directory, workload.command.place);
      result_.workloads.push_back(std::move(workload));
    }
  }

  void read_queue(const YamlNode& list) {
    if (list.kind != Kind::kSequence) refuse(list, "a list of workloads");
    result_.queue_place = list.place();
    std::set<std::string> names;
    for (const YamlNode& item : list.children) {
      QueueEntry entry;
      const YamlNode* workload = &item;
      if (item.kind == Kind::kMap) {
        check_keys(item, "a job: {workload: NAME, submit_s: 0}", {"workload", "submit_s", "name"});
        workload = item.find("workload");
        if (workload == nullptr) throw InputError(item.place(), "a job without workload; name one");
        if (const YamlNode* submit = item.find("submit_s")) {
          entry.submit = from_seconds(number_of(*submit, 0, 1e9, "a number of seconds"));
        }
        if (const YamlNode* name = item.find("name")) {
          entry.name = name_of(*name, line_of(*name, "the name of a job"));
        }
      }
      entry.workload = find_workload(*workload);
      if (result_.workloads[entry.workload].serves()) {
        throw InputError(workload->place(),
                         "found the service '" + result_.workloads[entry.workload].name +
                             "', expected a job that ends by itself; leave it out: corun live "
                             "corun measures services beside jobs");
      }
      if (entry.name.empty()) {
        const std::string& base = result_.workloads[entry.workload].name;
        entry.name = base;
        for (int n = 2; names.contains(entry.name); ++n)
          entry.name = base + "." + std::to_string(n);
      }
      if (!names.insert(entry.name).second) {
        throw InputError(item.place(), "a second job '" + entry.name + "'; name it otherwise");
      }
      result_.queue.push_back(std::move(entry));
    }
  }

  LiveConfig take() { return std::move(result_); }

 private:
  std::size_t find_workload(const YamlNode& node) const {
    const std::string name = line_of(node, "the name of a workload");
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < result_.workloads.size(); ++i) {
      if (result_.workloads[i].name == name) return i;
      known.push_back(result_.workloads[i].name);
    }
    throw InputError(node.place(),
                     "no workload '" + printable(name) + "': " + did_you_mean(name, known));
  }

  std::string directory_;
  JobCommand common_;
  LiveConfig result_;
};

/// Removes a child from a map and returns it.
std::optional<YamlNode> take_child(YamlNode& root, std::string_view key) {
  for (auto at = root.children.begin(); at != root.children.end(); ++at) {
    if (at->key != key) continue;
    YamlNode child = std::move(*at);
    root.children.erase(at);
    return child;
  }
  return std::nullopt;
}

/// Whether a key such as "live.gpus[0]" belongs to live configurations only.
bool is_live_key(std::string_view key) {
  const std::string_view first = key.substr(0, key.find_first_of(".["));
  return first == "live" || first == "workloads" || first == "queue";
}

}  // namespace

LiveConfig read_live_config(const std::string& path, std::span<const Override> overrides) {
  YamlNode root = read_yaml_file(path);
  if (root.kind != Kind::kMap) refuse(root, "a map of keys");
  for (const Override& typed : overrides) {
    if (is_live_key(typed.key)) set_key(root, typed.key, typed.value, typed.place);
  }
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  Reader reader(directory);
  if (const auto live = take_child(root, "live")) reader.read_live(*live);
  const auto workloads = take_child(root, "workloads");
  if (!workloads) {
    throw InputError(path,
                     "no key 'workloads'; a live configuration names the commands to run, "
                     "see docs/live.md");
  }
  reader.read_workloads(*workloads);
  if (const auto queue = take_child(root, "queue")) reader.read_queue(*queue);
  LiveConfig result = reader.take();
  result.config = config_from_tree(std::move(root), shared_overrides(overrides), policy_catalog());
  result.config.directory = directory;
  for (LiveWorkload& workload : result.workloads) {
    if (workload.serves()) workload.command.service->seed = result.config.seed;
  }
  return result;
}

std::vector<Override> shared_overrides(std::span<const Override> overrides) {
  std::vector<Override> shared;
  for (const Override& typed : overrides) {
    if (!is_live_key(typed.key)) shared.push_back(typed);
  }
  return shared;
}

}  // namespace corun::live
