#include "cli/cli.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"

namespace corun::inline cli {

namespace {

namespace po = boost::program_options;

std::atomic<bool> stop_requested{false};

/// The first signal ends the run orderly, the second at once.
void request_stop(int) {
  if (stop_requested.exchange(true)) std::_Exit(kInterrupted);
}

po::options_description common_options(bool configured) {
  po::options_description options("Options of every command");
  auto add = options.add_options();
  add("help,h", "print this help");
  add("format", po::value<std::string>()->default_value("table"),
      "table, json or csv; stdout carries only that");
  add("output,o", po::value<std::string>(), "write the results to this file");
  add("force",
      "replace output files that exist. Without it, results are replaced only by the same "
      "experiment, other files only by the same bytes");
  if (configured) {
    add("set", po::value<std::vector<std::string>>()->composing(),
        "KEY.PATH=VALUE: override a key of the configuration (repeatable); corun list keys shows "
        "them");
    add("seed", po::value<std::string>(), "the same as --set seed=N");
    add("dump-config", "print the effective configuration, which reproduces the run, and stop");
  }
  add("threads", po::value<std::string>()->default_value("0"),
      "worker threads; 0: one per core. Never changes a result");
  add("device", po::value<std::string>()->default_value("auto"),
      "auto, cpu or cuda. Never changes a result");
  add("data", po::value<std::string>(),
      "directory of the public data sets, which corun data lists (else CORUN_DATA, else "
      "share/corun/data of an installed corun)");
  add("quiet,q", "no progress, no warnings");
  return options;
}

/// share/corun/data beside the bin/ of this program if it exists; else empty.
std::string installed_data() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const auto data = program.parent_path().parent_path() / "share/corun/data";
  return std::filesystem::is_directory(data, error) ? data.string() : "";
}

std::string data_directory(const po::variables_map& values) {
  std::error_code error;
  if (values.count("data") != 0) {
    std::string directory = values["data"].as<std::string>();
    if (!std::filesystem::is_directory(directory, error)) {
      throw InputError("--data", "'" + printable(directory) + "' is not a directory");
    }
    return directory;
  }
  // Unlike --data, the variable is not checked: a stale path counts as an empty directory, and
  // errors about missing files name the paths tried.
  const char* set = std::getenv("CORUN_DATA");
  if (set != nullptr && *set != '\0') return set;
  return installed_data();
}

}  // namespace

std::optional<po::variables_map> parse_command_line(const CommandLine& command,
                                                    const std::vector<std::string>& arguments,
                                                    CommonOptions& common) {
  const po::options_description shared = common_options(command.configured);
  po::options_description all;
  all.add(shared).add(command.own);
  po::positional_options_description positional;
  for (const std::string& name : {command.positional, command.second_positional}) {
    if (name.empty()) continue;
    all.add_options()(name.c_str(), po::value<std::string>());
    positional.add(name.c_str(), 1);
  }
  po::variables_map values;
  try {
    // No guessing: `--se` must not be taken for `--seed`.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
        values);
    po::notify(values);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : all.options()) names.push_back("--" + option->long_name());
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto near = nearest(e.get_option_name(), known);
    throw InputError(e.get_option_name(),
                     "no such option of corun " + command.name +
                         (near.empty() ? "." : "; did you mean '" + std::string(near) + "'?") +
                         " See corun " + command.name + " --help");
  } catch (const po::too_many_positional_options_error&) {
    throw InputError("corun " + command.name,
                     command.positional.empty() ? "takes no argument beside its options; see --help"
                     : command.second_positional.empty()
                         ? "takes one " + command.positional + " at most; see --help"
                         : "takes " + command.positional + " and " + command.second_positional +
                               ", no more; see --help");
  } catch (const po::error& e) {
    throw InputError("corun " + command.name, std::string(e.what()) + "; see --help");
  }
  if (values.count("help") != 0) {
    std::cout << "usage: " << command.usage << "\n\n" << command.summary << "\n\n";
    if (!command.own.options().empty()) std::cout << command.own << "\n";
    std::cout << shared << "\nExamples:\n" << command.examples;
    return std::nullopt;
  }
  const auto text = [&](const char* key) { return values[key].as<std::string>(); };
  const std::string format = text("format");
  if (format == "json") {
    common.format = Format::kJson;
  } else if (format == "csv") {
    common.format = Format::kCsv;
  } else if (format != "table") {
    throw InputError("--format", "found '" + printable(format) + "', expected table, json or csv");
  }
  const auto threads = parse_integer(text("threads"));
  if (!threads || *threads < 0 || *threads > 4096) {
    throw InputError("--threads", "found '" + printable(text("threads")) + "', expected 0 to 4096");
  }
  common.threads = *threads == 0 ? std::max(1U, std::thread::hardware_concurrency())
                                 : static_cast<unsigned>(*threads);
  common.device = text("device");
  common.quiet = values.count("quiet") != 0;
  common.data = data_directory(values);
  if (values.count("force") != 0) common.existing = Existing::kReplace;
  if (values.count("output") != 0) common.output = text("output");
  if (command.output == OutputUse::kText) take_format_of_output(values, common);
  if (command.configured) {
    common.dump_config = values.count("dump-config") != 0;
    common.overrides = parse_overrides(list_option(values, "set"));
    if (values.count("seed") != 0) {
      common.overrides.push_back(typed_word("seed", text("seed"), "--seed"));
    }
  }
  return values;
}

