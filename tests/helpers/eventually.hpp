#pragma once

#include <chrono>
#include <thread>

/// Waits for a condition that other processes or threads bring about, never for a fixed time.
namespace corun::test {

/// How long a test waits: far more than a busy machine needs.
inline constexpr std::chrono::seconds kPatience{60};

/// True as soon as the condition holds; false if it does not hold after kPatience.
template <typename F>
bool eventually(F&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

}  // namespace corun::test
