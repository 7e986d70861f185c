#pragma once

#include <stdexcept>
#include <string>

namespace corun::gp {

/// How the errors of a Gaussian process begin.
inline constexpr const char* kName = "gp model";

[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument(std::string(kName) + ": " + what);
}

}  // namespace corun::gp
