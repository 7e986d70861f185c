#pragma once

#include <stdexcept>
#include <string>

namespace corun::factors {

/// How the errors of a factor model begin.
inline constexpr const char* kName = "factor model";

[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument(std::string(kName) + ": " + what);
}

}  // namespace corun::factors
