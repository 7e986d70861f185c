#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/base/nan.hpp"
#include "sim/ids.hpp"
#include "sim/records/event_log.hpp"
#include "sim/time.hpp"
#include "sim/world.hpp"

/// What happened within a run, for reports: bounded, beside the RunRecord. docs/results.md describes the
/// tables.
namespace corun::inline sim {

inline constexpr GpuId kNoGpu{0xffffffffU};

/// How much of a run is kept; 0 and false: nothing.
struct DetailLimits {
  std::size_t co_runs = 0;  ///< rows
  std::size_t events = 0;   ///< rows
  bool slices = false;

  bool any() const { return co_runs > 0 || events > 0 || slices; }
};

/// Two jobs of a co-run: the time during which the set of jobs on a GPU, two or more, stays the same.
struct CoRunRecord {
  std::uint32_t co_run = 0;  ///< its number in the run; pairs of three jobs or more share it
  GpuId gpu{};
  Time start{0};
  Time end{0};
  int jobs = 2;  ///< on the GPU
  std::array<JobId, 2> pair{};
  bool probe = false;
  std::optional<Provenance> source;  ///< of the speeds; nothing: not known
  /// True mean speeds, relative to each job alone there; NaN: not known.
  std::array<double, 2> speed{kNaN, kNaN};
  /// True ISDs and PS of the whole episode if exactly these two jobs ran and finished in it; else NaN.
  std::array<double, 2> isd{kNaN, kNaN};
  double ps = kNaN;
  /// By the policy's belief when the co-run began; NaN without a belief.
  std::array<double, 2> predicted_isd{kNaN, kNaN};
  double predicted_ps = kNaN;
  std::array<double, 2> predicted_speed{kNaN, kNaN};
};

/// An event of the event log at one GPU.
struct EventRecord {
  Time at{0};
  LogKind kind = LogKind::kArrive;
  JobId job{};
  GpuId gpu = kNoGpu;
  JobId co_runner = kNoJob;     ///< the lowest other job there after the events of this instant
  std::uint32_t residents = 0;  ///< jobs there after the events of this instant
};

/// Means over one slice of the time from the first submission to the last end: numbers of GPUs, of waiting (`queue`)
/// and of running jobs.
struct SliceRecord {
  Time start{0};
  Time end{0};
  double gpus_busy = 0;
  double gpus_shared = 0;
  double gpu_util = kNaN;  ///< a fraction of all GPUs; NaN: not known
  double queue = 0;
  double running = 0;
};

struct RunDetails {
  std::vector<CoRunRecord> co_runs;  ///< in order of start
  std::vector<EventRecord> events;   ///< in order of time
  std::vector<SliceRecord> slices;
  std::size_t co_runs_left_out = 0;  ///< rows beyond the limit
  std::size_t events_left_out = 0;
};

}  // namespace corun::inline sim
