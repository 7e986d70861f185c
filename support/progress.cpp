#include "support/progress.hpp"

#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/text.hpp"

namespace corun::inline support {

namespace {

/// A failure to write (stderr closed, disk full) is ignored: the work goes on without a progress
/// bar.
void show(const std::string& text) {
  static_cast<void>(std::fputs(text.c_str(), stderr));
  static_cast<void>(std::fflush(stderr));
}

/// "48 s", "12 min", "3.5 h"
std::string time_left(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(std::string_view what, bool quiet, std::size_t already_done)
    : what_(printable(what)),
      enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      already_done_(already_done),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (drawn_) show("\r\033[K");
}

void Progress::update(std::size_t done, std::size_t total) {
  if (!enabled_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && done < total && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  constexpr std::size_t kWidth = 30;
  const std::size_t filled = kWidth * done / total;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done - already_done_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(total - done) / rate : 0;
  show(fmt::format("\r\033[K{} [{}{}] {}/{}  {}/s  {} left", what_, std::string(filled, '#'),
                   std::string(kWidth - filled, '.'), done, total,
                   fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 0), time_left(left)));
}

}  // namespace corun::inline support
