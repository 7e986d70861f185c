#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/base/text.hpp"
#include "tests/helpers/program.hpp"

// What the program prints holds text of others, and no terminal obeys it: every option of every command gets
// control characters in its value, in the name of a file and in the file.
namespace corun::printed_text_test {
namespace {

using Arguments = std::vector<std::string>;

/// Sets a terminal's title; C1 control, bidirectional override, no UTF-8, delete; line ends.
const std::string kHostileText = "\x1b]0;t\x07\xc2\x9b\x33\x31m\xe2\x80\xae\xff\x7f\r\n\tx";
/// The same as a file's name.
const std::string kHostileName = "\x1b]0;t\x07\xc2\x9b\xe2\x80\xae\xff\n";

/// Options that lead a command to the place where it uses the option under test.
const std::map<std::string, std::vector<std::pair<std::string, std::string>>> kUsual = {
    {"replay", {{"--set", "replications=1"}, {"--policies", "fifo"}}},
    {"sweep", {{"--output", "sweep.h5"}}},
    {"kb build", {{"--coruns", "mine.corun.csv"}, {"--output", "kb.yaml"}}},
    {"kb assign", {{"--profiles", "jobs.csv"}}},
    {"model fit", {{"--pairs", "mine.corun.csv"}, {"--model", "measured"}, {"--out", "m"}}},
    {"model predict", {{"--pairs", "mine.corun.csv"}, {"--model", "m"}, {"--out", "p.csv"}}},
    {"model eval",
     {{"--pairs", "mine.corun.csv"},
      {"--split", "pairs"},
      {"--model", "cluster-mean"},
      {"--queues", "1"}}},
    {"trace generate", {{"--jobs", "3"}}},
    {"data derive", {{"--from", "jobs.csv"}, {"--out", "derived"}}},
};

/// The arguments without option that lead a command there.
const std::map<std::string, Arguments> kUsualPositionals = {
    {"sweep", {"sweep.yaml"}},
    {"recommend", {"jobs.csv"}},
    {"kb show", {"jrs"}},
    {"kb assign", {"jrs"}},
    {"kb update", {"kb.yaml"}},
    {"kb eval", {"synthetic"}},  // the quickest with all options
    {"trace info", {"jobs.csv"}},
    {"trace convert", {"jobs.csv", "out.csv"}},
    {"trace cut", {"jobs.csv", "out.csv"}},
    {"trace generate", {"out.csv"}},
    {"data derive", {"gavel"}},
    {"live solo", {"live.yaml"}},
    {"live corun", {"live.yaml"}},
    {"live run", {"live.yaml"}},
    {"live validate", {"live.yaml"}},
    {"live workload", {"gemm"}},
    {"list", {"policies"}},
    {"timeline", {"events.csv"}},
};

Arguments split(const std::string& command) {
  std::istringstream in(command);
  Arguments words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string help_of(const std::string& command) {
  Arguments words = split(command);
  words.push_back("--help");
  const test::Outcome help = test::run_corun(words);
  EXPECT_EQ(help.code, 0) << command;
  EXPECT_EQ(find_bad_text(help.out, true), help.out.size()) << command;
  return help.out;
}

/// The words that the help of a command or group lists, one at the beginning of each line.
Arguments listed_words(const std::string& help) {
  Arguments words;
  std::istringstream in(help);
  const std::regex listed("  ([a-z]+)  .*");
  std::smatch match;
  for (std::string line; std::getline(in, line) && line.rfind('`', 0) != 0;) {
    if (std::regex_match(line, match, listed)) words.push_back(match[1]);
  }
  return words;
}

/// "replay", "kb build" ...
Arguments all_commands() {
  Arguments commands;
  for (const std::string& name : listed_words(help_of(""))) {
    const std::string help = help_of(name);
    const Arguments words =
        help.find("--help` describes each") == std::string::npos ? Arguments{} : listed_words(help);
    if (words.empty()) commands.push_back(name);
    for (const std::string& word : words) commands.push_back(name + " " + word);
  }
  return commands;
}

/// The options of a command that take a value: "--format" ...
Arguments options_of(const std::string& command) {
  const std::string help = help_of(command);
  const std::regex option("(--[a-z-]+)(?: \\])? arg");
  Arguments options;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
    options.push_back((*at)[1]);
  }
  return options;
}

class PrintedText : public testing::Test {
 protected:
  PrintedText() {
    for (const char* name : {"jobs.csv", "mine.corun.csv"}) {
      directory_.write(name, test::read_file(std::string(CORUN_SOURCE_DIR "/examples/") + name));
    }
    directory_.write("sweep.yaml",
                     "replications: 1\npolicies: [fifo]\nsweep: {list: [{seed: 1}]}\n");
    directory_.write("events.csv", "time_ns,event,job,gpus\n0,arrive,a,\n0,start,a,0\n");
    directory_.write("live.yaml", "output: out\nworkloads: {a: {command: ['true']}}\n");
    const std::vector<std::pair<std::string, std::string>> files = {
        {".csv", "job,submit_s,solo_s\na\xe2\x80\xae,0,1\n"},
        {".bytes.csv", "job,submit_s,\x1b]0;t\x07\xc2\x9b\n\x1b[31m,\x07,\xff\n"},
        {".json", "{\"\\u001b]0;t\\u0007\": [{\"\\u009b31m\": \"\\u202e\\u001b\"}], \x1b: \x07}"},
        {".yaml", "\"\\e]0;t\\a\\u009b\": \"\\e\\u202e\"\n"},
    };
    for (const auto& [suffix, content] : files) {
      hostile_.push_back(kHostileName + suffix);
      directory_.write(hostile_.back(), content);
    }
  }

