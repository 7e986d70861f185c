#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace corun::test {

/// The message of the std::invalid_argument that `call` throws; "not refused" if it throws nothing.
inline std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "not refused";
}

}  // namespace corun::test
