#pragma once

#include <string>

#include "models/interference/fits/refuse.hpp"

namespace corun::inline models::gp {

/// The begin of every error message of a Gaussian process.
inline constexpr const char* kName = "gp model";

[[noreturn]] inline void refuse(const std::string& what) { corun::refuse(kName, what); }

}  // namespace corun::inline models::gp