  test::Outcome run(const Arguments& arguments) const {
    return test::run_corun(arguments, directory_.path());
  }

  void expect_harmless(const Arguments& arguments) const {
    const test::Outcome outcome = run(arguments);
    std::string shown;
    for (const std::string& a : arguments) shown += printable(a) + " ";
    EXPECT_LT(outcome.code, 4) << shown << outcome.err;
    for (const std::string& text : {outcome.out, outcome.err}) {
      EXPECT_EQ(find_bad_text(text, true), text.size()) << shown << "\n" << printable(text, 1000);
      EXPECT_EQ(text.find('\r'), std::string::npos) << shown << "\n" << printable(text, 1000);
    }
    if (outcome.code == 2) {
      EXPECT_EQ(outcome.out, "") << shown;
    }
  }

  /// The command as it is usually called, without `option`.
  static Arguments usual(const std::string& command, const std::string& option) {
    Arguments arguments = split(command);
    if (const auto found = kUsualPositionals.find(command); found != kUsualPositionals.end()) {
      arguments.insert(arguments.end(), found->second.begin(), found->second.end());
    }
    if (const auto found = kUsual.find(command); found != kUsual.end()) {
      for (const auto& [name, value] : found->second) {
        if (name != option) arguments.insert(arguments.end(), {name, value});
      }
    }
    return arguments;
  }

  test::TemporaryDirectory directory_;
  Arguments hostile_;  ///< names of hostile files
};

/// A part of the commands: each of them is run for each of its options.
class PrintedTextOfCommands : public PrintedText,
                              public testing::WithParamInterface<std::size_t> {};
constexpr std::size_t kParts = 6;

TEST_P(PrintedTextOfCommands, NoOptionPassesControlCharactersOn) {
  const Arguments commands = all_commands();
  EXPECT_GE(commands.size(), 23U);
  std::size_t options = 0;
  for (std::size_t c = 0; c < commands.size(); ++c) {
    const std::string& command = commands[c];
    const Arguments all = options_of(command);
    options += all.size();
    if (c % kParts != GetParam()) continue;
    for (const std::string& option : all) {
      Arguments values = hostile_;
      values.push_back(kHostileText);
      if (option == "--set") values.push_back("seed=" + kHostileText);
      for (const std::string& value : values) {
        Arguments arguments = usual(command, option);
        arguments.insert(arguments.end(), {option, value});
        if (command == "live profile") arguments.insert(arguments.end(), {"--", "true"});
        expect_harmless(arguments);
      }
    }
    Arguments names = hostile_;
    names.insert(names.end(), {kHostileText, "--" + kHostileText, "--format=" + kHostileText});
    for (const std::string& name : names) {
      Arguments arguments = split(command);
      arguments.push_back(name);
      expect_harmless(arguments);
    }
  }
  EXPECT_GT(options, 200U);
  if (GetParam() != 0) return;
  expect_harmless({kHostileText});
  for (const char* group : {"kb", "model", "trace", "live", "data"}) {
    expect_harmless({group, kHostileText});
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, PrintedTextOfCommands, testing::Range(std::size_t{0}, kParts));

TEST_F(PrintedText, NoKeyOfAConfigurationPassesControlCharactersOn) {
  const test::Outcome keys = run({"list", "keys", "--format", "json"});
  std::size_t number = 0;
  for (const auto& key : nlohmann::json::parse(keys.out)) {
    ++number;
    const std::string name = key.at("name");
    expect_harmless({"replay", "--dump-config", "--set", name + "=" + kHostileText});
    expect_harmless({"replay", "--dump-config", "--set", name + "='" + hostile_.front() + "'"});
  }
  EXPECT_GT(number, 50U);
}

// Tables and CSV show the names of jobs escaped; JSON keeps them.
TEST_F(PrintedText, NamesOfJobsAreShownEscaped) {
  const std::string name = "ümlaut\xe2\x80\xae";
  directory_.write("jobs.csv",
                   "job,workload,submit_s,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct\n" + name +
                       ",w,0,10,50,10,10\nb,w,0,10,30,10,10\n");
  for (const char* format : {"table", "csv", "json"}) {
    const Arguments recommend{"recommend", "jobs.csv", "--format", format};
    expect_harmless(recommend);
    const std::string out = run(recommend).out;
    EXPECT_NE(out.find("ümlaut\\"), std::string::npos) << out;
    if (std::string(format) != "json") continue;
    EXPECT_NE(nlohmann::json::parse(out).dump().find(name), std::string::npos) << out;
  }
}

TEST_F(PrintedText, OfAnExternalPolicyIsEscaped) {
  directory_.write("policy.sh",
                   "read line\n"
                   "printf '{\"\\\\u001b]0;t\": \"\\\\u009b\\\\u202e\"}\\n'\n");
  expect_harmless({"replay", "--set", "replications=1", "--set",
                   "policies=[{name: external, command: [sh, policy.sh]}]"});
}

}  // namespace
}  // namespace corun::printed_text_test
