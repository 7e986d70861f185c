#include "cli/subcommands.hpp"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cli.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline cli {

namespace {

void print_help(const SubcommandGroup& group, std::span<const Subcommand> all) {
  std::size_t width = 0;
  for (const Subcommand& s : all) width = std::max(width, s.name.size());
  std::cout << fmt::format("usage: {} {} [options]\n\n{}\n\n", group.name, group.usage,
                           group.about);
  for (const Subcommand& s : all) {
    std::cout << fmt::format("  {:<{}}  {}\n", s.name, width, s.summary);
  }
  std::cout << fmt::format("\n`{} WORD --help` describes each{}.\n\nExamples:\n{}", group.name,
                           group.more, group.examples);
}

}  // namespace

int run_subcommand(const SubcommandGroup& group, std::span<const Subcommand> all,
                   const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  for (const Subcommand& s : all) {
    if (s.name == name) return s.run({arguments.begin() + 1, arguments.end()});
  }
  if (name == "--help" || name == "-h") {
    print_help(group, all);
    return kDone;
  }
  std::vector<std::string_view> known;
  for (const Subcommand& s : all) known.push_back(s.name);
  throw InputError(std::string(group.name),
                   name.empty() ? fmt::format("needs a word: one of {}", fmt::join(known, ", "))
                                : fmt::format("no {} '{}': {}", group.noun, printable(name),
                                              did_you_mean(name, known)));
}

}  // namespace corun::inline cli
