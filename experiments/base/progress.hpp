#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace corun {

/// A progress bar on stderr, drawn only when that is a terminal and not asked to be quiet; at most
/// ten times a second, wiped when done.
class Progress {
 public:
  /// The rate is that of what is done beyond `already_done` from now on.
  Progress(std::string what, bool quiet, std::size_t already_done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Callers take turns.
  void update(std::size_t done, std::size_t total);

 private:
  std::string what_;
  bool drawn_ = false;
  bool enabled_;
  std::size_t already_done_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace corun
