#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "runner/config/config.hpp"
#include "runner/config/config_overrides.hpp"
#include "support/output_file.hpp"

/// Shared by all sub-commands of `corun`: options, paths of data, exit codes.
namespace corun::inline cli {

/// Exit codes of the program (DESIGN section 6).
enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,
  kBadInput = 2,
  kDeviceMissing = 3,   ///< no GPU, no driver, or too little device memory
  kInternalError = 70,  ///< a defect of corun, or a limit of this machine: its memory is exhausted
  kInterrupted = 130,
};

enum class Format : std::uint8_t { kTable, kJson, kCsv };

/// Options of every command.
struct CommonOptions {
  Format format = Format::kTable;
  std::optional<std::uint64_t> seed;
  unsigned threads = 1;
  std::string device = "auto";
  std::optional<std::string> output;
  Existing existing = Existing::kKeepOthers;  ///< kReplace: --force
  /// Directory of the public data sets: --data, else CORUN_DATA, else share/corun/data of an
  /// installed corun if it exists, else empty.
  std::string data;
  bool quiet = false;
  bool dump_config = false;
  std::vector<Override> overrides;  ///< --set KEY.PATH=VALUE, and --seed
};

/// What --output is for a command.
enum class OutputUse : std::uint8_t {
  kText,  ///< what is printed otherwise; the name may decide the format
  kOwn,   ///< a file or directory of the command's own, whose name the command checks
};

/// One sub-command: its options beside the common ones, and its help.
struct CommandLine {
  std::string name;      ///< "replay"
  std::string usage;     ///< "corun replay [CONFIG] [options]"
  std::string summary;   ///< a paragraph
  std::string examples;  ///< lines that run as printed
  boost::program_options::options_description own{"Options of this command"};
  std::string positional;         ///< name of the optional positional argument, or empty
  std::string second_positional;  ///< name of a second one, or empty
  bool configured = true;         ///< takes a configuration, --set and --dump-config
  OutputUse output = OutputUse::kText;
};

/// Parses the arguments; empty after printing help for `--help`. Throws InputError naming the flag.
std::optional<boost::program_options::variables_map> parse_command_line(
    const CommandLine& command, const std::vector<std::string>& arguments, CommonOptions& common);

/// The values of an option that may be given several times; empty if it was not given.
std::vector<std::string> list_option(const boost::program_options::variables_map& values,
                                     const std::string& key);

/// A whole number from `min` to `max`. InputError that begins with the flag for anything else.
std::int64_t whole_option(const boost::program_options::variables_map& values,
                          const std::string& key, std::int64_t min, std::int64_t max);

/// The path itself if it exists, else the file of that name in the data directory. InputError that
/// begins with `flag` if there is neither.
std::string find_input_file(const std::string& path, const CommonOptions& common,
                            const std::string& flag);

/// Checks a name that was given to --output for text: a suffix of JSON or CSV decides the format if
/// --format was not given, and must fit it if it was. InputError for another known format.
void take_format_of_output(const boost::program_options::variables_map& values,
                           CommonOptions& common);

/// Prints the output of a command, or writes it to --output instead. `files` are written as well;
/// all are checked first (output_file.hpp). InputError as write_outputs().
void emit(const CommonOptions& common, const std::string& text, std::vector<OutputText> files = {});

/// The effective configuration of a command: CONFIG if given, else the default, then --set. InputError as read_config().
Config load_config(const CommonOptions& common, const std::optional<std::string>& path);

/// True once SIGINT, SIGTERM or SIGHUP has arrived; the handler is installed by the first call.
const std::atomic<bool>& interrupted();

// The commands. Each takes the arguments behind its name and returns an ExitCode. All throw InputError, which ends the
// program with kBadInput, and DeviceError, which ends it with kDeviceMissing.
int replay_command(const std::vector<std::string>& arguments);
int sweep_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);
int timeline_command(const std::vector<std::string>& arguments);
int recommend_command(const std::vector<std::string>& arguments);
int model_command(const std::vector<std::string>& arguments);
int predict_command(const std::vector<std::string>& arguments);
int predictor_command(const std::vector<std::string>& arguments);
int trace_command(const std::vector<std::string>& arguments);
int kb_command(const std::vector<std::string>& arguments);
int kb_eval_command(const std::vector<std::string>& arguments);
int service_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);
int live_command(const std::vector<std::string>& arguments);
int data_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
