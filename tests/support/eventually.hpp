#pragma once

#include <chrono>
#include <thread>

/// Waiting for what other processes and threads do: for a condition, never for a fixed time.
namespace corun::test {

/// How long a test waits for what must come: far more than a busy machine needs.
inline constexpr std::chrono::seconds kPatience{60};

/// True as soon as the condition holds, false where it still does not after kPatience.
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
