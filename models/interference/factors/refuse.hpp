#pragma once

#include <string>

#include "models/interference/fits/refuse.hpp"

namespace corun::inline models::factors {

/// The begin of every error message of a factor model.
inline constexpr const char* kName = "factor model";

[[noreturn]] inline void refuse(const std::string& what) { corun::refuse(kName, what); }

}  // namespace corun::inline models::factors
