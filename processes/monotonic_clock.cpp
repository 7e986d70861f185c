#include "processes/monotonic_clock.hpp"

#include <chrono>
#include <ctime>

namespace corun::inline processes {

Time monotonic_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

}  // namespace corun::inline processes
