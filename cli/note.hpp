#pragma once

#include <iostream>
#include <string>

#include "cli/cli.hpp"
#include "sim/base/text.hpp"

namespace corun::inline cli {

/// Prints a note of one line for the user on stderr, unless --quiet.
inline void note(const CommonOptions& common, const std::string& text) {
  if (!common.quiet) std::cerr << "note: " << printable(text, std::string::npos) << "\n";
}

}  // namespace corun::inline cli
