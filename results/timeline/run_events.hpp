#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/records/event_log.hpp"

/// The events of one run, from wherever a timeline can take them.
namespace corun::inline results {

/// A GPU as a timeline names it.
struct TimelineGpu {
  std::size_t node = 0;
  std::size_t gpu_of_node = 0;
  std::string type;
};

/// Mean utilisation of all GPUs from this time on, 0 to 1; NaN: not known.
struct UtilizationStep {
  Time from{0};
  double utilization = 0;
};

class RunEvents {
 public:
  RunEvents() = default;
  RunEvents(const RunEvents&) = delete;
  RunEvents& operator=(const RunEvents&) = delete;
  virtual ~RunEvents() = default;

  /// Calls `take` with every event, in order of time. May be called several times. Throws InputError for a file that
  /// is damaged; what `take` throws passes.
  virtual void for_each(const std::function<void(const LogEntry&)>& take) const = 0;

  /// The name of a job that for_each() told.
  virtual std::string_view name(JobId job) const = 0;

  /// Throws InputError: the event that for_each() told last cannot be, because `why`.
  [[noreturn]] virtual void refuse(const std::string& why) const = 0;

  /// By GpuId; empty: not known.
  virtual const std::vector<TimelineGpu>& gpus() const = 0;

  /// Ascending by time; empty: not known.
  virtual const std::vector<UtilizationStep>& utilization() const = 0;

  /// Facts of the run for the reader of the timeline, such as its policy: name and value.
  virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

}  // namespace corun::inline results
