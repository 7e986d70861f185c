#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "results/timeline/run_events.hpp"
#include "support/atomic_file.hpp"

/// A run as a Chrome trace (trace_event_writer.hpp):
///   process "cluster": threads "decisions" (starts, probes, preemptions), "submissions" and "failures" with instants;
///     counters "jobs" (waiting, running), "GPUs" (busy, shared) and "GPU utilisation" [%]
///   process "node N", or "GPUs" where nodes are not known: a thread per GPU and lane (gpu_lanes.hpp). A slice is a stay
///     of a job on the GPU; instants are the ends by preemption, out of memory and giving up.
namespace corun::inline results {

struct TraceSummary {
  std::size_t jobs = 0;   ///< that arrived
  std::size_t ended = 0;  ///< that finished or were given up
  Time last{0};           ///< the last event
};

class RunTrace {
 public:
  /// Reads all events once. Throws InputError by the source if they contradict each other, as a job that starts on a GPU
  /// where it is, or if a GPU's number is 10^7 or more.
  explicit RunTrace(const RunEvents& events);

  const TraceSummary& summary() const { return summary_; }

  /// Writes the trace. May be called several times, with the same bytes.
  void write(const ByteSink& sink) const;

 private:
  const RunEvents& events_;
  std::map<GpuId, std::uint32_t> lanes_;  ///< most in use at once; of all GPUs that are known
  std::uint32_t most_lanes_ = 1;
  TraceSummary summary_;
};

}  // namespace corun::inline results
