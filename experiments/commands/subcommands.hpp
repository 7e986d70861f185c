#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Commands that are several: `corun kb build`, `corun trace info`.
namespace corun {

struct Subcommand {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};

struct SubcommandGroup {
  std::string_view name;   ///< "corun kb"
  std::string_view usage;  ///< what may follow the name, "WORD"
  std::string_view about;  ///< a sentence
  std::string_view more;   ///< what --help says behind "`... WORD --help` teaches each of them"
  std::string_view examples;
  std::string_view noun = "word";  ///< what an unknown subcommand is called
};

/// Runs the one that the first argument names, on the other arguments; prints the list for --help.
/// InputError for anything else.
int run_subcommand(const SubcommandGroup& group, std::span<const Subcommand> all,
                   const std::vector<std::string>& arguments);

}  // namespace corun
