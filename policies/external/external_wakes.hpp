#pragma once

#include <cstddef>
#include <set>

#include "sim/time.hpp"

/// The limits on the wake-ups of an external program: without them it could fill the memory, or be woken at
/// every nanosecond of a simulation.
namespace corun::inline policies {

class ExternalWakes {
 public:
  static constexpr std::size_t kMostPending = 100'000;
  static constexpr int kMostIdle = 1'000'000;

  /// Before each question; `news`: it has events. Throws ExternalError if the last kMostIdle questions had
  /// none and no answer to them acted.
  void new_question(Time now, bool news);
  /// The program asks for a wake-up. Throws ExternalError if more than kMostPending are to come.
  void add(Time at);
  /// The program starts or preempts jobs.
  void act() { idle_ = 0; }

 private:
  std::set<Time> pending_;
  int idle_ = 0;  ///< questions in a row
};

}  // namespace corun::inline policies
