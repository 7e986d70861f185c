#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace corun::inline support {

/// A progress bar on stderr. It is drawn only on a terminal and not if `quiet`, at most ten times a
/// second, and is erased by the destructor.
class Progress {
 public:
  /// The rate shown counts the items done beyond `already_done`, from construction on.
  Progress(std::string_view what, bool quiet, std::size_t already_done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Not thread-safe.
  void update(std::size_t done, std::size_t total);

 private:
  std::string what_;
  bool drawn_ = false;
  bool enabled_;
  std::size_t already_done_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace corun::inline support
