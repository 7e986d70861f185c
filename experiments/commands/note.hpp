#pragma once

#include <iostream>
#include <string>

#include "experiments/commands/cli.hpp"

namespace corun {

/// What the user should know beside the answer: a line on stderr, none with --quiet.
inline void note(const CommonOptions& common, const std::string& text) {
  if (!common.quiet) std::cerr << "note: " << text << "\n";
}

}  // namespace corun
