#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "results/timeline/gpu_lanes.hpp"
#include "sim/records/event_log.hpp"

/// Where the jobs of a run are, followed event by event.
namespace corun::inline results {

/// Whether a job comes to GPUs by an event of this kind.
bool comes(LogKind kind);

class RunState {
 public:
  /// Follows an event; lanes()[i] is the lane on entry.gpus[i] that the job took or left. Returns the reason if the event
  /// cannot be; then the state must not be used any more. Empty: it can.
  std::string follow(const LogEntry& entry);

  const std::vector<std::uint32_t>& lanes() const { return taken_; }
  const std::map<GpuId, GpuLanes>& gpus() const { return gpus_; }
  std::int64_t waiting() const { return waiting_; }  ///< jobs, also those to be profiled or probed
  std::int64_t running() const { return running_; }  ///< jobs on GPUs
  std::int64_t busy() const { return busy_; }        ///< GPUs with a job
  std::int64_t shared() const { return shared_; }    ///< GPUs with two jobs or more

 private:
  enum class Place : std::uint8_t { kUnknown, kWaiting, kRunning, kGone };

  std::string move(GpuId gpu, JobId job, bool comes);

  std::vector<Place> places_;  ///< by job
  std::map<GpuId, GpuLanes> gpus_;
  std::vector<std::uint32_t> taken_;
  std::int64_t waiting_ = 0;
  std::int64_t running_ = 0;
  std::int64_t busy_ = 0;
  std::int64_t shared_ = 0;
};

}  // namespace corun::inline results
