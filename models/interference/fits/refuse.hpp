#pragma once

#include <stdexcept>
#include <string>

namespace corun::inline models {

/// Throws std::invalid_argument with the message "MODEL: WHAT".
[[noreturn]] inline void refuse(const char* model, const std::string& what) {
  throw std::invalid_argument(std::string(model) + ": " + what);
}

}  // namespace corun::inline models