std::vector<std::string> list_option(const po::variables_map& values, const std::string& key) {
  return values.count(key) != 0 ? values[key].as<std::vector<std::string>>()
                                : std::vector<std::string>();
}

std::int64_t whole_option(const po::variables_map& values, const std::string& key, std::int64_t min,
                          std::int64_t max) {
  const std::string text = values[key].as<std::string>();
  const auto number = parse_integer(text);
  if (!number || *number < min || *number > max) {
    throw InputError("--" + key, "found '" + printable(text) + "', expected a whole number from " +
                                     std::to_string(min) + " to " + std::to_string(max));
  }
  return *number;
}

std::string find_input_file(const std::string& path, const CommonOptions& common,
                            const std::string& flag) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  if (!common.data.empty() && !std::filesystem::path(path).is_absolute()) {
    std::string there = common.data + "/" + path;
    if (std::filesystem::exists(there, error)) return there;
  }
  throw InputError(flag, "no file '" + printable(path) + "'" +
                             (common.data.empty() ? "" : ", nor below " + printable(common.data)) +
                             "; check the path or give --data DIR");
}

void take_format_of_output(const po::variables_map& values, CommonOptions& common) {
  if (!common.output) return;
  checked_output_path(*common.output, "--output");
  check_name(*common.output, "--output", {"table", "json", "csv"});
  const std::string_view named = format_of_name(*common.output);
  if (named.empty()) return;
  const Format format = named == "json" ? Format::kJson : Format::kCsv;
  if (!values["format"].defaulted() && common.format != format) {
    throw InputError("--output", "'" + printable(*common.output) + "' names a file of format " +
                                     std::string(named) + ", but --format is " +
                                     values["format"].as<std::string>() +
                                     "; leave one of them out");
  }
  common.format = format;
}

void emit(const CommonOptions& common, const std::string& text, std::vector<OutputText> files) {
  if (common.output) files.push_back({"--output", *common.output, text});
  write_outputs(files, common.existing);
  if (!common.output) std::cout << text;
}

Config load_config(const CommonOptions& common, const std::optional<std::string>& path) {
  if (path) check_kind(*path, {FileKind::kConfiguration}, "a configuration");
  return path ? read_config(*path, common.overrides, policy_catalog())
              : default_config_with(common.overrides, policy_catalog());
}

const std::atomic<bool>& interrupted() {
  static const bool installed = [] {
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
    // A closed terminal ends the run, unless nohup made the program ignore SIGHUP.
    if (std::signal(SIGHUP, request_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
    return true;
  }();
  (void)installed;
  return stop_requested;
}

}  // namespace corun::inline cli
