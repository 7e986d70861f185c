#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Commands with subcommands: `corun kb build`, `corun trace info`.
namespace corun::inline cli {

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};

struct SubcommandGroup {
  std::string_view name;   ///< "corun kb"
  std::string_view usage;  ///< what may follow the name, "WORD"
  std::string_view about;  ///< a sentence
  std::string_view more;   ///< text of --help after "`... WORD --help` describes each"
  std::string_view examples;
  std::string_view noun = "word";  ///< word for a subcommand in messages
};

/// Runs the subcommand of the first argument with the other arguments and returns its exit code;
/// prints the list for --help. InputError for an unknown subcommand.
int run_subcommand(const SubcommandGroup& group, std::span<const Subcommand> all,
                   const std::vector<std::string>& arguments);

}  // namespace corun::inline cli
