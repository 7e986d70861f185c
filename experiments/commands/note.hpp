#pragma once

#include <iostream>
#include <string>

#include "experiments/commands/cli.hpp"

namespace corun {

/// Prints a note for the user on stderr, unless --quiet.
inline void note(const CommonOptions& common, const std::string& text) {
  if (!common.quiet) std::cerr << "note: " << text << "\n";
}

}  // namespace corun
