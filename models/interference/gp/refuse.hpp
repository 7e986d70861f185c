#pragma once

#include <string>

#include "models/interference/refuse.hpp"

namespace corun::gp {

/// How the errors of a Gaussian process begin.
inline constexpr const char* kName = "gp model";

[[noreturn]] inline void refuse(const std::string& what) { corun::refuse(kName, what); }

}  // namespace corun::gp
