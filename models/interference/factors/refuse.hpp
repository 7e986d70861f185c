#pragma once

#include <string>

#include "models/interference/refuse.hpp"

namespace corun::factors {

/// How the errors of a factor model begin.
inline constexpr const char* kName = "factor model";

[[noreturn]] inline void refuse(const std::string& what) { corun::refuse(kName, what); }

}  // namespace corun::factors
